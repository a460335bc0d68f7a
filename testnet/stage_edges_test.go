package testnet

import (
	"fmt"
	"testing"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
)

// TestEdgesOfASmallWorld: the share of links that a scenario wants to go anywhere counts on real hosts, too.
func TestEdgesOfASmallWorld(t *testing.T) {
	const peers, degree = 200, 4
	for _, rewire := range []float64{0.1, 0.9} {
		s, err := scenario.Parse("world.toml", fmt.Sprintf("question=\"?\"\npeers=%d\n[collections]\nkeys=4\n[links]\nkind=\"small-world\"\ndegree=%d\nrewire=%v\n", peers, degree, rewire))
		if err != nil {
			t.Fatal(err)
		}
		edges, far := newStage(Config{}, must(s.Plan(0))).edges(&flooding.Strategy), 0
		for _, e := range edges {
			if apart := int(e[1]-e[0]+peers) % peers; min(apart, peers-apart) > degree/2 {
				far++
			}
		}
		if share := float64(far) / float64(len(edges)); share < rewire-0.1 || share > rewire+0.1 {
			t.Errorf("rewire %v: %.2f of %d links go anywhere", rewire, share, len(edges))
		}
	}
}
