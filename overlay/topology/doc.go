// Package topology chooses a peer's neighbours: the peers that it keeps a connection with. They have much in common
// with it, are near, were drawn at random, or chose it. A peer that covers far more than others has neighbours in all
// parts of its range.
//
// A [Topology] receives inputs and answers with [Act]s: connections to make, to protect and to give up, hellos to say,
// audits to hold. It reads the directory, and does not change it. It has no clock, no I/O and no goroutines; the only
// randomness is the source in [Config]. The rules of the choice are package rank's. A choice looks at all peers of the
// directory, about once a second and only while a slot is free or overlaps have changed.
//
// The words used here, one meaning each:
//
//   - A neighbour is a peer that we keep, or are about to keep, a connection with. It has accepted when it says in its
//     hello that we are its neighbour, too.
//   - A slot is a place for a neighbour of one [Kind]; a candidate is a peer that could fill one.
//   - The mesh is pubsub's: the links on which announcements go. A neighbour need not be in it.
//   - An audit asks a neighbour by overlap for keys that its summary claims. A peer that does not hold them is refuted.
package topology
