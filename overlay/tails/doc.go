// Package tails carries the keys that collections gained and lost since their last epoch: a machine without I/O, beside
// that of package overlay.
//
// An origin's state of an epoch has a number: 0 is the epoch's summary, and each signed Tail leads to a later one. The
// machine makes the node's own tails, keeps the tails of others, and tells which peers have added or removed a key
// since their summary.
//
// How they travel. An origin sends each tail to the peers that it is linked with. Every other peer has one of its links
// feed it: that link sends it each tail of the origin as it comes. So each tail reaches each peer once, along a tree
// for each origin, as in Plumtree (Leitão, Pereira, Rodrigues: "Epidemic Broadcast Trees", 2007). Links send a peer
// that is not fed yet the number of a new state, once, in some 13 bytes. The peer asks the best link that holds more.
//
// Every two seconds a peer sends one link, in turn, a rumour: the origins that have advanced, those that it is linked
// with as well, because word that a link has ended may be lost. Rumours reveal a branch
// that is dead, late or a circle. The time that a feeder may be late follows from earlier times, by the estimator of
// TCP's retransmission timer. A feeder that is later gives way to a link that claims to hold more.
//
// A peer is fed by few of its links, as long as their rates allow it, because a message costs more than a tail. It
// sends a link no message while the one before is on its way out of the node ([Config.Sending]), nor sooner than a
// multiple of the time for which messages of its median link wait in its driver ([Machine.Pace]). So a peer that is
// behind sends fewer and longer messages, and makes fewer tails of more changes.
//
// A link is not sent again what it was sent before. A stream loses nothing but by its end, which the driver reports
// ([event.Lost]), and a link that begins again hears everything. In case of unnoticed losses, a link hears the state of
// the node's own tails, ever more rarely.
//
// The number of a state tells what the sender holds, so lost messages are made up for. Tails cover ranges of powers of
// eight, like the nodes of a Fenwick tree. A peer that asks rarely gets few large ones in place of many small.
//
// The duties of the driver, and the guarantees on effects, are those of package overlay. Besides:
//
//   - no tail is accepted unless its origin has signed it for the epoch whose summary is held;
//   - a tail that is missing here makes knowledge older, never wrong;
//   - memory is at most [Config.MaxChanges] changes of some 100 bytes each; no origin can use more than [maxChain] of
//     them;
//   - the machine sends a link no more than [Config.Room] allows.
package tails
