package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

// TestCover: of three peers the second best in number is not chosen, because it holds what the best one has. Nor is one
// that holds nothing of what it claims.
func TestCover(t *testing.T) {
	t.Parallel()
	seeker, most, same, rest, boaster := newNode(t), newNode(t), newNode(t), newNode(t), newNode(t, WithKeys(&boast{}))
	keys := keysOf("k", 100)
	add(t, most, keys[:70]...)
	add(t, same, keys[10:70]...)
	add(t, rest, keys[60:90]...)
	add(t, boaster, keys...)
	for _, n := range []*Node{most, same, rest, boaster} {
		connect(t, seeker, n)
		eventually(t, "the seeker knows all", func() bool { return knows(seeker, n) })
	}
	var got []peer.ID
	var counts []int
	for part, err := range seeker.Cover(t.Context(), keys, 3) {
		if err != nil {
			t.Fatal(err)
		}
		if len(part.Provider.Addrs) == 0 {
			t.Errorf("%v has no addresses", part.Provider.ID)
		}
		got, counts = append(got, part.Provider.ID), append(counts, len(part.Keys))
	}
	if !slices.Equal(got, []peer.ID{most.ID(), rest.ID()}) || !slices.Equal(counts, []int{70, 20}) {
		t.Errorf("%v with %v keys, want %v and %v with 70 and 20", got, counts, most.ID(), rest.ID())
	}
	all := 0
	for part, err := range seeker.Cover(t.Context(), keys, math.MaxInt) {
		if err != nil {
			t.Fatal(err)
		}
		all += len(part.Keys)
	}
	if all != 90 {
		t.Errorf("as many peers as there are cover %d keys, want 90", all)
	}
	for part, err := range seeker.Cover(t.Context(), keys, 1) {
		if err != nil || part.Provider.ID != most.ID() {
			t.Errorf("one peer: %v, %v", part, err)
		}
	}
}

func TestBadCovers(t *testing.T) {
	n := newNode(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		keys [][]byte
		want error
	}{
		{"an empty key", t.Context(), [][]byte{[]byte("k"), nil}, ErrKey},
		{"too many keys", t.Context(), make([][]byte, MaxCoverKeys+1), ErrKey},
		{"a context that is over", ended, keysOf("k", 10), context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			for part, err := range n.Cover(c.ctx, c.keys, 3) {
				if !errors.Is(err, c.want) {
					t.Errorf("%v, %v, want %v", part, err, c.want)
				}
				return
			}
			t.Error("no error")
		})
	}
	for part, err := range n.Cover(t.Context(), keysOf("k", 200), 3) {
		t.Error(fmt.Sprint("somebody, where nobody is: ", part, err))
	}
	_ = n.Close()
	for _, err := range n.Cover(t.Context(), keysOf("k", 1), 3) {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%v, want %v", err, ErrClosed)
		}
	}
}
