package tails

import (
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// maxMessage is about how many bytes a message has at most.
const maxMessage = 32 << 10

// Changed says which fingerprints the node's collection gained and lost since the last Changed or Published.
type Changed struct{ Added, Removed []summary.Fingerprint }

// Leaving says that the node is about to close, which its links learn.
type Leaving struct{}

// Unreachable says that the connection with a linked peer was lost, and that another could not be made.
type Unreachable struct{ Peer wire.PeerID }

// Outdated says that what is known of a linked peer did not do in place of a question. It is to say where its tails are,
// and again soon, as long as that is needed.
type Outdated struct{ Peer wire.PeerID }

// Received is a message of a linked peer.
type Received struct {
	From   wire.PeerID
	Items  []wire.TailItem
	Waited time.Duration // in the driver's queue, behind messages of all links
	Opened bool          // the signatures that Unverified asked for were verified: what is not good now is bad
}

func (Changed) For() event.Machines     { return event.Tails | event.Core }
func (Leaving) For() event.Machines     { return event.Tails }
func (Unreachable) For() event.Machines { return event.Tails }
func (Outdated) For() event.Machines    { return event.Tails }
func (Received) For() event.Machines    { return event.Tails }

// Send sends a message to a linked peer. Bytes is its size on the wire, about.
type Send struct {
	To    wire.PeerID
	Items []wire.TailItem
	Bytes int
}

// Unverified says that Config.Verify did not know signatures of an item, ErrUnverified. The driver verifies what Verify
// was asked for, outside of the machine, and steps Received with the item again, as Opened.
type Unverified struct {
	From wire.PeerID
	Item wire.TailItem
}

// Advanced says that the tails of an origin, which may be the node itself, lead to a newer state of an epoch.
type Advanced struct {
	Origin         wire.PeerID
	Epoch          summary.Epoch
	Number         uint32 // the state
	Added, Removed int    // fingerprints since the epoch
}

// The faults that are reported.
const (
	FaultTail event.Fault = "tail"       // malformed, or of its origin and not signed for that epoch
	FaultLong event.Fault = "tail chain" // more changes than the tails of an epoch may carry
)
