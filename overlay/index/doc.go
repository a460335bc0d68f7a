// Package index finds, among all known peers at once, those that may hold a key.
//
// It guarantees exactly the answer of a loop over all prefixes and [summary.Prefix.Contains]. A bit-sliced filter
// without false negatives narrows the peers down. Then the index asks the prefixes of the peers that are left. It
// takes prefixes of any shape and depth.
//
// The filter. Each prefix has one column of bits, set by hashing the nodes that the prefix holds; the keys themselves
// are not known. Each node sets a few rows. A query reads only the rows of its own nodes and ANDs them; a row is a
// run of memory for some hundred peers. This is the bit-sliced signature file of Faloutsos and Christodoulakis
// (1984), as in BitFunnel (Goodwin et al. 2017) and COBS (Bingmann et al. 2019). The rows of a node follow from two
// hashes (Kirsch and Mitzenmacher 2008). Columns for which the same rows answer stand together in a stripe: their
// prefixes know the same levels and have about the same number of nodes. As each row is half full, r rows cost r/ln 2
// = 1.44 r bits a node, and one peer in 2^r is asked in vain. If a prefix knows only a part of hash space, further
// rows mark each 64th that it does not know.
//
// Costs, for prefixes of the default shape: 14.4 bits a key, rounded to a layout, and about a quarter more for empty
// columns. A query reads [Rows] rows of one bit a peer, and asks one prefix in 1,024 in vain. Six rows would take
// three fifths of the memory, but one prefix in 64 would be asked in vain. At 10,000 peers asking them would take
// four times as long as reading the rows. Prefixes of more than 8,192 keys have six rows, because there are few of
// them.
//
// Setting a prefix takes O(nodes) and writes one bit in each row of its stripe. A longer prefix of an epoch keeps its
// column until its false-positive rate is a quarter of the column's. Some peers have a layout that too few others share
// to fill a quarter of a stripe. Their prefixes are asked one by one.
package index
