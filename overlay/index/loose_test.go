package index

import (
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/summary"
)

// A peer without a column may get a longer prefix, whose later parts know their part of hash space less finely than the
// layout says. It belongs to another layout then, and must not be written into a column of the old one.
func TestLooseOnesGrow(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var x Index
		n := 300 + rng.IntN(4000)
		shape := shapeOf(rng, n)
		if seed%2 == 0 {
			shape = summary.DefaultShape(n)
		}
		full := build(t, plain.Keys(rng, n), shape)
		for i := range 12 {
			x.Set(i, full.Truncate(1+rng.IntN(full.Parts())))
		}
		for range 40 {
			i := rng.IntN(12)
			if p := x.Prefix(i); p.Parts() < full.Parts() {
				x.Set(i, full.Truncate(p.Parts()+1+rng.IntN(full.Parts()-p.Parts())))
			}
		}
		for i := 12; i < 64; i++ { // now there are stripes
			x.Set(i, full.Truncate(1+rng.IntN(full.Parts())))
		}
		x.verify(t)
		for _, f := range plain.Keys(rng, 20) {
			x.Candidates(nil, f)
		}
	}
}
