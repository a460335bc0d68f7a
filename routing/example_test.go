package routing_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
)

// friends is a directory of two peers that are known well.
type friends struct{}

func (friends) Candidates([]byte, summary.Fingerprint) []overlay.Candidate {
	return []overlay.Candidate{{Peer: "ann", Rate: 0.001, Connected: true}, {Peer: "bob", Rate: 0.001}}
}
func (friends) FalseMatches() float64                          { return 0.002 }
func (friends) Fresh(wire.PeerID) (age time.Duration, ok bool) { return 0, false }
func (friends) Origins() int                                   { return 0 }
func (friends) Knowledge() []overlay.Knowledge                 { return nil }
func (friends) Linked() []wire.PeerID                          { return []wire.PeerID{"ann"} }
func (friends) Record(wire.PeerID) (_ wire.Record, _ bool)     { return }
func (friends) Covers() space.Range                            { return space.Range{} }
func (friends) Precise() space.Range                           { return space.Range{} }
func (friends) HasSummary(wire.PeerID) bool                    { return true }
func (friends) Peers() []region.Contact                        { return nil }
func (friends) Contacts() []region.Contact                     { return nil }

func ExampleRouter() {
	r, err := routing.New(routing.Config{
		Self:        "me",
		Has:         func([]byte) bool { return false },
		Rand:        rand.New(rand.NewPCG(1, 2)),
		Fingerprint: func([]byte) summary.Fingerprint { return 42 },
	}, friends{})
	if err != nil {
		panic(err)
	}
	var asked event.Ask
	do := func(now time.Duration, in event.Input) {
		for _, e := range r.Step(now, in) {
			switch e := e.(type) { // others say when to wake, and tell the overlay
			case event.Ask:
				asked = e
				fmt.Printf("%v: does %s hold %q?\n", now, e.To.Peer, e.Question.(wire.HaveRequest).Keys)
			case routing.Found, routing.Done:
				fmt.Printf("%v: %v\n", now, e)
			}
		}
	}
	do(0, routing.Start{Query: routing.Query{ID: 1, Key: []byte("key")}})
	do(30*time.Millisecond, event.Answered{Ask: asked, Answer: wire.HaveAnswer{true}})
	// Output:
	// 0s: does ann hold ["key"]?
	// 30ms: Found q1 ann
	// 30ms: Done q1 enough found=1 probes=1 false=0 messages=2 elapsed=30ms
}
