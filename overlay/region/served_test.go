package region

import (
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestServes: peers that ask without end leave nine tenths to one that asks once a second, and get the rest.
func TestServes(t *testing.T) {
	for _, greedy := range []int{1, 2, 7, 15} {
		s := New(Config{}, nil, nil)
		all, honest := 0, 0
		for tick := range 60 * 17 {
			s.At(time.Duration(tick) * time.Second / 17)
			for i := range greedy {
				if s.Serves(event.Asked{From: wire.PeerID(fmt.Sprint("greedy", i))}) {
					all++
				}
			}
			if tick%17 == 0 && s.Serves(event.Asked{From: "honest"}) {
				all++
				honest++
			}
		}
		if honest < 54 || all < 60*maxServed*3/4 || all > 62*maxServed {
			t.Errorf("%d greedy: %d are served in a minute, of them the honest one's %d of 60", greedy, all, honest)
		}
	}
}
