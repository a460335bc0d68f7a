// Package counting holds sets and small multisets whose members can be removed again.
//
// [DLeft] is the d-left counting Bloom filter of Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, "An Improved
// Construction for Counting Bloom Filters" (ESA 2006). Its members are fingerprints: the caller hashes keys to a
// uint64. It never forgets a member. At an overflow it returns an error and changes nothing.
//
// A DLeft with d subtables, r-bit remainders and c-bit counters, at the usual load of 6 of 8 cells, costs 4(r+c)/3
// bits a member. An operation takes d memory accesses and no allocation. The false-positive rate is n/2^q, where 2^q
// is the number of different fingerprints (buckets a subtable × 2^r). With q = 48, whole fingerprints can be listed.
// The filter then mirrors a collection, and any other summary can be built from it.
//
// A DLeft is not safe for concurrent use.
package counting
