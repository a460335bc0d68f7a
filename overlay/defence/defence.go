// Package defence names the defences that tests and experiments may switch off, to show that the attack that each is
// for succeeds without it. Nobody else switches one off.
package defence

// Off is a set of defences that are switched off. The zero value leaves all of them on.
type Off uint32

const (
	// Credit lets a link that broke its claims stand back behind others: claims of newer epochs do not crowd out what
	// others offer.
	Credit Off = 1 << iota
	// Growth ends an ask that brings nothing new, however much is sent again.
	Growth
	// Memory of a link's broken claims outlives its sessions and its connections.
	Memory
	// Ageing bounds the peers known by their record alone, for each link and in all, and forgets them in time.
	Ageing
	// Bans are bounded, small and forgotten in time.
	Bans
	// Groups gives a linked peer its place, however many others claim its group of addresses.
	Groups
	// Released lets parts come in peace that were asked for before their origin was forgotten or the link closed.
	Released
	// Acceptance frees the slot of a neighbour that never says that it accepts.
	Acceptance
	// Audits has neighbours by overlap show that they hold what they claim.
	Audits
	// Replay refuses epochs up to the latest one that was held.
	Replay
	// Disbelief of a link that has not brought the tails that it said to hold keeps it from feeding, for a while.
	Disbelief
	// Seconding waits for a second link's word before queries count an origin that has sent nothing.
	Seconding
	// Boasts of a few links, that they know more peers than there are, do not make a directory look poor.
	Boasts
	// Crowds of visitors at a meeting place are not remembered, but the latest few.
	Crowds
	// Queues that one link alone waits in do not make the driver look behind: it is paced by the median link.
	Queues
	// Places for tails that came before their epoch are taken from the link that holds the most of them.
	Places
	// Requests for parts that find no place to wait take one from the peer that has the most.
	Requests
)

// Has says whether a defence is switched off.
func (o Off) Has(d Off) bool { return o&d != 0 }
