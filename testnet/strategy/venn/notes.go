package venn

import (
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Watched is a peer that shows its knowledge and its acts, such as a peer of [Strategy]. To be used between steps only.
type Watched interface {
	strategy.Peer
	// Overlay returns the peer's overlay, for reading; nil before the peer's first step.
	Overlay() *overlay.Overlay
	// Notes returns the notes taken since the last call, in the order of time; none unless the run takes notes, see
	// World.
	Notes() []Note
}

// Note is an input or an effect of a peer's machine: an event.Published, an event.Learned, or for its own queries a
// routing.Start, routing.Found or routing.Done.
type Note struct {
	At   time.Duration
	What any
}

// IDOf returns the peer with this name in the overlays of others.
func IDOf(p wire.PeerID) strategy.ID { return idOf(p) }

// note keeps an input or an effect as a note, if the run takes notes.
func (v *node) note(now time.Duration, what any) {
	if v.run.world.Notes {
		v.notes = append(v.notes, Note{now, what})
	}
}

// Overlay implements Watched.
func (v *node) Overlay() *overlay.Overlay {
	if v.machine == nil {
		return nil
	}
	return v.machine.Overlay
}

// DirectoryBytes implements [strategy.Measured].
func (v *node) DirectoryBytes() int {
	if v.machine == nil {
		return 0
	}
	return v.machine.Overlay.DirectoryBytes()
}

// Covers implements [strategy.Measured]: the range that this peer vouches for.
func (v *node) Covers() float64 {
	if v.machine == nil {
		return 0
	}
	return v.machine.Overlay.Covers().Share()
}

// Notes implements Watched.
func (v *node) Notes() []Note {
	taken := v.notes
	v.notes = nil
	return taken
}
