// Package join finds the keys that several peers all hold, without moving their sets. It is the chained Bloom join of
// Papapetrou, Siberski and Nejdl 2010, section 6.
//
// The coordinator collects a block-partitioned filter of every set, ANDs them, and estimates the number of keys in
// common. It drops the blocks of the AND that are not worth their bytes, and sends the rest to the sources. They
// answer with their keys that are in it. Few of these keys are not common. The coordinator compares the answers, which
// leaves exactly the intersection. Filters travel coded: they take a few per cent of the bytes of the sets, in vain if
// the sets are equal. The result is exact with any filters; they only decide how many bytes move.
//
// The package does no I/O: it asks a [Source] for each of the three steps. [Listing] is a Source of local keys. A
// network has a Source of its own, with a Listing doing the work at its far end.
package join
