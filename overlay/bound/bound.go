// Package bound has the numbers by which the machines bound what others make them remember, look at and believe. A rule
// takes one of them. It has a number of its own only where a run shows that none of these serves. overlay/SENSITIVITY.md
// says what half and twice of each number do.
package bound

// A bounded memory has one of three sizes, by what an item takes. So none takes more than about a megabyte.

const (
	// Few bounds large items, of some kilobytes; the items of one peer; and questions that wait.
	Few = 64
	// Many bounds items of some hundred bytes, and the items that are looked at in one step.
	Many = 1024
	// Most bounds notes of some tens of bytes.
	Most = 1 << 14
)

// Handful is the number of peers that are enough for one purpose: links into a range, answers of a lookup, voices. Of
// fewer all may fail, or lie. More cost messages, and know little more.
const Handful = 4

// Enough is the number of peers or keys from which a sample tells enough: the relative standard error of a count of them
// is a quarter.
const Enough = 16

// Half is the part of a budget or memory that one use may take, and the part of what is expected that is enough. A
// probability of Half tells neither way.
const Half = 0.5

// Unlikely is the probability below which something is not taken for chance: about one in a million. It is just above
// the probability of six wrong answers to six claims, if each claim is true with probability 0.9.
const Unlikely = 1.000001e-6

// Clearly is the factor by which an estimate must exceed another to count as more, so that choices do not go to and fro.
const Clearly = 1.25

// Headers is the part of a link's rate that may go to headers of messages. On a slow link messages wait, so that several
// go as one. With 1/32 for announcements a search for all takes 20.9 messages in place of 19.5 where all lines have 256
// kbit/s (mixed-lines, --all).
const Headers = 0.01

// Little is a part of a rate, a memory or a collection that does not count beside the rest.
const Little = 1.0 / 32

// A judgement of a peer rests on one of two numbers of signs.
const (
	// Signs is the number of signs that are enough where honest peers give hardly any: one may be chance, or a lie.
	Signs = 2
	// Credit is the number of faults from which on a peer is not believed where honest peers make some, too.
	Credit = 8
)
