// Package estimate tells how many elements a Bloom filter holds, and how many two have in common, from counts of set
// bits alone. It follows section 5 of Papapetrou, Siberski and Nejdl 2010 ("Cardinality estimation and dynamic length
// adaptation for Bloom filters"). Filters may be standard, block-partitioned, or samples of either.
//
// Every estimate is an [Interval] at a stated confidence. It comes from the variance of the estimate and covers what it
// claims; coverage.md holds a simulation. A full array is saturated: it gives a lower bound and no number.
//
// Everything is a value; nothing allocates; an estimate costs a few logarithms. The results are floating point and may
// differ in the last digits between machines. They advise: nothing that must agree between peers may follow from them.
package estimate
