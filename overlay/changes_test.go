package overlay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// A hello whose records add a peer to a full group of addresses, and take it out again for the sender's own, is no
// more than a hello.
func TestHelloThatAddsAndRemoves(t *testing.T) {
	const full = 64
	o := alone(t, rand.New(rand.NewPCG(1, 7)), Config{Group: func(wire.Record) string { return "one" }, MaxGroup: full})
	step(t, o, 0, event.LinkOpened{Peer: "liar"})
	hello := func(at time.Duration, names ...wire.PeerID) {
		h := wire.Hello{Up: 10_000_000, Down: 10_000_000, Session: 1}
		for _, p := range names {
			h.Records = append(h.Records, wire.Record{Peer: p, Envelope: []byte(p)})
		}
		step(t, o, at, event.HelloReceived{Peer: "liar", Hello: h})
	}
	for i := range full {
		hello(time.Duration(i)*time.Millisecond, wire.PeerID(fmt.Sprint("id", i)))
	}
	hello(time.Second, "id-last", "liar")
	if e := o.directory.Lookup("liar"); e == nil || e.Record().Envelope == nil {
		t.Error("the record of the linked peer found no room")
	}
}
