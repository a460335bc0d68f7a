package strategy

import (
	"math/rand/v2"
	"time"
)

// Host has all that a peer can see and do. A peer uses it only during [Peer.Step].
type Host interface {
	Self() ID
	Rand() *rand.Rand // randomness of this peer alone

	// Links returns the peers to which this peer has a link, ascending. The slice is valid until the next call of
	// Step and must not be changed.
	Links() []ID
	// Holds reports whether this peer holds a key. It is not counted: it is meant for the peer's own queries.
	Holds(Key) bool
	// Look reports whether this peer holds a key, for a query of another peer. It counts as a probe, and as a wasted
	// one if the answer is no.
	Look(QueryID, Key) bool

	// Send sends a message to any peer; the receiver's input is Received. To a peer without a link it takes two
	// round trips more, to connect. If the receiver is not online, or does not exist, the sender's input is Failed,
	// after some seconds.
	Send(to ID, m Message)
	// Connect opens a link to a peer, unless there is one. LinkOpened follows at both ends. If it fails, this peer's
	// input is Failed, with a message without a Body.
	Connect(to ID)
	// Disconnect closes a link. LinkClosed follows at both ends.
	Disconnect(to ID)
	// Wake asks for the input Woken at an instant. It replaces an earlier call of Wake. An instant in the past means
	// a millisecond from now.
	Wake(at time.Duration)

	// Found reports that a peer holds the key of this peer's own query. hops is the number of hops over which the
	// query learned of the holder: 1 if the asker asked it directly.
	Found(q QueryID, holder ID, hops int)
	// Covered reports the share of the network's peers that a query of this peer has asked, or whose collections it
	// knows. It is called before Done. A strategy that cannot know the share does not call it.
	Covered(q QueryID, share float64)
	// Done reports that nothing more will be found for a query of this peer.
	Done(QueryID)
}

// Message is a message from one peer to another.
type Message struct {
	// Body is of the strategy's own type; for upkeep it is a Kinded. It must not be changed once sent, because sender
	// and receiver share it.
	Body  any
	Bytes int     // bytes on the wire, with framing
	Query QueryID // query that the message is for; 0: upkeep
}

// Kinded is the Body of a message for upkeep that names its kind in published tables. The name must stay when the
// type is renamed. Messages for upkeep with other bodies have the kind "other".
type Kinded interface {
	Kind() string
}

// Overhead is the number of bytes of framing of a message on an open stream: its length, the stream's frame, and a
// share of packet headers.
const Overhead = 40
