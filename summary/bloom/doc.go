// Package bloom holds the Bloom filters of the papers venn is built on. They are standard and block-partitioned
// (Filter), dynamic block-partitioned (Dynamic), compressed, and deltas of compressed ones (Codec).
//
// A Bloom filter represents a set of keys in m bits. It answers "maybe" for every key in the set, and for another key
// with a small probability, the false-positive rate f; otherwise "no". A standard filter with k hash functions holds n
// keys at
//
//	f = (1-(1-1/m)^(kn))^k, at best 0.6185^(m/n).
//
// A block-partitioned filter is a row of mu blocks, each a filter of its own of m_b bits and k_b hash functions. It
// costs the same, with blocks of n/ln 2 bits and one hash function each. Dropping blocks from the end leaves the filter
// that would have been built with fewer blocks. So it can be cut, before it is sent, to the length that a link or a
// purpose allows.
//
// Costs: a key is hashed once, to 128 bits, by a keyed hash (Hasher.Hash). Add and Contains then take two
// multiplications and one access to memory for every hash function. Only construction, decoding and merging into a new
// filter allocate. No function blocks. Except for Concurrent, no filter is safe for use by several goroutines while one
// of them writes.
//
// Sources, cited by author in this package:
//   - M. Mitzenmacher, Compressed Bloom Filters, IEEE/ACM Transactions on Networking 10(5), 2002.
//   - O. Papapetrou, W. Siberski, W. Nejdl, Cardinality estimation and dynamic length adaptation for Bloom filters,
//     Distributed and Parallel Databases 28, 2010.
//   - A. Kirsch, M. Mitzenmacher, Less Hashing, Same Performance: Building a Better Bloom Filter, Random Structures and
//     Algorithms 33(2), 2008.
package bloom
