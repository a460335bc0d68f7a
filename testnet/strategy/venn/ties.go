package venn

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// tie is the state of a link to another peer, or of a link that is wanted.
type tie struct {
	keeps   bool          // the other peer is a neighbour
	mesh    bool          // the link is in pubsub's mesh
	made    bool          // this peer asked for the link
	closing bool          // this peer has closed the link
	taken   bool          // the other peer asked for the link
	turned  bool          // the other peer asked for the link, but it gets no place: the core does not know the link
	since   time.Duration // when the other peer opened the link
	used    time.Duration // when a stream was last opened on the link
}

// ties has a peer's ties by the other peer. No tie has all flags clear.
type ties map[strategy.ID]tie

// change changes the tie to a peer. It removes a tie that has all flags clear.
func (t ties) change(p strategy.ID, do func(*tie)) {
	x := t[p]
	do(&x)
	if x.keeps || x.mesh || x.made || x.closing || x.taken || x.turned {
		t[p] = x
	} else {
		delete(t, p)
	}
}

// use notes that a stream is opened on a link.
func (t ties) use(p strategy.ID, now time.Duration) {
	if x, there := t[p]; there {
		x.used = now
		t[p] = x
	}
}

// meshed returns the number of links in the mesh.
func (t ties) meshed() (n int) {
	for _, x := range t {
		if x.mesh {
			n++
		}
	}
	return n
}
