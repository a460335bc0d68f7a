// Package defence names the defences of package routing that tests and experiments may switch off. They show that each
// attack succeeds without its defence. Nobody else switches one off.
package defence

// Off is a set of defences that are switched off. The zero value leaves all of them on.
type Off uint32

const (
	// Confirmed counts a child's names only once they are confirmed: a child that invents providers does not end its
	// parent's search.
	Confirmed Off = 1 << iota
	// Sender makes the sender part of a search's name: no peer can use up the name of another's search.
	Sender
	// Reputations remembers across queries how the names of contacts fared: boasting does not pay for long.
	Reputations
	// Failures remembers peers that failed to answer: they are asked last.
	Failures
	// Knowledge that is fresh stands in for a question.
	Knowledge
	// Sweep asks all linked peers for a key that no summary shows.
	Sweep
	// Order gives each peer its own order of forwarding, so that copies of a query take different ways.
	Order
	// Visited lists in a query the peers that have had it.
	Visited
	// Second asks a second contact of a range before it counts as empty.
	Second
	// Trust weighs a peer's claims by those that it confirmed and those that proved false.
	Trust
	// Silence gives up a contact when none of the peers that it named answers.
	Silence
	// Names in doubt are asked last, and for a part of the budget: those that only a peer gave whose earlier names were
	// wrong.
	Names
	// Again asks a peer that failed to answer after a few seconds, however long it was away.
	Again
	// Boasts of a few linked peers, of knowing more than all others, do not keep the others from being asked.
	Boasts
	// Vouching passes on only holders that the peer has confirmed, or would name itself.
	Vouching
)

// Has says whether a defence is switched off.
func (o Off) Has(d Off) bool { return o&d != 0 }
