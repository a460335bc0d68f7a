package node

import (
	"math"
	"testing"

	"github.com/venn-p2p/venn/routing"
)

// TestNoTimeLimit: the longest time limit that there is ends no query at once.
func TestNoTimeLimit(t *testing.T) {
	n := newNode(t)
	r, err := n.Query(t.Context(), []byte("k"), QueryOptions{Timeout: math.MaxInt64})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := r.Stats(); err != nil || s.End != routing.Exhausted.String() {
		t.Errorf("%+v, %v", s, err)
	}
}
