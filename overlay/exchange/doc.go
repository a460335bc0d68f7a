// Package exchange is how summaries travel between linked peers: a byte budget for every link and for the own line,
// catalogues of what each holds and asks for, runs and deltas, and direct fetches from origins.
//
// An [Exchange] is told what happened and never asks. It is told of the entries of a directory as they come, change and go
// ([Exchange.Added], [Exchange.Changed]) and reads them; it changes none. What it wants sent it appends to the effects of the
// step. It has no clock, no I/O and no goroutines.
//
// What it guarantees: no link carries more than its rate times the time plus its burst (see [Burst]); the same holds for all
// links together against the rates of the peer's own line.
//
// The words used here, one meaning each:
//
//   - A link is a connected peer. It is in the mesh if pubsub says so: announcements go to mesh links only.
//   - A trade is what one link and we have said to each other about one origin: what it claims to hold, and what we told it.
//     The trades of a link are its ledger.
//   - An item is a line of a catalogue: an announcement of what the sender holds or an ask.
//   - An ask is ours: parts of an origin that a link, or the origin itself, was asked for and that have not come. A want is
//     theirs: parts that a link asked us for.
//   - An offer is a way to get more of an origin, with its value; the planner turns the best offers into asks.
//   - Blame is what speaks against asking a link about an origin; a link is shunned while it counts.
//   - A request is a peer's direct request, on a stream of its own.
//   - A copy is our own summary, sent once, part by part, to whoever takes it.
//
// It costs, per link, 20 bytes for every peer known that something was said about. A round looks at the origins that there
// may be something to ask or to tell about.
package exchange
