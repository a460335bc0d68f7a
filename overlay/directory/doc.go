// Package directory holds what a peer knows of others: their summaries, within a budget of memory, and what follows
// from these. It tells who may hold a key, how much of our collection a peer holds, and which peers have proved useful.
//
// A [Directory] only reacts to inputs. Its owner passes in runs, records and outcomes of confirmations, and then
// collects the [Change]s: the entries that other machines must look at again. It has no clock, no I/O and no
// goroutines; the only randomness is the source in [Config]. It knows nothing of byte budgets of links, of asks, or of
// neighbours.
//
// The words used here, one meaning each:
//
//   - An origin is a peer as the author of a summary; its tag is the hash that names it in announcements.
//   - An entry is what is known of one origin's summary under one seed. Its index is a small number that stays while
//     the entry does; afterwards another entry may get it. The first indexes are our own summaries'.
//   - A prefix is the first parts of one epoch of a summary. An entry holds one that answers queries, perhaps a newer
//     one that is on its way, and bases.
//   - A base is a prefix of an earlier epoch, kept so that deltas can be made from it or applied to it.
//   - An entry is pending while nothing but its tag or its record is known.
//   - The sibling of an entry is the same peer's entry under the other seed, while the network rotates its seed. An
//     entry is covered when its sibling stands for the peer instead.
//   - A record is a peer's signed addresses; an envelope is the signed header of an epoch.
//   - The overlap of an entry is the estimated part of our own collection that the peer holds.
//   - Answers are the hits and misses of confirmations of an entry's claims.
//
// It costs, per peer known, the prefixes held, the signed header and record, and about 600 bytes. Prefixes are decoded;
// their encoded parts are kept only while they are new. Looking for candidates costs what package index says.
// [Directory.Step] looks at all entries only when something is due.
package directory
