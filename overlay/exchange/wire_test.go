package exchange

import (
	"math"
	"testing"

	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestPlanned: what is planned with before a message is made is no less than the message takes then.
func TestPlanned(t *testing.T) {
	hello := wire.Hello{
		Up: 1 << 40, Down: 1 << 40, Measured: 1 << 40, FalseMatches: 1.5, Origins: 1 << 20,
		Neighbour: true, Full: true, Tails: true, Again: true, New: true, Session: math.MaxUint64, Depth: space.MaxDepth, Network: 1 << 20, Seed: 1 << 20,
	}
	r := wire.Record{Peer: "a peer", Envelope: make([]byte, 200)}
	with := hello
	with.Records = []wire.Record{r}
	if got := Cost(with) - Cost(hello); got > RecordBytes(r) {
		t.Errorf("a record takes %d bytes, planned are %d", got, RecordBytes(r))
	}
	items := make(wire.Catalogue, wire.MaxItems)
	for i := range items {
		items[i] = wire.Item{Have: 120, Want: 120}
	}
	if got, planned := Cost(items), rpcOverhead+wire.MaxItems*itemBytes; got > planned {
		t.Errorf("a catalogue takes %d bytes, planned are %d", got, planned)
	}
	run := summary.Run{First: 1 << 13, Parts: [][]byte{make([]byte, 20_000), make([]byte, 100)}}
	p := wire.Parts{Envelope: make([]byte, 400), Record: make([]byte, 400), Run: run, More: true}
	planned := rpcOverhead + runOverhead + len(p.Envelope) + len(p.Record) + run.EncodedBytes() + 3*len(run.Parts)
	if got := Cost(p); got > planned {
		t.Errorf("parts take %d bytes, planned are %d", got, planned)
	}
}
