package event

import (
	"github.com/venn-p2p/venn/overlay/wire"
)

// AskPeers sends an inquiry to a peer, dialling it when need be. It is answered by [PeersNamed] or [PeersSilent].
type AskPeers struct {
	To      wire.Record
	Inquiry wire.Inquiry
	Search  uint64 // that wants contacts; 0: none
}

// AnswerPeers answers a [PeersAsked].
type AnswerPeers struct {
	To      wire.PeerID
	Request uint64
	Names   wire.Names
}

// PeersAsked is an inquiry of a peer; it is answered by one [AnswerPeers] of the same Request.
type PeersAsked struct {
	From    wire.PeerID
	Request uint64
	Inquiry wire.Inquiry
}

// PeersNamed is a peer's answer to [AskPeers].
type PeersNamed struct {
	From  wire.PeerID
	Names wire.Names
}

// PeersSilent says that [AskPeers] brought no answer.
type PeersSilent struct {
	From  wire.PeerID
	Later bool // there was no room for a connection: the peer is not to blame
}

// ContactsWanted says that a search has nobody left to ask about some ranges. It is answered by
// [ContactsNamed]: at once, and with each answer that the search waits for.
type ContactsWanted struct {
	Search uint64 // names it in [AskPeers]
	Ask    int    // how many peers at most are asked for contacts
}

// ContactsNamed says that peers were asked for contacts, or that there may be more for the searches that wanted them.
type ContactsNamed struct {
	Search  uint64 // that waits
	Asked   int    // peers asked for it just now; 0: an answer came, or nobody can be asked
	Awaited int    // answers that it still waits for
}

// ContactAnswered tells how a contact answered a question about a key.
type ContactAnswered struct {
	Peer   wire.PeerID
	Depth  int  // of the range that it says it covers
	Proved bool // it named somebody who proved to hold the key
	Denied bool // it did not name somebody of its range who proved to hold the key
	Failed bool // it did not answer; nothing else is known then
}
