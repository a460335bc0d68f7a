package event

import (
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/summary"
)

// Inquiry asks a peer to name others: some near the asker, some of ranges in which the asker knows nobody, and those
// most like it.
type Inquiry struct {
	Depth  int            // of the asker's own range
	Near   bool           // it looks for peers of its own range
	Nearer bool           // and only for those nearer to it than the sixteen nearest in Known
	Meet   space.Place    // the meeting place that it looks up; 0: none
	Lacks  []byte         // a bit for each range of that depth, the first range highest; set: no contact there. Nil: none lacks
	Least  uint16         // the least overlap that is of interest, in units of 1/65535 of the asker's collection
	Known  []KnownOrigin  // the similar ones that it keeps, and those near it, by place; at most [MaxKnown]
	Own    []Introduction // its own summary, at most one; none if the peer has it
}

// KnownOrigin names an origin that an asker knows: the first bits of its place, and the last of the sequence number of
// its epoch.
type KnownOrigin struct {
	Place    uint32
	Sequence uint16
}

// Introduction is the summary of a peer that another passes on unasked: its first parts, with the signed header and
// record.
type Introduction struct {
	Envelope, Record []byte
	Run              summary.Run
}

// Names answers an [Inquiry].
type Names struct {
	Depth   int            // of the range around the answerer for which it can vouch
	Peers   []Named        // near the asker, or of ranges that it lacks; at most [MaxNamed]
	Similar []Introduction // the most like the asker first; at most [MaxSimilar]
}

// Named is a peer that can be asked about its range.
type Named struct {
	Record Record
	Depth  int // of its range, as far as known
}

const (
	// MaxKnown is the most origins in the Known of an [Inquiry].
	MaxKnown = 96
	// MaxNamed is the most peers in the Peers of a [Names], MaxSimilar the most summaries in its Similar.
	MaxNamed   = 16
	MaxSimilar = 8
	// MaxLacks is the most bytes in the Lacks of an [Inquiry].
	MaxLacks = 1 << space.MaxBits / 8
)

// AskPeers sends an inquiry to a peer, dialling it when need be. It is answered by [PeersNamed] or [PeersSilent].
type AskPeers struct {
	To      Record
	Inquiry Inquiry
	Search  uint64 // that wants contacts; 0: none
}

// AnswerPeers answers a [PeersAsked].
type AnswerPeers struct {
	To      PeerID
	Request uint64
	Names   Names
}

// PeersAsked is an inquiry of a peer; it is answered by one [AnswerPeers] of the same Request.
type PeersAsked struct {
	From    PeerID
	Request uint64
	Inquiry Inquiry
}

// PeersNamed is a peer's answer to [AskPeers].
type PeersNamed struct {
	From  PeerID
	Names Names
}

// PeersSilent says that [AskPeers] brought no answer.
type PeersSilent struct {
	From  PeerID
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
	Peer   PeerID
	Depth  int  // of the range that it says it covers
	Proved bool // it named somebody who proved to hold the key
	Denied bool // it did not name somebody of its range who proved to hold the key
	Failed bool // it did not answer; nothing else is known then
}

func (AskPeers) effect()       {}
func (AnswerPeers) effect()    {}
func (PeersAsked) input()      {}
func (PeersNamed) input()      {}
func (PeersSilent) input()     {}
func (ContactAnswered) input() {}
func (ContactsWanted) input()  {}
func (ContactsNamed) effect()  {}
