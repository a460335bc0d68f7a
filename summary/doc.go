// Package summary turns a collection of keys into a small, signed stream of bytes. Every prefix of the stream is a
// usable approximation of the collection. It answers "may this key be in it?" without false negatives. Two prefixes
// tell how much their collections overlap.
//
// # Construction
//
// Every key is hashed once, under the seed of the network, to a 48-bit [Fingerprint] f. Block i is a filter with one
// hash function x_i, a 64-bit mix of f and i. Cut at level l it is the set of the top l bits of the x_i(f), an array of
// 2^l bits. Going up a level ORs neighbouring bits, so a block is a binary trie cut at some depth, and a [Shape] says
// at which. Many blocks at level log2(n/ln 2) are the block-partitioned filter of Papapetrou, Siberski and Nejdl
// (2010). One block at level log2(n)+8 is the compressed filter of Mitzenmacher (2002).
//
// The stream sends part 0, a deep sample: the trie under the first few per cent of hash space. Then it sends block 0
// level by level, each level about one bit a key, then the next block. To go down one level each trie node reports
// whether it has both children (one entropy-coded flag), and if not, which (one raw bit). By the chain rule this costs
// no more than coding the deepest level at once. An array of c n bits takes n (log2 c + 1.44) bits, at a false-positive
// rate of about 1/c.
//
// Parts can be coded given another summary that the receiver holds, such as that of an earlier epoch or of a peer like
// the origin: [Prefix.RunRelative]. [EstimateOverlap] compares two prefixes of any depth and shape.
//
// The parts are bound to the signed [Header] by a hash chain, so each is verified on arrival, in order. A peer that
// holds some can serve them or fewer. FORMAT.md specifies all bytes.
//
// # Guarantees and costs
//
// A [Prefix] never denies a key of its collection. Its false-positive rate is known: [Prefix.FalsePositiveRate], and
// beforehand [Plan.ExpectedRate]. The same fingerprints, header and shape give the same bytes on every machine. A
// decoder accepts no others, and checks sizes and densities against the header's n before it allocates. Building takes
// O(n) on average for sorting and O(n) a level. A prefix takes about twice its wire size in memory, half of it the
// parts kept to be served on.
//
// # Vocabulary
//
// This package and those below it use one word for one thing:
//
//	Key                a member of a collection, as bytes
//	Seed               the key of the hash; only collections hashed under one seed can be compared
//	FalsePositiveRate  the probability that Contains is true of a random key that is no member, by the bits held
//	ExpectedRate       the false-positive rate predicted for a number of keys or parts
//	Len                members held, repetitions included
//	SizeBytes          bytes in memory
//	EncodedBytes       bytes on the wire or on disk
//	OnesCount          bits set
//	Reset              forgets all members
//	Merge, Intersect   change the receiver to the union, the intersection
//	Truncate           keeps the first parts or blocks
//	All                yields all members, in a fixed order
//	New…, …For…        New… makes a value from parameters, …For… finds parameters, or a value, for a goal
//	Estimate…          a guess with an interval
//	Concurrent         may be used by several goroutines
//
// A mistake of the caller that it could have seen in its own arguments panics, such as a negative number of parts.
// Parameters, which often come from people, and bytes, which come from strangers, give errors. Errors with several
// causes wrap a value for [errors.Is]; a constructor's error names the parameter. Truncate to more than there is
// changes nothing.
//
// # Limits
//
// A collection has at most 2^26 keys. A summary has at most 64 blocks and 2^14 parts of at most 64 KiB. Its levels are
// at most 48, and at most log2 of the keys + 32. More keys, parts or bytes are [ErrLimit], as are more
// blocks in the bytes of a header. Other shapes are [ErrMalformed].
//
// The package knows no network, clock, file, goroutine or global randomness.
package summary
