package exchange

import (
	"github.com/venn-p2p/venn/overlay/wire"
)

// The budgets count what goes on the wire. These are the sizes that the core plans with; the driver's framing adds up
// to them.
const (
	rpcOverhead   = 80 // a pubsub message around a catalogue or a run: topic, group, lengths
	itemBytes     = 20 // a line of a catalogue
	runOverhead   = 48 // first, end, chain value
	deltaOverhead = 8  // lengths
	helloBase     = 48
	namedOverhead = 5        // lengths and the depth of a named peer; its id is in its record
	maxRunBytes   = 64 << 10 // parts in one message, unless a single part is larger
	maxCatalogue  = 400      // items in one message
)

// CatalogueBytes is what a catalogue of the given number of items counts against a budget.
func CatalogueBytes(items int) int { return rpcOverhead + items*itemBytes }

// PartsBytes returns what a run or a delta, with the header and the record that go with it, counts against a budget.
func PartsBytes(p wire.Parts) int {
	n := rpcOverhead + len(p.Envelope) + len(p.Record)
	if p.Delta != nil {
		return n + deltaOverhead + len(p.Delta)
	}
	return n + runOverhead + p.Run.EncodedBytes() + 3*len(p.Run.Parts)
}

// HelloBytes is what a hello counts against a budget.
func HelloBytes(h wire.Hello) int {
	n := helloBase
	for _, r := range h.Records {
		n += RecordBytes(r)
	}
	return n
}

// RecordBytes is what a record in a hello counts against a budget.
func RecordBytes(r wire.Record) int { return len(r.Peer) + len(r.Envelope) + 8 }
