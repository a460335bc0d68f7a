// Package region decides which part of the network a peer covers, and whom it asks about the rest.
//
// A peer covers a range: all places that share their first bits with its own (package space). At depth 0 the range is
// everybody. A network that fits into everybody's memory has no other depth. Otherwise each peer chooses the least depth
// that its memory and its line allow ([Depth]), and fills the range from the inside out. Beside the range it keeps the
// peers anywhere that hold most of what it holds, and those that proved useful ([directory.Keep]).
//
// For other ranges a peer has contacts ([Contacts]): records of peers that cover them. A search asks its own directory,
// then contacts for the ranges that nobody asked so far covers ([Next]). Where ranges are many, contacts in each are
// sought once a search needs them.
//
// A [Region] receives inputs and sends nothing. It fits our range to memory and line ([Region.Fit]) and determines the
// range that the peer can vouch for. It chooses peers to ask for other peers, and the questions ([Region.Inquire],
// [Region.Want]), and names peers to those that ask here ([Region.Answer]). It reads the directory and the exchange and
// changes neither: package overlay carries out what follows for them. It has no clock, no I/O and no goroutines; the
// only randomness is the source in [Config].
//
// The words used here, one meaning each:
//
//   - A peer vouches for a range when it knows all origins there that it heard of. Its precise range is the one in
//     which it expects few false matches.
//   - The focus is the range whose summaries come first, where memory is enough for everybody's and the line is not.
//   - A contact is a peer that can be asked about another range.
//   - An inquiry asks a peer to name others, in a round of gossip, for a search, or to find the own place. An answer
//     names peers by their records, and introduces peers by the first parts of their summaries.
//   - A similar peer holds keys of ours beyond doubt, by estimate. Any other peer is a stranger.
//   - A meeting place is a place that two peers with keys in common both look up; a peer that asks there is a visitor.
//
// Places follow from identities, and identities are cheap: a party that makes many can choose a range. So no rule here
// rests on one contact, and none prefers a peer for having come first.
//
// It takes about 2 kB for each of at most 64 visitors, and the contacts. After a change it goes through all entries, at
// most once a second. The cost of searches was counted for 10,000 peers of 200 keys that keep 78 origins of the range
// and 49 similar ones: 6.3 messages a find, and .994 of all finds take at most 128 messages. If each peer keeps the
// first 128 origins that it hears of instead, .59 of all finds do.
package region
