// Package drive runs any strategy of package strategy, a user's own too, on real libp2p hosts: the machines that
// package sim runs in virtual time.
//
// Every peer has one goroutine that steps its machine, one input after the other. The machine's calls of its
// [strategy.Host] are noted during a step and carried out after it. All peers read one clock, which starts with
// [Network.Start].
//
// These are real: hosts, connections, streams, and the bytes, messages and time that they take. A [strategy.Message] is
// one write on a stream. Each way between two peers has one stream for queries and one for upkeep ([QueryID],
// [UpkeepID]), so that a host's metrics reporter distinguishes them. A stream stays open as long as the peers have a
// link, and for ten seconds without use between others; connections stay. A write has the bytes that the message
// declares on the wire, less [strategy.Overhead]. The overhead stands for framing by stream, encryption and packets,
// which the reporter counts for nobody. A write has at least 4 bytes. Opening and closing a link takes a frame of 4
// bytes at a time.
//
// These are not real: all peers are in one process, so the contents of a message are not encoded. The receiver gets the
// sender's value by reference when the last of the frame's bytes has come; the bytes themselves are padding. Hence the
// time to encode and decode, and the memory of values that several peers share, are left out. Addresses of all peers
// are known to all, as if they had been read from messages. A message to oneself costs nothing. [strategy.Host.Look]
// looks into the peer's own collection: the question that made it look has come as a message, and so goes the answer.
//
// Queues are bounded. A peer that doesn't keep up slows down its senders, and a strategy that sends more than a stream
// carries ends the run with [ErrOverflow]. Messages to a peer that can't be reached fail. Nothing runs any more when
// [Network.Close] returns.
package drive
