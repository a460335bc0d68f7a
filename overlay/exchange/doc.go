// Package exchange trades summaries between linked peers, within a byte budget for every link and for the node's own
// line. Catalogues list what each peer holds and asks for; runs, deltas and direct fetches from origins follow.
//
// An [Exchange] only reacts to inputs. [Exchange.Added] and [Exchange.Changed] pass it the entries and the links of a
// directory as they come, change and go. It reads entries and changes none. It appends the messages to be sent to the
// effects of the step. It has no clock, no I/O and no goroutines.
//
// It guarantees that no link carries more than its rate times the time plus its burst (see [Burst]). The same holds for
// all links together against the rates of the peer's own line. A message that cannot be split, as one delta to a new
// epoch or one part, may be longer than a burst. It goes from a full budget, and is paid for afterwards.
//
// The words used here, one meaning each:
//
//   - A link is a connected peer. It is heard once it has said hello. It is in the mesh if pubsub says so.
//     Announcements go to mesh links and, where our range is not everybody, to all links whose range meets it.
//   - A trade is the exchange with one link about one origin: what the link claims to hold, and what we announced to
//     it.
//   - An item is a line of a catalogue: what the sender holds of an origin, and up to where it wants more.
//   - An ask is ours: parts of an origin that a link, or the origin itself, was asked for and that have not come. A
//     want is theirs: parts that a link asked us for.
//   - An offer is a way to get more of an origin, with its value; the planner turns the best offers into asks.
//   - The standing of a peer is what it owes us of each origin, and the claims that it did not keep. A link is shunned
//     about an origin for a while after it failed.
//   - A request is a peer's direct request, on a stream of its own.
//
// It costs 24 bytes per pair of link and known peer. A round looks only at origins with something to ask or announce.
package exchange
