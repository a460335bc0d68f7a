// Package overlay holds what a peer knows of others, and how it comes to know it.
//
// It joins four machines and passes news between them. The directory keeps the summaries of others (package directory),
// the exchange brings them (package exchange), and the topology chooses neighbours (package topology). The region
// determines the part of the network that this peer covers, and the peers to ask about the rest (package region). Each
// machine explains its words, and has invariants ([Overlay.Check]) and a stable String. Package event has the inputs
// and effects of all. These words mean the same in all of them:
//
//   - The overlap of a peer is the part of our collection that it holds, by estimate.
//   - A share is a part of a whole, as a fraction: of a rate, of memory, of room, of all places.
//   - An ask requests parts of a summary; another peer's ask to us is a want. An inquiry requests names of peers.
//
// It is a machine without I/O. [Overlay.Step] takes one [Input] and the time and returns the [Effect]s that the driver
// must carry out, in order. There are no goroutines, clocks, files or sockets here, and the only randomness is the
// source in [Config]. The same inputs at the same times give the same effects.
//
// One goroutine (or event loop) of the driver calls Step. Time must never go back: Step panics. The driver carries out
// every effect, or answers it by the input that reports its failure. A [Wake] is followed by a [Tick] at that time or
// later.
//
// What it guarantees:
//   - no link carries more than its rate times the time plus its burst (see [Config.Share] and [Burst]). The same holds
//     for all links together against the declared rates of the peer's own line;
//   - nothing is believed before it is verified: headers by their signature, parts by the hash chain, addresses by the
//     origin's own signed record;
//   - an epoch never answers worse than the one before it. The old verified prefix answers until the new one is as
//     deep, but only for half a minute if newer epochs come faster than the line carries them.
//
// The overlap estimate is the AND-merge of Papapetrou, Siberski and Nejdl (2010), section 5, on the deep sample
// that opens every summary.
package overlay
