// Package workload makes what a testnet runs on: collections of keys for every peer, and queries for them.
//
// Collections come from the embedded Debian data set (121 machines by role and the .deb files each holds), from a
// file of the same form, or from a folder with one text file of keys per peer. A machine holds its files as a block
// store does, in chunks: one key for every chunk of a file, so that sizes and overlaps are real while the key of a
// chunk is derived. All keys stand once in memory; a collection is a list of indexes into them (4 bytes a holding).
//
// Queries and the re-dealing to more peers than the data has follow from a random source that the caller seeds: one
// seed gives the same collections and the same queries on every machine.
package workload
