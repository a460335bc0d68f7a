package strategy

import (
	"math/rand/v2"
	"time"
)

// Host is the surroundings of a peer: what it can see and do. It is used during [Peer.Step] only.
type Host interface {
	Self() ID
	Rand() *rand.Rand // this peer's own source

	// Links are the peers with an open connection, ascending. The slice is valid until the next call of Step and must
	// not be changed.
	Links() []ID
	// Holds reports whether this peer holds a key. It costs nothing: for one's own queries.
	Holds(Key) bool
	// Look reports whether this peer holds a key, for a query of another: a probe, and a wasted one if the answer is
	// no.
	Look(QueryID, Key) bool

	// Send sends a message to any peer. To one without a link it takes two round trips more, to connect. It arrives by
	// Received. If the peer isn't online, or does not exist, the sender learns so by Failed, after a while.
	Send(to ID, m Message)
	// Connect opens a link to a peer, unless there is one: LinkOpened follows at both ends, or Failed here, of a
	// message without a Body.
	Connect(to ID)
	// Disconnect closes a link: LinkClosed follows, at both ends.
	Disconnect(to ID)
	// Wake asks for Woken at an instant, in place of any earlier one. One that is past stands for a millisecond from
	// now.
	Wake(at time.Duration)

	// Found reports that a peer holds the key of one's own query. hops is the number of hops over which the query
	// learned of it: 1 for a peer that was asked directly.
	Found(q QueryID, holder ID, hops int)
	// Covered reports the share of the network's peers that one's own query has asked, or whose collections it knows.
	// It comes before Done. A strategy in which nobody can tell does not call it.
	Covered(q QueryID, share float64)
	// Done reports that nothing more will be found for one's own query.
	Done(QueryID)
}

// Message is a message from one peer to another.
type Message struct {
	Body  any     // the strategy's own, for upkeep a Named; not to be changed once sent, for sender and receiver share it
	Bytes int     // on the wire, with framing
	Query QueryID // that it is for; 0: upkeep
}

// Named is a Body of a message for upkeep that names its kind in published tables. A name outlives the type that
// returns it. Messages for upkeep with other bodies are of the kind "other".
type Named interface {
	Kind() string
}

// Overhead is the framing of a message on a stream that is open: length, stream frame, packet headers in part.
const Overhead = 40
