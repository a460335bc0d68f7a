package exchange

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestRemovedWhileWaiting: what waits for an origin that is removed meanwhile is not taken for another's that has its
// directory index now.
func TestRemovedWhileWaiting(t *testing.T) {
	w := many(3)
	e := w.d.Entry(2)
	in := event.PartsReceived{
		From: "link", Transport: event.Direct, Group: wire.NewGroup(e.Tag(), summary.Epoch{Generation: 1}),
	}
	a, _ := w.x.Admit(in, e)
	w.x.requests = append(w.x.requests, &request{in: event.Asked{From: "other", Request: 7}, q: wire.PartsRequest{End: 1}, of: e, until: time.Hour, slot: w.x.served.Take(admission.Principal{}, nil)})
	w.d.Remove(2)
	w.pass()
	other := w.d.Add(0, "link", 1000)
	w.pass()
	if other.Index() != 2 {
		t.Fatalf("the other origin has index %d", other.Index())
	}
	w.out.Begin()
	w.x.Took(0, a, directory.Result{Learned: &event.Learned{}, End: 3})
	if got := w.x.link("link").trade(2); got != (trade{}) {
		t.Errorf("the other origin has a trade: %+v", got)
	}
	w.x.Took(0, a, directory.Result{Fault: event.FaultDelta})
	w.x.answerRequests(0)
	list := w.out.List()
	if len(list) != 2 || list[0] != event.Effect(event.Report{Peer: "link", Fault: event.FaultDelta}) {
		t.Fatalf("effects %v, want a report and a refusal", list)
	}
	if r, ok := list[1].(event.Answer); !ok || !r.Answer.(wire.Parts).Refused || r.Request != 7 {
		t.Errorf("the request is answered by %v", list[1])
	}
}

// TestRemovedWhileWanted: what a peer wants of an origin that is removed takes no place in its queue, nor does the next
// want of the origin that has the directory index now come into it twice.
func TestRemovedWhileWanted(t *testing.T) {
	w := many(3)
	l := w.x.link("link")
	for range 3 {
		e := w.d.Entry(2)
		l.wants = append(l.wants, &want{index: 2, of: summary.Epoch{Generation: 1}, end: 1})
		if err := w.x.Check(0); err != nil {
			t.Fatal(err)
		}
		tag := e.Tag()
		w.d.Remove(2)
		w.pass()
		if len(l.wants) > 0 {
			t.Fatalf("%v is wanted", l.wants)
		}
		w.d.Add(0, "link", tag+1000)
		w.pass()
	}
}

// TestInventedOriginsTakeLittle: what one link claims of origins that nobody else names takes memory of its own trades
// alone, although the planner looks at all links. All of them together take less than two of them with a trade for each.
func TestInventedOriginsTakeLittle(t *testing.T) {
	const links, invented = 20, 4096
	w := lone(rand.New(rand.NewPCG(1, 1)), 10_000_000)
	w.publish(plain.Of("self", plain.Keys(w.rng, 100)))
	for i := range links {
		w.meet(wire.Hello{Up: 10_000_000, Down: 10_000_000, Session: 1}, wire.PeerID(fmt.Sprint("link", i)))
	}
	var claims []wire.Item
	for range invented {
		claims = append(claims, wire.Item{Group: wire.NewGroup(w.rng.Uint64(), summary.Epoch{Generation: 1}), Have: 9})
	}
	w.give(0, event.CatalogueReceived{From: "link0", Items: claims, Bytes: 1})
	for second := range 10 {
		w.give(time.Duration(second)*time.Second, event.Tick{})
	}
	bytes := 0
	for _, l := range w.x.links {
		bytes += int(unsafe.Sizeof(*l)) + 8*cap(l.trades)
		for _, page := range l.trades {
			if page != nil {
				bytes += int(unsafe.Sizeof(*page))
			}
		}
	}
	if one := invented * int(unsafe.Sizeof(trade{})); bytes > 2*one || bytes < one {
		t.Errorf("%d bytes for trades with %d links, %d of one", bytes, links, one)
	}
}
