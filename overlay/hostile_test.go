package overlay

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

func linked(t testing.TB, o *Overlay, p wire.PeerID) {
	t.Helper()
	step(t, o, 0, event.LinkOpened{Peer: p})
	step(t, o, 0, event.HelloReceived{Peer: p, Hello: wire.Hello{Up: 10_000_000, Down: 10_000_000, Session: 1}})
	step(t, o, 0, event.Meshed{Peer: p, In: true})
}

// A link that announces made-up origins, without end, leaves room for what others announce, and is forgotten with them.
func TestFloodOfOrigins(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 1)), Config{})
	linked(t, o, "liar")
	linked(t, o, "honest")
	now := time.Duration(0)
	for i := range uint64(3 * directory.MaxPending) {
		now += 5 * time.Millisecond // at 4 kB/s, which a link may use for announcements
		step(t, o, now, event.CatalogueReceived{From: "liar", Items: []wire.Item{{Group: wire.NewGroup(i+1, summary.Epoch{Generation: 1}), Have: 9}}, Bytes: 20})
	}
	if o.directory.Pending() != directory.MaxPendingLink {
		t.Errorf("%d origins are known of one link, want %d", o.directory.Pending(), directory.MaxPendingLink)
	}
	x := plain.Of("x", []summary.Fingerprint{1, 2, 3})
	step(t, o, now, event.CatalogueReceived{From: "honest", Items: []wire.Item{{Group: wire.GroupOf(x.Stream.Header()), Have: 1}}, Bytes: 20})
	if o.directory.Tagged(wire.OriginTag("x")) == nil {
		t.Error("an honest announcement found no room")
	}
	step(t, o, now+time.Second, event.LinkClosed{Peer: "liar"})
	step(t, o, now+time.Minute, event.Tick{})
	if n := o.directory.Known(); n > 1 {
		t.Errorf("%d origins are remembered, want the honest one", n)
	}
}

// One link that floods the line with made-up origins keeps nobody from learning of others, neither meanwhile nor after.
func TestFloodLeavesTheLine(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 1)), Config{})
	for _, p := range []wire.PeerID{"liar", "honest", "b", "c", "d"} {
		linked(t, o, p)
	}
	var all []plain.Origin
	for i := range 125 {
		all = append(all, plain.Of(wire.PeerID(fmt.Sprint("id", i)), []summary.Fingerprint{summary.Fingerprint(i), 7, 8, 9}))
	}
	const every, flooded = 200 * time.Millisecond, time.Minute
	invented := uint64(0)
	give := func(now time.Duration, in event.Input) {
		for _, e := range append([]event.Effect(nil), step(t, o, now, in)...) {
			c, ok := e.(event.SendCatalogue)
			if !ok || c.To != "honest" {
				continue
			}
			for _, it := range c.Items {
				for _, s := range all {
					if run, err := s.Stream.Run(0, 1); err == nil && it.Want > 0 && wire.GroupOf(s.Stream.Header()) == it.Group {
						step(t, o, now, event.PartsReceived{
							From: "honest", Group: it.Group, Bytes: 500, Parts: wire.Parts{Envelope: s.Envelope, Record: s.Record, Run: run},
						})
					}
				}
			}
		}
	}
	run := func(from, to time.Duration) {
		for now := from; now < to; now += every {
			if now < flooded {
				var items []wire.Item
				for range 5000 { // half a megabyte a second
					invented++
					items = append(items, wire.Item{Group: wire.NewGroup(invented<<32^invented, summary.Epoch{Generation: 1}), Have: 9})
				}
				give(now, event.CatalogueReceived{From: "liar", Items: items, Bytes: 20 * len(items)})
			}
			give(now, event.Tick{})
			if o.region.Depth() != 0 {
				t.Fatalf("at %v: depth %d", now, o.region.Depth())
			}
		}
	}
	for i, s := range all[:120] {
		now := time.Duration(i) * flooded / 120
		give(now, event.CatalogueReceived{From: "honest", Items: []wire.Item{{Group: wire.GroupOf(s.Stream.Header()), Have: 1}}, Bytes: 20})
		run(now, now+flooded/120)
	}
	if o.Origins() != 120 {
		t.Errorf("%d origins of 120 are known after the flood", o.Origins())
	}
	for _, s := range all[120:] {
		give(flooded, event.CatalogueReceived{From: "honest", Items: []wire.Item{{Group: wire.GroupOf(s.Stream.Header()), Have: 1}}, Bytes: 20})
	}
	run(flooded, flooded+2*time.Second)
	if o.Origins() != 125 {
		t.Errorf("%d origins of 125 are known 2 s after the flood", o.Origins())
	}
	if err := o.Check(); err != nil {
		t.Error(err)
	}
}

// Whoever asks again and again to be a neighbour, where there is no room, uses up no more than what the line has.
func TestHellosLeaveRoom(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 6)), Config{Up: 256_000, Down: 256_000})
	linked(t, o, "honest")
	asks := wire.Hello{Up: 10_000_000, Down: 10_000_000, Session: 1, Neighbour: true}
	for i := range 32 {
		p := wire.PeerID(fmt.Sprint("peer", i))
		step(t, o, 0, event.LinkOpened{Peer: p})
		step(t, o, 0, event.HelloReceived{Peer: p, Hello: asks})
	}
	if !o.topology.Full() {
		t.Fatal("there is room for more neighbours")
	}
	linked(t, o, "liar")
	now := 10 * time.Second
	step(t, o, now, event.Tick{})
	for i := range 1000 {
		step(t, o, now+time.Duration(i)*time.Millisecond, event.HelloReceived{Peer: "liar", Hello: asks})
	}
	if room := o.Room(now+time.Second, "honest"); room < 0 {
		t.Errorf("the line owes %d bytes", -room)
	}
}

