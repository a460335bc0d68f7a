package tails

import (
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// maxMessage is about how many bytes a message has at most.
const maxMessage = 32 << 10

// Input is something that happened. The set is sealed: the types of this file.
type Input interface{ input() }

// Published says that a new epoch of the node's own has been published.
type Published struct{ Header summary.Header }

// Changed says which fingerprints the node's collection gained and lost since the last Changed or Published.
type Changed struct{ Added, Removed []summary.Fingerprint }

// Learned says that a newer epoch answers for an origin, or the same one better.
type Learned struct{ Origin wire.PeerID }

// LinkOpened says that a linked peer has said hello and understands tails.
type LinkOpened struct{ Peer wire.PeerID }

// LinkClosed says that the last connection to a peer is gone.
type LinkClosed struct{ Peer wire.PeerID }

// Lost says that a message to a linked peer was dropped on the way.
type Lost struct{ Peer wire.PeerID }

// Leaving says that the node is about to close, which its links learn.
type Leaving struct{}

// Unreachable says that the connection with a linked peer was lost, and that another could not be made.
type Unreachable struct{ Peer wire.PeerID }

// Received is a message of a linked peer.
type Received struct {
	From   wire.PeerID
	Items  []wire.TailItem
	Waited time.Duration // in the driver's queue, behind messages of all links
}

// Tick lets time pass: it answers a [Wake].
type Tick struct{}

func (Published) input()   {}
func (Changed) input()     {}
func (Learned) input()     {}
func (LinkOpened) input()  {}
func (LinkClosed) input()  {}
func (Lost) input()        {}
func (Leaving) input()     {}
func (Unreachable) input() {}
func (Received) input()    {}
func (Tick) input()        {}

// Effect is something that the driver must do. The set is sealed: [Send], [Advanced], [Report], [Doubt], [Wake].
type Effect interface{ effect() }

// Send sends a message to a linked peer. Bytes is its size on the wire, about.
type Send struct {
	To    wire.PeerID
	Items []wire.TailItem
	Bytes int
}

// Advanced says that the tails of an origin, which may be the node itself, lead to a newer state of an epoch.
type Advanced struct {
	Origin         wire.PeerID
	Epoch          summary.Epoch
	Number         uint32 // the state
	Added, Removed int    // fingerprints since the epoch
}

// Report is a peer's misbehaviour.
type Report struct {
	Peer  wire.PeerID
	Fault event.Fault
}

// Doubt says that a linked peer could not reach another: nobody knows whether that is gone, or the word is a lie.
type Doubt struct{ Peer wire.PeerID }

// Wake asks for a [Tick] at a time, replacing any earlier Wake.
type Wake struct{ At time.Duration }

func (Send) effect()     {}
func (Advanced) effect() {}
func (Report) effect()   {}
func (Doubt) effect()    {}
func (Wake) effect()     {}

// The faults that are reported.
const (
	FaultTail event.Fault = "tail"       // not signed by its origin for that epoch, or malformed
	FaultLong event.Fault = "tail chain" // more changes than the tails of an epoch may carry
)
