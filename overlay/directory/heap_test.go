package directory

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/summary"
)

// heap is the bytes in use after a collection.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// filled is a settled directory that holds whole summaries of the given number of origins, each of keys keys.
func filled(t testing.TB, origins, keys int) *Directory {
	rng := rand.New(rand.NewPCG(1, 7))
	d := alone(rng, Config{Memory: 1 << 40, MaxOrigins: 1 << 20})
	d.Open("from")
	for i := range origins {
		fps := make([]summary.Fingerprint, keys)
		for k := range fps {
			fps[k] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
		}
		s := sign(t, event.PeerID(fmt.Sprintf("a peer whose id is 38 bytes long %05d", i)), fps)
		s.record = append(make([]byte, 0, 38), s.record...)
		if _, ok := hear(d, 0, "from", s); !ok {
			t.Fatal("not taken in")
		}
		d.Changes()
	}
	d.Tidy(time.Minute)
	return d
}

// TestMemoryOfAnOrigin holds what an origin takes, as counted, to what BenchmarkMemory finds on the heap.
func TestMemoryOfAnOrigin(t *testing.T) {
	if size := unsafe.Sizeof(Entry{}); size > 192 {
		t.Errorf("an entry takes %d bytes, want 192 at most", size)
	}
	for _, c := range []struct{ origins, keys, most int }{{1000, 200, 1450}, {120, 12_000, 37_500}} {
		d := filled(t, c.origins, c.keys)
		if each := d.Memory() / c.origins; each > c.most {
			t.Errorf("an origin of %d keys takes %d bytes, want %d at most", c.keys, each, c.most)
		}
		if err := d.Check(time.Minute); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkMemory is what an origin takes: as counted, and on the heap.
func BenchmarkMemory(b *testing.B) {
	for _, c := range []struct{ origins, keys int }{{4000, 200}, {120, 12_000}} {
		b.Run(fmt.Sprint(c.keys), func(b *testing.B) {
			for b.Loop() {
				before := heap()
				d := filled(b, c.origins, c.keys)
				after := heap()
				b.ReportMetric(float64(d.Memory())/float64(c.origins), "counted-B/origin")
				b.ReportMetric(float64(after-before)/float64(c.origins), "heap-B/origin")
				b.ReportMetric(float64(d.held)/float64(c.origins), "prefix-B/origin")
				b.ReportMetric(float64(d.index.Memory())/float64(c.origins), "index-B/origin")
				b.ReportMetric(float64(d.overlap.SizeBytes())/float64(c.origins), "overlap-B/origin")
				b.ReportMetric(float64(d.records)/float64(c.origins), "records-B/origin")
				runtime.KeepAlive(d)
			}
		})
	}
}
