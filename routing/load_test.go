package routing

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// equals is a directory of peers that all match everything equally well, and are linked.
type equals int

func (n equals) Candidates([]byte, summary.Fingerprint) (out []overlay.Candidate) {
	for i := range int(n) {
		out = append(out, overlay.Candidate{Peer: wire.PeerID(fmt.Sprint(i)), Rate: 0.01, N: 100, RTT: time.Millisecond, Connected: true})
	}
	return out
}
func (equals) FalseMatches() float64                          { return 0 }
func (equals) Covers() space.Range                            { return space.Range{} }
func (equals) Precise() space.Range                           { return space.Range{} }
func (equals) HasSummary(wire.PeerID) bool                    { return false }
func (equals) Peers() []region.Contact                        { return nil }
func (equals) Contacts() []region.Contact                     { return nil }
func (equals) Fresh(wire.PeerID) (age time.Duration, ok bool) { return }
func (equals) Origins() int                                   { return 0 }
func (equals) Knowledge() []overlay.Knowledge                 { return nil }
func (equals) Linked() []wire.PeerID                          { return nil }
func (equals) Record(wire.PeerID) (r wire.Record, ok bool)    { return }

// confirmed is a peer's answer to a confirmation; nil: none comes.
func confirmed(ask event.Ask, a wire.Message) event.Answered {
	return event.Answered{Ask: ask, Answer: a}
}

func newEquals(t *testing.T, n int) *Router {
	r, err := New(Config{
		Self: "self", Has: func([]byte) bool { return false }, Rand: rand.New(rand.NewPCG(1, 1)),
		Fingerprint: func(key []byte) summary.Fingerprint { return summary.Fingerprint(key[0]) },
	}, equals(n))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLoadSpreads: of peers that match equally well those are asked first that have nothing to answer yet, whatever the
// key.
func TestLoadSpreads(t *testing.T) {
	r := newEquals(t, 10)
	asked := map[wire.PeerID]int{}
	for id := range QueryID(10) {
		for _, e := range r.Step(0, Start{Query{ID: id, Key: []byte("one key")}}) {
			if c, ok := e.(event.Ask); ok {
				asked[c.To.Peer]++
			}
		}
	}
	if len(asked) != 10 {
		t.Errorf("10 queries asked %v", asked)
	}
}

// TestLoadIsExact: what is counted is what the open queries wait for, however they go.
func TestLoadIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newEquals(t, 4)
		var confirms []event.Ask
		now := time.Duration(0)
		for id := range QueryID(rapid.IntRange(1, 40).Draw(rt, "steps")) {
			var in event.Input = event.Tick{}
			c := event.Ask{To: wire.Record{Peer: "0"}, Question: wire.HaveRequest{}}
			if len(confirms) > 0 {
				c = rapid.SampledFrom(confirms).Draw(rt, "confirm")
			}
			switch rapid.IntRange(0, 4).Draw(rt, "input") {
			case 0, 1:
				in = Start{Query{ID: id, Key: []byte{byte(id)}, Mode: wire.Mode(id % 2)}}
			case 2:
				in = confirmed(c, wire.HaveAnswer{id%3 == 0})
			case 3:
				in = confirmed(c, nil)
			case 4:
				in = Cancel{ID: QueryID(c.Search)}
			}
			now += time.Duration(rapid.IntRange(0, 3000).Draw(rt, "ms")) * time.Millisecond
			for _, e := range r.Step(now, in) {
				if c, ok := e.(event.Ask); ok {
					confirms = append(confirms, c)
				}
			}
			want := map[wire.PeerID]int{}
			for _, q := range r.open {
				for _, c := range q.candidates {
					if c.state == asking {
						want[c.record.Peer]++
					}
				}
			}
			if fmt.Sprint(r.load) != fmt.Sprint(want) {
				rt.Fatalf("load %v, want %v", r.load, want)
			}
		}
	})
}

// TestManyHolders: with All, the more holders were found the more are asked at a time, and never more than bound.Few.
func TestManyHolders(t *testing.T) {
	const holders = MaxCandidates + 500
	r := newEquals(t, holders)
	now, rounds, found := time.Duration(0), 0, 0
	effects := slices.Clone(r.Step(now, Start{Query{ID: 1, Key: []byte("one key"), Mode: wire.All, Budget: 4 * holders}}))
	for done := false; !done; rounds++ {
		var asked []event.Ask
		for _, e := range effects {
			switch e := e.(type) {
			case event.Ask:
				asked = append(asked, e)
			case Found:
				found++
			case Done:
				done = true
			}
		}
		if most := 16; rounds == 0 && len(asked) != most || len(asked) > bound.Few || !done && len(asked) == 0 {
			t.Fatalf("%d asked at once in round %d", len(asked), rounds)
		}
		now += 100 * time.Millisecond
		effects = effects[:0]
		for _, c := range asked {
			effects = append(effects, r.Step(now, confirmed(c, wire.HaveAnswer{true}))...)
		}
	}
	if found != holders || rounds > 60 {
		t.Errorf("%d of %d holders found in %d rounds; 16 at a time take %d", found, holders, rounds, holders/16)
	}
}
