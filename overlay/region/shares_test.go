package region

import (
	"fmt"
	"testing"

	"github.com/venn-p2p/venn/overlay/wire"
)

// Peers that ask without end leave room for one that asks once a second, as long as they are fewer than what is served.
func TestShares(t *testing.T) {
	for _, greedy := range []int{1, 2, 7, 15} {
		var s shares
		served := 0
		for second := range 60 {
			s.next()
			all := 0
			for i := range 17 * greedy {
				if s.take(wire.PeerID(fmt.Sprint("greedy", i%greedy))) {
					all++
				}
			}
			if s.take("honest") {
				served++
				all++
			}
			if all > maxServed || second > 0 && all < maxServed/3 {
				t.Fatalf("%d greedy: %d are served in a second", greedy, all)
			}
		}
		if served < 59 {
			t.Errorf("%d greedy: the honest one is served %d of 60 times", greedy, served)
		}
	}
	var s shares
	for i := range 1000 {
		s.take(wire.PeerID(fmt.Sprint(i)))
	}
	if len(s.took) > maxServed || s.served != maxServed {
		t.Errorf("%d are remembered, %d served", len(s.took), s.served)
	}
}
