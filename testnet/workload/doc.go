// Package workload makes the collections of keys for every peer of a testnet.
//
// Collections come from the embedded Debian data set: 121 machines by role, and the .deb files that each holds. Or they
// come from a file of the same form, or a folder with one text file of keys per peer. A machine holds its files in
// chunks, as a block store does: one key for every chunk of a file. So sizes and overlaps are real while the key of a
// chunk is derived. All keys stand once in memory; a collection is a list of indexes into them (4 bytes a holding).
//
// The caller seeds the random source for dealing to more peers than the data has. One seed gives the same collections
// on every machine.
package workload
