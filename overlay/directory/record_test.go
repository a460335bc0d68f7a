package directory

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/overlay/wire"
)

// counted counts the numbers drawn.
type counted struct {
	rand.Source
	numbers int
}

func (c *counted) Uint64() uint64 {
	c.numbers++
	return c.Source.Uint64()
}

// TestDrawn: each record is drawn once, and a few of many thousand cost no more than a few of a hundred.
func TestDrawn(t *testing.T) {
	for _, links := range []int{1, 100} {
		source := &counted{Source: rand.NewPCG(1, 6)}
		d := alone(rand.New(source), Config{Memory: 64 << 20, MaxOrigins: 1 << 17})
		for i := range links {
			from := wire.PeerID(fmt.Sprint("link", i))
			d.Open(from, "")
			for k := range maxNamedLink {
				d.LearnRecord(0, from, record(wire.PeerID(fmt.Sprint("peer", i, ".", k))))
			}
		}
		source.numbers = 0
		drawn := make(map[wire.PeerID]bool)
		for r := range d.Drawn {
			if drawn[r.Peer] {
				t.Errorf("%s is drawn twice", r.Peer)
			}
			if drawn[r.Peer] = true; len(drawn) == 16 {
				break
			}
		}
		if len(drawn) != 16 || source.numbers > 64 {
			t.Errorf("%d of %d drawn by %d numbers", len(drawn), d.Pending(), source.numbers)
		}
		all := 0
		for range d.Drawn {
			all++
		}
		if links == 1 && all != d.Pending() {
			t.Errorf("%d of %d drawn", all, d.Pending())
		}
	}
}
