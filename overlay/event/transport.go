// Package event is the vocabulary that the core's machines share: their inputs and effects. Package wire declares the
// messages in them. This package has no behaviour of its own.
package event

// Transport is the way in which parts of a summary travelled.
type Transport uint8

const (
	// Pubsub is a partial message of the mesh.
	Pubsub Transport = iota
	// Direct is a stream for these parts alone, opened by the peer that asked for them.
	Direct
)
