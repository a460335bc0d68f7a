// Package drive runs strategies, also a user's own, on real libp2p hosts. It steps the same machines that package
// sim steps in virtual time.
//
// Every peer has one goroutine that steps its machine, one input after the other. The machine's calls of its
// [strategy.Host] are carried out at once. All peers read one clock, which starts with [Network.Start].
//
// Hosts, connections and streams are real, and so are the bytes, messages and time that they take. A
// [strategy.Message] is one write on a stream. Each direction between two peers has one stream for queries and one
// for upkeep ([QueryID], [UpkeepID]), so that a host's metrics reporter distinguishes them. A stream stays open
// while the peers have a link; between other peers it closes after ten seconds without use. Connections stay open. A
// write has the bytes that the message declares on the wire, less [strategy.Overhead]. The overhead stands for
// framing by stream, encryption and packets, which the metrics reporter does not see. A write has at least 4 bytes.
// Opening or closing a link takes one frame of 4 bytes.
//
// Messages are not encoded, because all peers are in one process. The receiver gets the sender's value by reference
// when the last byte of the frame has arrived. The bytes themselves are padding. So the time to encode and decode is
// left out, and values that several peers share take memory once. Every peer knows the addresses of all peers, as if
// it had read them from messages. A message to oneself costs nothing. [strategy.Host.Look] reads the peer's own
// collection: the question has come as a message, and the answer goes as one.
//
// Queues are bounded. A peer that is slow to handle messages slows down their senders. A strategy that sends more
// than a stream carries ends the run with [ErrOverflow]. Messages to a peer that cannot be reached fail. When
// [Network.Close] returns, nothing of the run goes on.
package drive
