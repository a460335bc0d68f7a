package overlay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// crowd is an overlay that holds the same summary of so many peers in the form for long, each useful to a different degree. It has
// one byte of memory too few.
func crowd(t testing.TB, peers, keys int) *Overlay {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 9))
	o := alone(t, rng, Config{Memory: 1 << 40, Up: 1e9, Down: 1e9})
	fps := make([]summary.Fingerprint, keys)
	for i := range fps {
		fps[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	p := sign(t, "crowd", fps).stream.Prefix()
	for i := range peers {
		e := o.add(&link{}, uint64(1000+i))
		o.settle(e)
		e.peer, e.cur, e.expires, e.misses = PeerID(fmt.Sprint("peer", i)), o.compacted(p), time.Hour, i*7%peers
		o.held += e.memory()
		o.origins++
		o.setAnswer(e)
	}
	o.cfg.Memory = o.used() - 1
	return o
}

// parts is how many are held in all.
func parts(o *Overlay) int {
	n := 0
	for _, e := range o.others() {
		n += e.cur.Parts()
	}
	return n
}

// BenchmarkShed frees what is freed at once of a directory of compact summaries.
func BenchmarkShed(b *testing.B) {
	for _, keys := range []int{1_000, 9_000} {
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			drops := 0
			for b.Loop() {
				b.StopTimer()
				o := crowd(b, 300, keys)
				drops += parts(o)
				b.StartTimer()
				o.shed()
				b.StopTimer()
				drops -= parts(o)
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(drops), "µs/drop")
			b.ReportMetric(float64(drops)/float64(b.N), "drops/op")
		})
	}
}

// What is dropped is worth no more a byte than what stays, and the directory fits.
func TestShedDropsWhatIsWorthLeast(t *testing.T) {
	o := crowd(t, 60, 3000)
	full := o.entries[o.owns].cur
	lastPart := func(e *entry) float64 { return o.value(e, full, full.Parts()-1, full.Parts()) }
	o.shed()
	dropped, least, kept := 0.0, 1.0, 0
	for _, e := range o.others() {
		switch e.cur.Parts() {
		case full.Parts():
			least = min(least, lastPart(e))
			kept++
		case full.Parts() - 1:
			dropped = max(dropped, lastPart(e))
		default:
			t.Errorf("%s: %d parts of %d at once", e.peer, e.cur.Parts(), full.Parts())
		}
	}
	if dropped == 0 || kept == 0 || dropped > least {
		t.Errorf("dropped parts worth up to %g, kept %d from %g on", dropped, kept, least)
	}
	if o.used() > o.cfg.Memory {
		t.Errorf("%d bytes, of %d", o.used(), o.cfg.Memory)
	}
	checkLedger(t, o)
}
