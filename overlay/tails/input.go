package tails

import (
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/summary"
)

// Item is one line of a message: what the sender holds of an origin's tails, and tails that the receiver lacks. Without
// tails it also says from whom the sender gets those of the origin: Direct, Fed, Wants, or neither.
type Item struct {
	Group  group.ID
	Short  bool     // Group is only what [Abbreviate] leaves of it
	Number uint32   // the state that the sender holds
	Gap    bool     // the sender cannot use tails that start later than state 0
	Direct bool     // the sender is linked with the origin
	Fed    bool     // another peer feeds the sender
	Wants  bool     // the receiver is to feed the sender: to send it each tail after state Number
	Left   bool     // in an item of the sender's own: it is leaving. In another's: the sender cannot reach the origin
	Hides  bool     // in an item of the sender's own: it holds keys that no summary shows
	Tails  [][]byte // signed, in order
}

const (
	// MaxItems is the most items of a message, MaxItemTails the most tails of an item.
	MaxItems     = 256
	MaxItemTails = 32
	// maxMessage is about how many bytes a message has at most.
	maxMessage = 32 << 10
)

// Input is something that happened. The set is sealed: the types of this file.
type Input interface{ input() }

// Published says that a new epoch of the node's own has been published.
type Published struct{ Header summary.Header }

// Changed says which fingerprints the node's collection gained and lost since the last Changed or Published.
type Changed struct{ Added, Removed []summary.Fingerprint }

// Learned says that a newer epoch answers for an origin, or the same one better.
type Learned struct{ Origin overlay.PeerID }

// LinkOpened says that a linked peer has said hello and understands tails.
type LinkOpened struct{ Peer overlay.PeerID }

// LinkClosed says that the last connection to a peer is gone.
type LinkClosed struct{ Peer overlay.PeerID }

// Lost says that a message to a linked peer was dropped on the way.
type Lost struct{ Peer overlay.PeerID }

// Leaving says that the node is about to close, which its links learn.
type Leaving struct{}

// Unreachable says that the connection with a linked peer was lost, and that another could not be made.
type Unreachable struct{ Peer overlay.PeerID }

// Received is a message of a linked peer.
type Received struct {
	From   overlay.PeerID
	Items  []Item
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
	To    overlay.PeerID
	Items []Item
	Bytes int
}

// Advanced says that the tails of an origin, which may be the node itself, lead to a newer state of an epoch.
type Advanced struct {
	Origin         overlay.PeerID
	Epoch          summary.Epoch
	Number         uint32 // the state
	Added, Removed int    // fingerprints since the epoch
}

// Report is a peer's misbehaviour.
type Report struct {
	Peer  overlay.PeerID
	Fault overlay.Fault
}

// Doubt says that a linked peer could not reach another: nobody knows whether that is gone, or the word is a lie.
type Doubt struct{ Peer overlay.PeerID }

// Wake asks for a [Tick] at a time, replacing any earlier Wake.
type Wake struct{ At time.Duration }

func (Send) effect()     {}
func (Advanced) effect() {}
func (Report) effect()   {}
func (Doubt) effect()    {}
func (Wake) effect()     {}

// The faults that are reported.
const (
	FaultTail overlay.Fault = "tail"       // not signed by its origin for that epoch, or malformed
	FaultLong overlay.Fault = "tail chain" // more changes than the tails of an epoch may carry
)
