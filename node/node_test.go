package node

import (
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestTwoNodesFindEachOthersKeys(t *testing.T) {
	a, b := newNode(t), newNode(t)
	add(t, a, keysOf("a", 1000)...)
	add(t, b, keysOf("b", 2000)...)
	connect(t, a, b)
	eventually(t, "both know the other's summary", func() bool { return knows(a, b) && knows(b, a) })
	if got := find(t, a, []byte("b/17"), QueryOptions{}); !slices.Equal(got, []peer.ID{b.ID()}) {
		t.Errorf("a found %v", got)
	}
	if got := find(t, b, []byte("a/999"), QueryOptions{All: true}); !slices.Equal(got, []peer.ID{a.ID()}) {
		t.Errorf("b found %v", got)
	}
	if got := find(t, b, []byte("nobody's"), QueryOptions{}); got != nil {
		t.Errorf("found nobody's key with %v", got)
	}
}
