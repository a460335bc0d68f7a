// Package index answers "who may hold this key" for all peers known at once.
//
// It guarantees exactly the answer of a loop over all prefixes and [summary.Prefix.Contains]. It narrows the peers down
// by a bit-sliced filter, which has no false negatives, and asks the prefixes of those that are left. Any shape and any
// depth of prefix goes in.
//
// The filter. A prefix is one column of bits, hashed from the nodes that it holds (nobody has the keys). Each node sets
// a few rows. A query reads only the rows of its own nodes, each a run of memory for some hundred peers, and ANDs them.
// This is the bit-sliced signature file of Faloutsos and Christodoulakis (1984), as in BitFunnel (Goodwin et al. 2017)
// and COBS (Bingmann et al. 2019). The rows of a node follow from two hashes (Kirsch and Mitzenmacher 2008). Columns
// stand together in a stripe when the same rows answer for them. Their prefixes are known to the same levels and have
// about as many nodes. As each row is half full, r rows cost r/ln 2 = 1.44 r bits a node, and one peer in 2^r is asked
// in vain. Where a prefix knows only a part of hash space, further rows, one for each 64th, say so.
//
// Costs, for prefixes of the default shape: 14.4 bits a key, rounded to a layout, and about a quarter more for columns
// that stand empty. A query reads [Rows] rows of one bit a peer and asks one prefix in 1,024 in vain. Six rows would
// take three fifths of the memory, but ask one prefix in 64 in vain. At 10,000 peers this would take four times as long
// as reading the rows. Prefixes of more than 8,192 keys have six rows, because there are few of them.
//
// Setting a prefix takes O(nodes) and writes one bit in each row of its stripe. A prefix with few changed nodes only
// adds the new ones. Rows of removed nodes stay until a sixth of all nodes are gone: they only cost a prefix asked in
// vain. Longer prefixes of an epoch stay in their column until they rule out four times as much. Peers that have too
// little in common with others to fill a quarter of a stripe are asked one by one.
package index
