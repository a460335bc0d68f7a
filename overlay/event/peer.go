// Package event is the vocabulary of package overlay's machines: their inputs, their effects, and the values that both
// carry. It has no behaviour of its own. Drivers use the names that package overlay has for all of these.
package event

import "github.com/venn-p2p/venn/overlay/group"

// PeerID names a peer. The bytes are the driver's; here they are only compared.
type PeerID string

// Record is a peer with its certified addresses: a record signed by the peer itself, opaque here. Only addresses from
// such a record are ever dialled.
type Record struct {
	Peer     PeerID
	Envelope []byte
}

// Transport is how parts of a summary travelled.
type Transport uint8

const (
	// Pubsub is a partial message of the mesh.
	Pubsub Transport = iota
	// Direct is a stream of their own, opened by the receiver.
	Direct
	// Message is an ordinary pubsub message that the origin published of itself, unasked: one part, the first.
	Message
)

// Hello is what the two ends of a link tell each other: at its start, and again when something changed.
type Hello struct {
	Up, Down     uint64   // declared rates of the sender's line, bit/s; 0: not declared
	Measured     uint64   // rate at which trains of the receiver's messages came in, bit/s; 0: not measured
	FalseMatches float64  // expected false matches of the sender's directory (see Overlay.FalseMatches of package overlay)
	Origins      int      // peers with at least a sample held by the sender
	Neighbour    bool     // the sender counts the receiver among its neighbours
	Full         bool     // the sender takes no further neighbours
	Tails        bool     // the sender understands tails (package tails), on streams of their own
	Again        bool     // it had no room for some of its range, and has now: tell it all again
	Parted       bool     // the sender has ended the link, for want of room; the rest does not count
	Session      uint64   // differs after a restart of the sender
	Depth        int      // of the range around the sender's place that it wants to hear of; 0: everybody
	Network      int      // origins in the whole network, as the sender estimates; 0: it does not say
	Seed         uint32   // number of the seed of its summaries
	Records      []Record // some peers that the sender knows, at most [MaxHelloRecords]
}

// MaxHelloRecords is the most records that a hello carries.
const MaxHelloRecords = 16

// Item is one line of a catalogue. Have is how many parts of an epoch the sender holds. Want is the part up to which it
// asks the receiver to send (0: it asks for nothing). Bases are the earlier epochs that it holds too, from which it can
// make deltas. If it asks, they are those with at least Want parts, so that a delta may answer.
type Item struct {
	Group      group.ID
	Have, Want uint16
	Bases      Bases
}

// MaxBases is the largest value of [Bases]: it looks back over seven epochs.
const MaxBases Bases = 1<<7 - 1

// Bases says which earlier epochs of an origin somebody holds: bit i stands for the epoch i+1 sequence numbers before.
type Bases uint8
