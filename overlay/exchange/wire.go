package exchange

import (
	"github.com/venn-p2p/venn/overlay/wire"
)

// Sizes that the planner reckons with before there is a message, in bytes. A message that is sent counts by its [Cost].
const (
	rpcOverhead = 80            // a pubsub message around a catalogue or parts: topic, group, lengths
	itemBytes   = 20            // a line of a catalogue
	runOverhead = 48            // a message of parts, without header, record and the parts
	maxRunBytes = wire.MaxBatch // parts in one message, unless a single part is larger
)

// Cost returns the number of bytes that a message counts against a budget: its own, and those that pubsub puts around
// catalogues and parts.
func Cost(m wire.Message) int {
	switch m.(type) {
	case wire.Catalogue, wire.Parts:
		return rpcOverhead + m.Size()
	}
	return m.Size()
}

// RecordBytes returns the bytes that a record in a hello counts against a budget.
func RecordBytes(r wire.Record) int { return len(r.Peer) + len(r.Envelope) + 8 }
