// Package store keeps in a go-datastore what a node must not lose. That is its keys, the number of its last summary,
// and its knowledge of other peers.
//
// It guarantees the following if the datastore's batches are atomic and its Sync makes them last. A change that was
// acknowledged survives a crash at any point. Another change is there whole or not at all. No number of a summary is
// given out twice: numbers are reserved in ranges, on disk, before they are used. A store made again has a later
// generation than all before it, unless the clock went back in between.
//
// Changes that come in while one is being written are written together: one Sync for all of them.
//
// Costs: the keys are on disk alone. In memory is a d-left counting filter of their fingerprints (Bonomi et al. 2006),
// about 6 to 12 bytes a key. It answers for most keys that are not held without a read of the disk. Close saves it.
// After a crash it is missing, and Open reads all keys, about a second for each million.
package store
