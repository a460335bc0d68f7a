package event

import "github.com/venn-p2p/venn/overlay/wire"

// ContactsWanted means that a search has nobody left to ask about some ranges. It is answered by [ContactsNamed]: at
// once, and with each answer that the search waits for.
type ContactsWanted struct {
	Search uint64 // names it in its [Ask]s
	Ask    int    // the most peers to ask for contacts
}

// ContactsNamed means that peers were asked for contacts, or there may be more for the searches that wanted them.
type ContactsNamed struct {
	Search  uint64 // the search that waits
	Asked   int    // peers just asked for it; 0: an answer came, or nobody can be asked
	Awaited int    // answers that it still waits for
}

// ContactAnswered is the outcome of a question to a contact about a key.
type ContactAnswered struct {
	Peer   wire.PeerID
	Depth  int  // of the range that it claims to cover
	Proved bool // it named a peer that proved to hold the key
	Denied bool // it did not name a peer of its range that proved to hold the key
	Failed bool // it did not answer; the other fields are not known then
}
