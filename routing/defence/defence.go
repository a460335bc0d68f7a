// Package defence names the defences of package routing that tests and experiments may switch off. They show that each
// attack succeeds without its defence. Nobody else switches one off.
package defence

// Off is a set of defences that are switched off. The zero value leaves all of them on.
type Off uint32

const (
	// Confirmed counts what a child names once it is confirmed: a child that invents providers does not end its
	// parent's search.
	Confirmed Off = 1 << iota
	// Sender knows a search again by who sent it: nobody can spend the name of another's.
	Sender
	// Voices remembers across queries how contacts fared: boasting does not pay for long.
	Voices
	// Failures remembers peers that failed to answer: they are asked last.
	Failures
	// Knowledge is relied on where it is fresh: nobody is asked for what is known of him.
	Knowledge
	// Sweep asks all linked peers for what no summary shows.
	Sweep
	// Order has each peer forward in an order of its own, so that copies of a query take different ways.
	Order
	// Visited has a query say where it has been.
	Visited
	// Second asks a second contact of a range before it is believed that nobody there has a key.
	Second
	// Trust has what a peer confirmed, and what it claimed in vain, weigh on its further claims.
	Trust
	// Silence gives up a contact of whose names nobody answers.
	Silence
	// Names for which only a peer speaks that named somebody wrong before are asked last, and for a part of the budget.
	Names
	// Again asks a peer that failed to answer after a few seconds, however long it was gone.
	Again
	// Boasts of a few linked peers, that they know more than all others, do not keep the others from being asked.
	Boasts
	// Vouching has a peer pass on those holders alone that it has confirmed, or that it would name itself.
	Vouching
)

// Has says whether a defence is switched off.
func (o Off) Has(d Off) bool { return o&d != 0 }
