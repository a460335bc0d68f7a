// Package routing finds who holds a key: the query machine, without I/O.
//
// A query goes straight to the peers whose summaries match the key. They are asked by the probability that the match is
// true per cost of asking (round trip, load), in the order of package routing/match. They count once they have
// confirmed that they hold the key. A peer's directory is poor if its expected number of false matches is high. This is
// Σf, the sum of the false-positive rates of all that it holds. Such a peer doesn't probe everybody. It asks
// contacts for candidates and confirms those. A contact speaks for a range of the network. One of depth 0 speaks for all:
// a linked peer that knows all more precisely. Where nobody linked does, one contact is asked about each range, which this
// one knows well. Contacts are also asked about ranges that the directory does not cover. A key that nobody was found to
// hold may be newer than any summary. All linked peers are asked for it, if the budget is enough for all. Where that
// doesn't help, the query is forwarded to linked peers within what is left.
//
// [Router.Step] takes one [Input] and the time and returns the [Effect]s that the driver must carry out, in order. The
// same inputs at the same times give the same effects. What the driver owes:
//
//   - one goroutine (or event loop) calls Step; time never goes back;
//   - every [Confirm], [AskCandidates] and [Forward] is answered by the input that brings its result or its failure. A
//     lost answer costs only time: the machine has time limits of its own;
//   - every [Asked] is answered by [Answer] effects of the same Request, the last of them Final, and by nothing after
//     it;
//   - a [Wake] is followed by a [Tick] at that time or later; a later Wake replaces it;
//   - deadlines are instants on this core's clock: on the wire travels the time that is left;
//   - addresses of a record are dialled only after its signature was verified.
//
// What it guarantees:
//
//   - every [Start] is followed by exactly one [Done] of its ID, at the latest at the deadline (plus the delay of the
//     Tick);
//   - the messages of a query, with those that forwarding causes elsewhere if the others are honest about them, never
//     exceed its budget. A child's share is set aside when it is asked, and what it reports beyond it is not believed;
//   - no peer is asked twice whether it holds the key of a query, except once more after a failure. This node itself,
//     and the peer that a forwarded query comes from, are never asked;
//   - a forwarded query is not sent to peers that have had it, as far as the list of marks that travels with it says. A
//     repeat from the same peer is answered empty, and hops are limited;
//   - nobody but its own confirmation makes a peer a provider;
//   - no peer has this node spend more on its behalf than [Config.ServedRate], and what it asks for displaces nobody's
//     from all places.
//
// It costs at most about 200 bytes a candidate, and an open query has at most [MaxCandidates], or as many as a larger
// budget of its own is enough for. [Config] limits open queries and requests. Which queries were seen, and what others
// asked for, takes at most 84 KiB.
package routing
