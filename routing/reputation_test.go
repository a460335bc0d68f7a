package routing

import (
	"fmt"
	"testing"

	"github.com/venn-p2p/venn/overlay"
)

// TestLightestReputationGoes: when more peers are known than are remembered, the record that says least goes. Right
// names and wrong ones weigh the same, and the record noted last stays.
func TestLightestReputationGoes(t *testing.T) {
	var rs reputations
	rs.note(0, "wrong often", 1, 5)
	rs.note(0, "right often", 5, 1)
	rs.note(0, "right once", 1, 0)
	for i := range maxReputations - 3 {
		rs.note(0, overlay.PeerID(fmt.Sprint("known ", i)), 2, 1)
	}
	rs.note(0, "last", 0.5, 0)
	if _, there := rs["right once"]; there || len(rs) != maxReputations {
		t.Errorf("%d records, the lightest of them kept %v", len(rs), there)
	}
	for _, p := range []overlay.PeerID{"wrong often", "right often", "last"} {
		if _, there := rs[p]; !there {
			t.Errorf("the record of %q is gone", p)
		}
	}
}
