package directory

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
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

const (
	signedMore  = 62  // bytes that the signed form adds to a header: key and signature, without the origin
	recordBytes = 132 // bytes of a signed record of two addresses
)

// filled is a settled directory that holds whole summaries of the given number of origins, each of keys keys. Unsigned,
// their envelopes are the headers, and their records the ids.
func filled(t testing.TB, origins, keys int, unsigned bool) *Directory {
	rng := rand.New(rand.NewPCG(1, 7))
	d := alone(rng, Config{Memory: 1 << 40, MaxOrigins: 1 << 20})
	if !unsigned {
		d.cfg.OpenHeader = func(b []byte) (summary.Header, error) {
			return summary.ParseHeader(b[:len(b)-signedMore])
		}
		d.cfg.OpenRecord = func(b []byte) (wire.PeerID, error) { return wire.PeerID(b[:38]), nil }
	}
	d.Open("from", "")
	for i := range origins {
		fps := plain.Keys(rng, keys)
		s := plain.Of(wire.PeerID(fmt.Sprintf("a peer whose id is 38 bytes long %05d", i)), fps)
		s.Record = append(make([]byte, 0, 38), s.Record...)
		if !unsigned {
			s.Envelope = slices.Concat(s.Envelope, make([]byte, signedMore))
			s.Record = slices.Concat(s.Record, make([]byte, recordBytes-len(s.Record)))
		}
		if _, ok := hear(d, 0, "from", s); !ok {
			t.Fatal("not taken in")
		}
		d.Changes()
	}
	d.Tidy(time.Minute)
	return d
}

// wire is the bytes of the summaries held, as they came.
func (d *Directory) wire() (bytes int) {
	for _, e := range d.Others() {
		if e != nil && e.cur != nil {
			bytes += e.cur.EncodedBytes()
		}
	}
	return bytes
}

// TestMemoryOfAnOrigin holds what an origin takes, on the heap and as counted, to what BenchmarkMemory finds.
func TestMemoryOfAnOrigin(t *testing.T) {
	for _, c := range []struct{ origins, keys, heap, counted int }{{4000, 200, 1800, 1800}, {120, 12_000, 37_800, 36_900}} {
		before := heap()
		d := filled(t, c.origins, c.keys, true)
		if each := (heap() - before) / c.origins; each > c.heap {
			t.Errorf("an origin of %d keys takes %d bytes of the heap, want %d at most", c.keys, each, c.heap)
		}
		if each := d.Memory() / c.origins; each > c.counted {
			t.Errorf("an origin of %d keys counts as %d bytes, want %d at most", c.keys, each, c.counted)
		}
		if err := d.Check(time.Minute); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkMemory is what an origin takes: as counted, and on the heap. Signed, an origin of 200 keys has what a host of
// libp2p signs. Beside the directory, overlay/exchange and overlay/tails keep some 150 bytes of each origin, and
// 20 bytes for each link that has spoken of it.
func BenchmarkMemory(b *testing.B) {
	for _, c := range []struct {
		name          string
		origins, keys int
		unsigned      bool
	}{{"200", 4000, 200, true}, {"12000", 120, 12_000, true}, {"200-signed", 4000, 200, false}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				d := filled(b, c.origins, c.keys, c.unsigned)
				after := heap()
				b.ReportMetric(float64(d.Memory())/float64(c.origins), "counted-B/origin")
				b.ReportMetric(float64(after-before)/float64(c.origins), "heap-B/origin")
				b.ReportMetric(float64(d.held)/float64(c.origins), "prefix-B/origin")
				b.ReportMetric(float64(d.index.Memory())/float64(c.origins), "index-B/origin")
				b.ReportMetric(float64(d.held+d.index.Memory())/float64(d.wire()), "of-the-wire")
				b.ReportMetric(float64(d.wire())/float64(c.origins), "wire-B/origin")
				b.ReportMetric(float64(d.samples.SizeBytes())/float64(c.origins), "overlap-B/origin")
				b.ReportMetric(float64(d.signed)/float64(c.origins), "records-B/origin")
				runtime.KeepAlive(d)
			}
		})
	}
}
