// Package tails carries what collections gained and lost since their last epoch: a machine without I/O, beside that of package
// overlay.
//
// An origin's state of an epoch has a number: 0 is the epoch's summary, and each signed Tail leads to a later one. The
// machine makes the node's own tails, takes in those of others, and says who has added or removed a key since its summary.
//
// How they travel. An origin sends each tail to the peers that it is linked with. A peer that learns a tail from somebody else
// tells its own links the number that it has reached, in some 20 bytes; who is behind says where it is, and gets what it
// lacks. A number says what the sender holds, so that it asks for later tails as well as it offers earlier ones, and lost messages
// are made up for. Tails cover ranges of powers of eight, like the nodes of a Fenwick tree: who asks rarely gets few large
// ones in place of many small.
//
// What the driver owes, and the guarantees on effects, are those of package overlay. Besides:
//
//   - nothing is taken in that its origin has not signed for the epoch that is held of it;
//   - a tail that is not known here makes knowledge older, never wrong;
//   - memory is at most [Config.MaxChanges] changes of some 100 bytes each; no origin can use more than [maxChain] of them;
//   - the machine sends a link no more than [Config.Room] allows.
package tails