// Origins near us that somebody made up don't make the network seem large.
func TestMadeUpPlaces(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 4)), Config{})
	linked(t, o, "liar")
	for i := range uint64(64) {
		g := wire.NewGroup(wire.OriginTag("self")^(i+1), summary.Epoch{Generation: 1})
		step(t, o, 0, event.CatalogueReceived{From: "liar", Items: []wire.Item{{Group: g, Have: 9}}, Bytes: 20})
	}
	for now := time.Second; now < time.Minute; now += time.Second {
		step(t, o, now, event.Tick{})
	}
	const few = 4 // twice as many as are known by something signed, and twice that
	if o.region.Depth() != 0 || o.region.Size() > few {
		t.Errorf("depth %d in a network of %.0f by estimate", o.region.Depth(), o.region.Size())
	}
}

// One link that names origins near us, again and again, takes nothing from the range for which we vouch, nor makes
// queries look poor.
func TestMadeUpNeighbours(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 4)), Config{})
	for _, p := range []wire.PeerID{"liar", "a", "b", "c"} {
		linked(t, o, p)
	}
	for now := time.Second; now < 10*time.Minute; now += time.Second {
		if now%(30*time.Second) == time.Second {
			g := wire.NewGroup(wire.OriginTag("self")^uint64(now), summary.Epoch{Generation: 1})
			step(t, o, now, event.CatalogueReceived{From: "liar", Items: []wire.Item{{Group: g, Have: 9}}, Bytes: 20})
		}
		step(t, o, now, event.Tick{})
		if o.Vouched() > 0 || o.Precise().Depth() > 0 || o.FalseMatches() > 0 || o.Incomplete() {
			t.Fatalf("at %v: it vouches for depth %d, sharp to %d, %v false matches", now, o.Vouched(), o.Precise().Depth(), o.FalseMatches())
		}
	}
}

// A few links that say that the network is huge don't make it so.
func TestBoastOfSize(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 5)), Config{})
	for i := range 4 {
		p, now := wire.PeerID(fmt.Sprint("liar", i)), time.Duration(i)*time.Second
		step(t, o, now, event.LinkOpened{Peer: p})
		step(t, o, now, event.HelloReceived{Peer: p, Hello: wire.Hello{Up: 10_000_000, Down: 10_000_000, Session: 1, Network: 1<<31 - 1}})
		step(t, o, now+time.Second/2, event.Tick{})
		if o.region.Depth() != 0 {
			t.Fatalf("depth %d on the word of %d links", o.region.Depth(), i+1)
		}
	}
}

// Many identities, each with a true summary, take no more memory than there is, and the directory stays of use.
func TestManyIdentities(t *testing.T) {
	const limit, identities = 50_000, 500
	o := alone(t, rand.New(rand.NewPCG(1, 2)), Config{Memory: limit})
	linked(t, o, "sybil")
	var all []plain.Origin
	for i := range identities {
		s := plain.Of(wire.PeerID(fmt.Sprint("id", i)), []summary.Fingerprint{summary.Fingerprint(i), 7, 8, 9})
		all = append(all, s)
		step(t, o, 0, event.CatalogueReceived{From: "sybil", Items: []wire.Item{{Group: wire.GroupOf(s.Stream.Header()), Have: 1}}, Bytes: 20})
	}
	most := 0
	for now := time.Second; now < time.Minute; now += time.Second {
		var asked []wire.Item
		for _, e := range step(t, o, now, event.Tick{}) {
			if c, ok := e.(event.SendCatalogue); ok {
				asked = append(asked, c.Items...)
			}
		}
		for _, it := range asked {
			for _, s := range all {
				if run, err := s.Stream.Run(0, 1); err == nil && it.Want > 0 && wire.GroupOf(s.Stream.Header()) == it.Group {
					step(t, o, now, event.PartsReceived{
						From: "sybil", Group: it.Group, Bytes: 500, Parts: wire.Parts{Envelope: s.Envelope, Record: s.Record, Run: run},
					})
				}
			}
		}
		most = max(most, o.Memory())
	}
	if most > limit || o.Origins() == 0 || o.Origins() >= identities {
		t.Errorf("%d bytes held at most under a limit of %d, of %d origins", most, limit, o.Origins())
	}
	if err := o.Check(); err != nil {
		t.Error(err)
	}
}

// A header of a kilobyte that is wrong costs little to refuse.
func TestRefusingAHeaderAllocatesLittle(t *testing.T) {
	o := alone(t, rand.New(rand.NewPCG(1, 3)), Config{})
	linked(t, o, "p")
	x := plain.Of("x", []summary.Fingerprint{1, 2, 3})
	group := wire.GroupOf(x.Stream.Header())
	step(t, o, 0, event.CatalogueReceived{From: "p", Items: []wire.Item{{Group: group, Have: 1}}, Bytes: 20})
	step(t, o, time.Second, event.Tick{})
	huge := append([]byte(nil), x.Envelope...)
	copy(huge[1+8+4+1+1+12:], []byte{0xff, 0xff, 0xff, 0xff}) // 2^32-1 keys
	refused := 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		for _, e := range step(t, o, time.Second, event.PartsReceived{
			From: "p", Transport: event.Direct, Group: group, Bytes: 300, Parts: wire.Parts{Envelope: huge, Record: x.Record, Run: summary.Run{Parts: [][]byte{{1}}}},
		}) {
			if f, ok := e.(event.Report); ok && f.Fault == event.FaultHeader {
				refused++
			}
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 100; refused != 100 || each > 4<<10 {
		t.Errorf("refused %d times of 100, %d bytes allocated each", refused, each)
	}
}
