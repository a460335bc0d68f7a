// Package estimate estimates the number of elements in a Bloom filter, and the number in two filters at once, from
// counts of set bits alone. It follows section 5 of Papapetrou, Siberski and Nejdl 2010 ("Cardinality estimation and
// dynamic length adaptation for Bloom filters"). Filters may be standard, block-partitioned, or samples of these.
//
// Every estimate is an [Interval] at a stated confidence, from the variance of the estimate. coverage.md has a
// simulation that checks how often intervals contain the truth. A full array is saturated: it gives a lower bound and
// no value.
//
// Everything is a value; nothing allocates; an estimate costs a few logarithms. The results are floating point and may
// differ in the last digits between machines, so nothing that must agree between peers may depend on them.
package estimate
