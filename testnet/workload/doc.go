// Package workload makes the collections of keys for every peer of a testnet.
//
// Collections come from the embedded Debian data set: 121 machines by role, and the .deb files that each holds. They
// may also come from a file of the same form, or from a folder with one text file of keys per peer. A machine holds
// its files in chunks, as a block store does: each chunk of a file is a key. So sizes and overlaps are real, while
// the keys of chunks are derived. Each key is in memory once. A collection is a list of numbers of keys, 4 bytes a
// holding.
//
// The caller seeds the random source for dealing to more peers than the data has. One seed gives the same collections
// on every machine.
package workload
