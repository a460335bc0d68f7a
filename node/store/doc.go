// Package store keeps in a go-datastore what a node must not lose: its keys, the number of its last summary, and the
// peers that it knew.
//
// The datastore's batches must be atomic, and its Sync must make them durable. Then the store guarantees the
// following. An acknowledged change survives a crash at any point. Any other change is there whole or not at all. No
// number of a summary is given out twice: numbers are reserved in ranges, on disk, before they are used. A new store
// after a lost one has a later generation than all before it, unless the clock went back in between.
//
// Changes that arrive while another is being written are written together, with one Sync for all of them.
//
// Costs: the keys are on disk only. Memory holds a d-left counting filter of their fingerprints (Bonomi et al. 2006),
// about 6 to 12 bytes a key. It answers for most keys that are not held without a read of the disk. Close saves it.
// After a crash it is missing, and Open reads all keys, which takes about a second for each million.
package store
