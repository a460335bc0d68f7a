package core

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
)

// knower is a machine beside links that send the parts they have and hold no key that is looked for.
type knower struct {
	t       *testing.T
	m       *Machine
	now     time.Duration
	origins map[uint64]overlaylab.Origin // summaries that links send when asked, by tag
	queries routing.QueryID
	done    []routing.Done
}

// newKnower returns a machine that knows 120 origins, all offered by each of some honest links.
func newKnower(t *testing.T, honest int) *knower {
	t.Helper()
	cfg := overlaylab.Alone(overlay.Config{})
	m, err := New(Config{Overlay: cfg, Routing: routing.Config{
		Self: cfg.Self, Has: func([]byte) bool { return false }, Rand: rand.New(rand.NewPCG(1, 2)),
		Fingerprint: func(k []byte) summary.Fingerprint { return overlaylab.Seed(0).Hasher().Fingerprint(k) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	k := &knower{t: t, m: m, origins: map[uint64]overlaylab.Origin{}}
	var items []wire.Item
	for i := range 120 {
		items = append(items, k.offered(fmt.Sprint("id", i), 1000))
	}
	for i := range honest {
		p := fmt.Sprint("id", i)
		k.link(p)
		k.offer(p, items...)
	}
	k.pass(10)
	return k
}

// offered makes a summary and returns the item that offers it.
func (k *knower) offered(id string, keys int) wire.Item {
	x := overlaylab.NewOrigin(wire.PeerID(id), overlaylab.Fingerprints(keys, 0, uint64(len(k.origins))), summary.Header{})
	k.origins[x.Group().OriginTag()] = x
	return wire.Item{Group: x.Group(), Have: uint16(x.Parts())}
}

// promised returns an item that offers a summary which nobody has.
func promised(id string) wire.Item {
	return wire.Item{Group: wire.NewGroup(wire.OriginTag(id), summary.Epoch{Generation: 1, Sequence: 1}), Have: 9}
}

func (k *knower) link(p string) {
	k.step(event.LinkOpened{Peer: wire.PeerID(p)})
	k.step(event.HelloReceived{Peer: wire.PeerID(p), Hello: wire.Hello{
		Up: overlaylab.Fast, Down: overlaylab.Fast, Session: 1, Records: []wire.Record{{Peer: wire.PeerID(p), Envelope: overlaylab.Record(wire.PeerID(p))}},
	}})
	k.step(event.Meshed{Peer: wire.PeerID(p), In: true})
}

func (k *knower) leave(p string) { k.step(event.LinkClosed{Peer: wire.PeerID(p)}) }

func (k *knower) offer(p string, items ...wire.Item) {
	k.step(event.CatalogueReceived{From: wire.PeerID(p), Items: items, Bytes: 20 * len(items)})
}

// step gives the machine an input, and then the answers to what it asks.
func (k *knower) step(in event.Input) {
	for _, e := range append([]event.Effect(nil), k.m.Step(k.now, in)...) {
		switch e := e.(type) {
		case event.SendCatalogue:
			for _, it := range e.Items {
				if x, has := k.origins[it.Group.OriginTag()]; has && it.Want > it.Have {
					k.step(x.Sent(e.To, int(it.Have), min(int(it.Want), x.Parts())))
				}
			}
		case event.Ask:
			a := event.Answered{Ask: e, Bytes: 10}
			switch e.Question.(type) {
			case wire.HaveRequest:
				a.Answer = wire.HaveAnswer{false}
			case wire.Query:
				a.Answer = wire.Answer{Final: true}
			}
			k.step(a)
		case routing.Done:
			k.done = append(k.done, e)
		}
	}
}

func (k *knower) pass(seconds int) {
	for range seconds * int(time.Second/overlaylab.Tick) {
		k.now += overlaylab.Tick
		k.step(event.Tick{})
	}
}

// messages returns the number of messages of a search for a key that nobody has, beyond those that ask each link.
func (k *knower) messages() int {
	k.queries++
	k.step(routing.Start{Query: routing.Query{ID: k.queries, Key: []byte("absent")}})
	if len(k.done) != int(k.queries) {
		k.t.Fatalf("%d searches of %d have ended", len(k.done), k.queries)
	}
	return k.done[k.queries-1].Stats.Messages - 2*k.m.Overlay.Links()
}

// TestPromises: what linked identities promise and do not give takes nothing from what a peer vouches for, and a search
// for a key that nobody has costs no more for it. That holds whether they go, stay, come again as others, or have a
// summary of their own.
func TestPromises(t *testing.T) {
	for name, attack := range map[string]func(k *knower, second int){
		"announces itself": func(k *knower, s int) {
			if s == 0 {
				k.link("liar")
			}
			k.offer("liar", promised("liar"))
		},
		"comes again as others": func(k *knower, s int) {
			k.leave(fmt.Sprint("liar", s-1))
			k.link(fmt.Sprint("liar", s))
			k.offer(fmt.Sprint("liar", s), promised(fmt.Sprint("liar", s)))
		},
		"has a key, and names others": func(k *knower, s int) {
			if s == 0 {
				k.link("liar")
				k.offer("liar", k.offered("liar", 1))
			}
			k.offer("liar", promised(fmt.Sprint("ghost", s)))
		},
		"with a key, comes again as others, and names one": func(k *knower, s int) {
			k.leave(fmt.Sprint("liar", s-1))
			p := fmt.Sprint("liar", s)
			k.link(p)
			k.offer(p, k.offered(p, 1))
			k.step(event.Tick{})
			k.offer(p, promised(fmt.Sprint("ghost", s)))
		},
		"leaves": func(k *knower, s int) {
			if s > 0 {
				return
			}
			k.link("liar")
			k.offer("liar", promised("liar"), promised("ghost"))
			k.leave("liar")
		},
		"twelve announce themselves and each other": func(k *knower, s int) {
			for i := range 12 {
				p := fmt.Sprint("liar", i)
				if s == 0 {
					k.link(p)
				}
				for j := range 12 {
					k.offer(p, promised(fmt.Sprint("liar", j)))
				}
			}
		},
	} {
		for _, honest := range []int{3, 8} {
			k := newKnower(t, honest)
			want := k.messages()
			for s := range 30 {
				attack(k, s)
				k.pass(1)
				if c, m := k.m.Overlay.Covers().Share(), k.messages(); c < 1 || m > want {
					t.Errorf("%s, beside %d links, after %d s: it covers %.4f; %d messages beyond those to links, want %d", name, honest, s+1, c, m, want)
					break
				}
			}
		}
	}
}

// TestOffersCount: an origin that an honest link offers counts as unknown until its summary comes, and while the link
// is there. So it is with all that a newcomer's first links offer.
func TestOffersCount(t *testing.T) {
	k := newKnower(t, 3)
	incomplete := func(what string, want bool) {
		t.Helper()
		if got := k.m.Overlay.Incomplete(); got != want {
			t.Errorf("%s: incomplete: %v", what, got)
		}
	}
	incomplete("all are known", false)
	it := k.offered("late", 1000)
	late := k.origins[it.Group.OriginTag()]
	delete(k.origins, it.Group.OriginTag())
	k.offer("id0", it)
	k.pass(2)
	incomplete("one is on its way", true)
	if k.m.Overlay.Covers().Depth() == 0 {
		t.Error("it vouches for everybody while a summary is on its way")
	}
	k.step(late.Sent("id0", 0, 1))
	k.pass(1)
	incomplete("it has come", false)
	k.offer("id0", promised("gone"))
	incomplete("another is offered", true)
	k.leave("id0")
	k.pass(1)
	incomplete("the link that offered it has closed", false)

	k = newKnower(t, 0)
	k.link("first")
	k.offer("first", promised("a"))
	incomplete("a newcomer's link offers one", true)
}
