package agenda

import "time"

// The times that the machines wait by. A rule takes one of them, or a time that it measures. It has a time of its own
// only where a run shows that none of these serves.
const (
	// Tick is the least time between two rounds of a machine.
	Tick = 200 * time.Millisecond
	// Brief is the time between two questions, or announcements, of a peer that is in a hurry.
	Brief = Beat / 2
	// Beat is the least time between two rounds of anything that is repeated on news.
	Beat = time.Second
	// Soon is the time within which a linked peer mostly answers, and a feeder or holder shows itself.
	Soon = Patience / 2
	// Patience is the time within which a linked peer answers, and news from one peer has reached others.
	Patience = 4 * time.Second
	// Attempt is the time that a peer may take if it must be dialled first. An attempt that failed is not repeated sooner.
	Attempt = 10 * time.Second
	// Lately is the time for which something that began counts as under way: a start, a change, an offer.
	Lately = 30 * time.Second
	// Seldom is the time between two looks at what hardly changes.
	Seldom = time.Minute
	// Faded is the time after which what a peer did or said counts less, or no more.
	Faded = 10 * time.Minute
	// Longest caps pauses that double, and the time for which the word of others counts.
	Longest = time.Hour
	// Day is the time for which a proven offence counts, and the longest between two audits of a peer.
	Day = 24 * time.Hour
)
