package overlay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// A hello whose records add a peer to a full group of addresses, and take it out again for the sender's own, is no
// more than a hello.
func TestHelloThatAddsAndRemoves(t *testing.T) {
	const full = 64
	o := alone(t, rand.New(rand.NewPCG(1, 7)), Config{Group: func(Record) string { return "one" }, MaxGroup: full})
	step(t, o, 0, LinkOpened{Peer: "liar"})
	hello := func(at time.Duration, names ...PeerID) {
		h := Hello{Up: 10_000_000, Down: 10_000_000, Session: 1}
		for _, p := range names {
			h.Records = append(h.Records, Record{Peer: p, Envelope: []byte(p)})
		}
		step(t, o, at, HelloReceived{Peer: "liar", Hello: h})
	}
	for i := range full {
		hello(time.Duration(i)*time.Millisecond, PeerID(fmt.Sprint("id", i)))
	}
	hello(time.Second, "id-last", "liar")
	if e := o.directory.Lookup("liar"); e == nil || e.Record().Envelope == nil {
		t.Error("the record of the linked peer found no room")
	}
}
