package venn

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// tie is the state of a link to another peer, or of one that is wanted.
type tie struct {
	peer    strategy.ID
	keeps   bool          // it is a neighbour
	mesh    bool          // the link is in pubsub's mesh
	made    bool          // this peer asked for the link
	closing bool          // this peer has closed the link
	taken   bool          // the other asked for the link
	turned  bool          // the other asked for the link, and there is no place for it: the core knows nothing of it
	since   time.Duration // when a link taken began
	used    time.Duration // when a stream was last opened on a link
}

// ties are a peer's, ascending by the other peer. None has all flags clear.
type ties []tie

func (t ties) find(p strategy.ID) (at int, there bool) {
	return slices.BinarySearchFunc(t, p, func(t tie, p strategy.ID) int { return cmp.Compare(t.peer, p) })
}

// of returns the tie to a peer; if there is none, one with all flags clear.
func (t ties) of(p strategy.ID) tie {
	if at, there := t.find(p); there {
		return t[at]
	}
	return tie{peer: p}
}

// change changes the tie to a peer. It removes a tie that has all flags clear.
func (t *ties) change(p strategy.ID, do func(*tie)) {
	at, there := t.find(p)
	if !there {
		*t = slices.Insert(*t, at, tie{peer: p})
	}
	do(&(*t)[at])
	if x := (*t)[at]; !x.keeps && !x.mesh && !x.made && !x.closing && !x.taken && !x.turned {
		*t = slices.Delete(*t, at, at+1)
	}
}

// use notes that a stream is opened on a link.
func (t ties) use(p strategy.ID, now time.Duration) {
	if at, there := t.find(p); there {
		t[at].used = now
	}
}

// meshed returns the number of links in the mesh.
func (t ties) meshed() int {
	n := 0
	for i := range t {
		if t[i].mesh {
			n++
		}
	}
	return n
}
