// Package space holds places of peers and ranges of places, and estimates how many peers there are.
//
// Every origin has a [Place], a hash of its peer id. A [Range] is all places that share their first bits; a [Set] adds
// up ranges exactly, and a [Bitmap] holds ranges of one depth. [Origins] estimates the size of a network from the places
// near one's own; [Median] and [MostSaid] take what others say of it, so that few liars move it little.
//
// It lies below the messages, which carry places and ranges, and so below all machines. What a peer does with ranges is
// in package region.
//
// Pure values and rules: no I/O, no clock, no randomness.
package space
