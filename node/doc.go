// Package node runs a venn node on a libp2p host. It advertises a summary of its keys over pubsub, and collects the
// summaries of others within the declared bandwidth. It keeps neighbours, and finds the holders of a key.
//
// Packages overlay and routing decide, and this package does what they decide. One goroutine, the loop, owns their
// state. Streams, pubsub's callbacks and the API hand it their inputs through bounded queues (see inbox). Other
// goroutines carry out its orders, and report back the same way. All of them end with Close.
//
// Two peers are linked when they have said hello on a connection. Connections made only for questions, such as whether
// a peer holds a key, carry no hello and join no mesh. They are closed first when there are too many.
//
// Pubsub is gossipsub with partial messages on the topic /venn/<network>/summaries/2. Its group 'c' carries catalogues,
// which list what the sender holds and wants. The other groups, one for each epoch of an origin, carry parts. Each
// message goes to one peer. Ordinary messages are dropped unread.
//
// A host that strangers can reach should be made with [Guarded], as the daemon's is.
//
// A node with no keys and no connections costs about 16 goroutines and 150 KiB above its host (TestIdleCost).
package node
