// Package scope is which part of the network a peer covers, and whom it asks about the rest.
//
// A [Scope] receives inputs and never asks. It fits the own range to memory and line ([Scope.Fit]) and says for which
// range the peer can vouch. It chooses whom to ask for other peers, and what ([Scope.Inquire], [Scope.Want]), and names
// peers to those that ask here ([Scope.Answer]). It reads the directory and the exchange and changes neither: what
// follows from it for them, package overlay does. It has no clock, no I/O and no goroutines; the only randomness is the
// source in [Config].
//
// The words used here, one meaning each:
//
//   - The range of a peer is the part of the network that it covers, by places (package coverage). It vouches for a
//     range when it knows all origins there that it heard of. Its sharp range is the one in which it expects few false
//     matches.
//   - The focus is the range that the line is for first, where memory is enough for everybody and the line is not.
//   - A contact is a peer that can be asked about another range.
//   - An inquiry asks a peer to name others, in a round of gossip, for a search, or to find the own place. An answer
//     names peers by their records, and introduces peers by the first parts of their summaries.
//   - The similar hold keys of ours beyond doubt, by estimate. A stranger is any peer that is not among them.
//   - A meeting place is one that two peers with keys in common both look up; who asks there is a visitor.
//
// It costs about 2 kB for each of at most 64 visitors, and the contacts. A look at all entries follows a change, once a
// second at most.
package scope
