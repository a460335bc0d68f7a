// Package routing finds the peers that hold a key: the query machine, without I/O.
//
// A query goes straight to the peers whose summaries match the key. They are asked in the order of package
// routing/match: by the probability that the match is true, per cost of asking (round trip, load). They count once they
// have confirmed that they hold the key.
//
// The plan, for both modes. A stage is taken when no candidate of the stages before is left to ask or to wait for:
//
//	stage     asks                                    when
//	matches   peers whose summaries match             at once; a poor directory only by sure matches
//	cover     contacts of ranges that the directory   All at once, Any when matches failed; a second
//	          does not cover, for names; of a poor    contact of each range while nobody is found
//	          directory, peers that know all or a
//	          range more precisely
//	sweep     all linked peers, if the budget is      nobody is found: the key may be newer than any
//	          enough for all                          summary; All: peers known to have changed since
//	precise   linked peers that know more precisely   Any that found nobody and asked no contact
//	forward   a few linked peers, with a part of      nobody is found, or All and some collections are
//	          the budget each                         unknown; again while own queries find nobody
//
// A directory is poor if its expected number of false matches is high: Σf, the sum of the false-positive rates of all that
// it holds. All names are candidates: each counts once it has confirmed. A query with enough holders, without budget or
// at its deadline ends in any stage.
//
// [Router.Step] takes one [event.Input] and the time and returns the [event.Effect]s that the driver must carry out, in order. The
// same inputs at the same times give the same effects. What the driver owes:
//
//   - one goroutine (or event loop) calls Step; time never goes back;
//   - every [event.Ask] is answered by [event.Answered], with an answer or without one. A
//     lost answer costs only time: the machine has time limits of its own;
//   - every [event.Asked] is answered by [event.Answer] effects of the same Request, the last of them Final or a
//     refusal, and by nothing after it;
//   - an [event.Wake] is followed by an [event.Tick] at that time or later; a later Wake replaces it;
//   - deadlines are instants on this core's clock: a message carries the time that is left;
//   - addresses of a record are dialled only after its signature was verified.
//
// What it guarantees:
//
//   - every [Start] is followed by exactly one [Done] of its ID, at the latest at the deadline (plus the delay of the
//     Tick);
//   - the messages of a query, with those that forwarding causes elsewhere if the others are honest about them, never
//     exceed its budget. A child's share is set aside when it is asked, and what it reports beyond it is not believed;
//   - no peer is asked twice whether it holds the key of a query. This node itself, and the peer that a forwarded query
//     comes from, are never asked;
//   - a forwarded query is not sent to peers that have had it, as far as the list of marks that travels with it says. A
//     repeat from the same peer is answered empty, and hops are limited;
//   - a peer becomes a provider only by its own confirmation;
//   - what others ask for is admitted by package admission: however many ask for as much as they can, an honest peer has
//     its share of messages, and of searches at a time.
//
// A candidate takes at most about 200 bytes. An open query has at most [MaxCandidates] candidates, or as many as a
// larger budget can confirm. [Config] limits open queries. The memory of queries that were seen takes at most 76 KiB.
package routing
