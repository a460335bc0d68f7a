// Package strategy is the frame in which ways of finding who holds a key are compared: one interface, and an
// implementation for each system or paper that venn is measured against, venn itself and an oracle included.
//
// A [Strategy] makes one [Peer] for every peer of a network. A Peer is a machine without I/O: it is told what happened by
// [Peer.Step] and acts through its [Host], which notes what is to be done and does it after Step has returned. There are no
// goroutines, clocks or files here, and the only randomness is [Host.Rand]. The same inputs at the same times lead to the
// same calls of the Host, so that a run can be repeated bit for bit (see package sim).
//
// To add a strategy of your own, write one file with a Peer and a value of type Strategy, and give that to
// experiment.RunNetwork beside those of [All]: see the example there.
//
// What is counted, for all alike: every [Message] once, by the bytes that it has on the wire with its framing, for the
// query that it names or else as upkeep; every [Host.Look] as a probe, and as a wasted one when the key isn't there.
// Handshakes of connections cost time, but their bytes are counted for nobody.
package strategy
