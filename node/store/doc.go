// Package store keeps what a node must not lose in a go-datastore: its keys, the number of its last summary, and what it
// knew of other peers.
//
// What it guarantees, if the datastore's batches are atomic and its Sync makes them last: a change that was acknowledged
// survives a crash at any point, one that was not is there whole or not at all. No number of a summary is given out
// twice: numbers are reserved in ranges, on disk, before they are used. A store that is made anew has a later generation
// than all before it, if the clock did not go back in between.
//
// Changes that come in while one is being written are written together: one Sync for all of them.
//
// Costs: the keys are on disk alone. In memory is a d-left counting filter of their fingerprints (Bonomi et al. 2006), about
// 6 to 12 bytes a key, which rules out most keys that are not held without a look at the disk. Close saves it; without
// that, after a crash, Open reads all keys, about a second for each million.
package store
