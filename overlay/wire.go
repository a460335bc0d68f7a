package overlay

import "github.com/venn-p2p/venn/summary"

// The budgets count what goes on the wire. These are the sizes that the core plans with; the driver's framing adds up to them.
const (
	rpcOverhead  = 80 // a pubsub message around a catalogue or a run: topic, group, lengths
	itemBytes    = 20 // a line of a catalogue
	runOverhead  = 48 // first, end, chain value
	helloBase    = 48
	maxRunBytes  = 64 << 10 // parts in one message, unless a single part is larger
	maxCatalogue = 400      // items in one message
)

func catalogueBytes(items int) int { return rpcOverhead + items*itemBytes }

func runBytes(r summary.Run, envelope, record []byte) int {
	return rpcOverhead + runOverhead + r.Bytes() + 3*len(r.Parts) + len(envelope) + len(record)
}

func helloBytes(h Hello) int {
	n := helloBase
	for _, r := range h.Records {
		n += len(r.Peer) + len(r.Envelope) + 8
	}
	return n
}
