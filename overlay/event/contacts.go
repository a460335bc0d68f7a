package event

import "github.com/venn-p2p/venn/overlay/wire"

// ContactsWanted says that a search has nobody left to ask about some ranges. It is answered by
// [ContactsNamed]: at once, and with each answer that the search waits for.
type ContactsWanted struct {
	Search uint64 // names it in its [Ask]s
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
