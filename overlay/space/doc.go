// Package space holds places of peers and ranges of places, and estimates the number of peers.
//
// Every origin has a [Place], a hash of its peer id. A [Range] holds all places that share their first bits. A [Set]
// is an exact union of ranges, and a [Bitmap] holds ranges of one depth. [Origins] estimates the size of a network
// from the places near one's own. [Median] and [MostSaid] combine the numbers that other peers state, so that few
// liars move the result little.
//
// It lies below the messages, which carry places and ranges, and thus below all machines. Package region decides what
// a peer does with ranges.
//
// Pure values and rules: no I/O, no clock, no randomness.
package space
