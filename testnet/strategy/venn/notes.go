package venn

import (
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Watched is a peer that shows what it holds and what it did; those of [Venn] are. Between steps only.
type Watched interface {
	strategy.Peer
	// Overlay is the peer's, to be read; nil before its first step.
	Overlay() *overlay.Overlay
	// Learned are the bytes of summaries learned in this session; zero unless the run takes notes, see World.
	Learned() LearnedBytes
	// Notes are those taken since the last call; none unless the run takes notes.
	Notes() Notes
}

// LearnedBytes are bytes of others' summaries, by the way on which they came.
type LearnedBytes struct{ Pubsub, Direct, Delta int }

// Notes are what a peer did, in the order of time.
type Notes struct {
	Published []Published
	Learned   []Learned
	Queries   []Ended
}

// Published says that the peer published a summary.
type Published struct {
	At     time.Duration
	Header summary.Header
	Parts  int
	Bytes  int // of all parts
}

// Learned says that the peer got the first part of an epoch of another, newer than those that it had.
type Learned struct {
	At       time.Duration
	Of       strategy.ID
	Sequence uint32
}

// Ended is a query of the peer's own that has ended.
type Ended struct {
	At    time.Duration
	Query strategy.Query
	Found []strategy.ID
	Done  routing.Done
}

// IDOf is the peer with that name in another's overlay.
func IDOf(p wire.PeerID) strategy.ID { return idOf(p) }

// notes are what a peer notes; nil notes nothing.
type notes struct {
	bytes  LearnedBytes
	taken  Notes
	latest map[strategy.ID]uint32    // sequence numbers of others' epochs
	asked  map[routing.QueryID]Ended // own queries under way
}

func newNotes(wanted bool) *notes {
	if !wanted {
		return nil
	}
	return &notes{latest: map[strategy.ID]uint32{}, asked: map[routing.QueryID]Ended{}}
}

func (n *notes) published(now time.Duration, s *summary.Prefix) {
	if n == nil {
		return
	}
	whole := s
	n.taken.Published = append(n.taken.Published, Published{now, s.Header(), whole.Parts(), whole.EncodedBytes()})
}

func (n *notes) learned(now time.Duration, e event.Learned) {
	if n == nil {
		return
	}
	switch {
	case e.Delta > 0:
		n.bytes.Delta += e.Delta
	case e.Transport == event.Direct:
		n.bytes.Direct += e.Bytes
	default:
		n.bytes.Pubsub += e.Bytes
	}
	if of := idOf(e.Origin); e.Epoch.Sequence > n.latest[of] {
		n.latest[of] = e.Epoch.Sequence
		n.taken.Learned = append(n.taken.Learned, Learned{now, of, e.Epoch.Sequence})
	}
}

func (n *notes) began(id routing.QueryID, q strategy.Query) {
	if n != nil {
		n.asked[id] = Ended{Query: q}
	}
}

func (n *notes) found(id routing.QueryID, p strategy.ID) {
	if n == nil {
		return
	}
	if e, own := n.asked[id]; own {
		e.Found = append(e.Found, p)
		n.asked[id] = e
	}
}

func (n *notes) ended(now time.Duration, d routing.Done) {
	if n == nil {
		return
	}
	if e, own := n.asked[d.ID]; own {
		e.At, e.Done = now, d
		n.taken.Queries = append(n.taken.Queries, e)
		delete(n.asked, d.ID)
	}
}

// Overlay is for Watched.
func (v *node) Overlay() *overlay.Overlay {
	if v.machine == nil {
		return nil
	}
	return v.machine.Overlay
}

// DirectoryBytes is for [strategy.Measured].
func (v *node) DirectoryBytes() int {
	if v.machine == nil {
		return 0
	}
	return v.machine.Overlay.DirectoryBytes()
}

// Covers is for [strategy.Measured]: the range that this peer vouches for.
func (v *node) Covers() float64 {
	if v.machine == nil {
		return 0
	}
	return v.machine.Overlay.Covers().Share()
}

// Learned is for Watched.
func (v *node) Learned() LearnedBytes {
	if v.notes == nil {
		return LearnedBytes{}
	}
	return v.notes.bytes
}

// Notes is for Watched.
func (v *node) Notes() Notes {
	if v.notes == nil {
		return Notes{}
	}
	taken := v.notes.taken
	v.notes.taken = Notes{}
	return taken
}
