// Package event is the vocabulary that the core's machines share: what happens to them, and what they have done. The
// messages that both speak of are package wire's. It has no behaviour of its own.
package event

// Transport is how parts of a summary travelled.
type Transport uint8

const (
	// Pubsub is a partial message of the mesh.
	Pubsub Transport = iota
	// Direct is a stream of their own, opened by the receiver.
	Direct
	// Message is an ordinary pubsub message that the origin published of itself, unasked: one part, the first.
	Message
)
