package compare

import (
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/summary"
)

// TestShallow holds one's own summary to any depth, and others first with no part and then with some. Counts are those
// of the keys wherever they can be.
func TestShallow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for seed := range uint64(20) {
		shared := someKeys(seed, 3000)
		var c Samples
		held := make([][]summary.Fingerprint, 5)
		prefixes := make([]*summary.Prefix, len(held))
		for i := range held {
			held[i] = append(append([]summary.Fingerprint{}, shared[:rng.IntN(1000)]...), someKeys(100*seed+uint64(i)+1, 1+rng.IntN(3000))...)
			prefixes[i] = build(held[i], uint32(i+1))
			c.Set(i, prefixes[i].Truncate(0))
		}
		own := shared
		whole := build(own, 0)
		for range 12 {
			switch rng.IntN(3) {
			case 0:
				c.SetOwn(whole.Truncate(rng.IntN(whole.Parts() + 1)))
			case 1:
				own = shared[:1+rng.IntN(len(shared))]
				whole = build(own, 0)
				c.SetOwn(whole)
			default:
				i := rng.IntN(len(held))
				c.Set(i, prefixes[i].Truncate(rng.IntN(prefixes[i].Parts()+1)))
			}
			for i := range c.others {
				o := &c.others[i]
				if !c.comparable(o.prefix) {
					continue
				}
				first, second, both := slowCounts(own, held[i], o.prefix)
				level, bits := o.sample()
				if got := c.upTo(level, bits).count(bits); got != first || int(o.nodes) != second || int(o.both) != both {
					t.Fatalf("seed %d, peer %d: counts %d, %d, %d, want %d, %d, %d", seed, i, got, o.nodes, o.both, first, second, both)
				}
			}
		}
	}
}
