package event

import "github.com/venn-p2p/venn/overlay/wire"

// ContactsWanted means that a search has nobody left to ask about some ranges. [ContactsNamed] answers it at once, and
// again with each answer to a question that was asked for the search.
type ContactsWanted struct {
	Search uint64 // names the search in its [Ask]s
	Ask    int    // the most peers that may be asked for contacts
}

// ContactsNamed means that peers were just asked for contacts on behalf of a search, or that the search may find more
// contacts now.
type ContactsNamed struct {
	Search  uint64 // the search that waits for contacts
	Asked   int    // peers just asked for the search; 0: an answer came, or nobody can be asked
	Awaited int    // answers for which the search still waits
}

// ContactAnswered is the outcome of a question to a contact about a key.
type ContactAnswered struct {
	Peer   wire.PeerID
	Depth  int  // depth of the range that the contact claims to cover
	Proved bool // the contact named a peer that proved to hold the key
	Denied bool // the contact did not name a peer of its range that proved to hold the key
	Failed bool // the contact did not answer; then Depth, Proved and Denied are not known
}
