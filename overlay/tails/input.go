package tails

import (
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Changed carries the fingerprints that the node's collection gained and lost since the last Changed or Published.
type Changed struct{ Added, Removed []summary.Fingerprint }

// Leaving means that the node is about to close. The machine informs its links.
type Leaving struct{}

// Outdated means that the knowledge of a linked peer was too old to replace a question. The peer is asked for the state
// of its tails. It then repeats the state after short pauses, which double.
type Outdated struct{ Peer wire.PeerID }

// Received is a message of a linked peer.
type Received struct {
	From   wire.PeerID
	Items  []wire.TailItem
	Waited time.Duration // time that it waited in the driver's queue, behind messages of all links
	Opened bool          // the driver has verified the signatures: one that Verify still does not know is bad
}

func (Changed) For() event.Machines  { return event.Tails | event.Core }
func (Leaving) For() event.Machines  { return event.Tails }
func (Outdated) For() event.Machines { return event.Tails }
func (Received) For() event.Machines { return event.Tails }

// Send sends a message to a linked peer.
type Send struct {
	To    wire.PeerID
	Items []wire.TailItem
}

// Unverified means that Config.Verify returned ErrUnverified for signatures of an item. The driver verifies what Verify
// was called with, outside of the machine, and steps Received with the item again, as Opened.
type Unverified struct {
	From wire.PeerID
	Item wire.TailItem
}

// Advanced means that the tails of an origin, which may be the node itself, lead to a newer state of an epoch.
type Advanced struct {
	Origin         wire.PeerID
	Epoch          summary.Epoch
	Number         uint32 // number of the state
	Added, Removed int    // numbers of fingerprints, since the epoch
}

// The faults that are reported.
const (
	FaultTail event.Fault = "tail"       // a tail is malformed, or sent by its origin without its signature
	FaultLong event.Fault = "tail chain" // its origin sent more changes, or more tails, than an epoch may have
)
