package region

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// acquainted is an overlay that covers half of the places and has heard of origins that are like it.
func acquainted(t *testing.T, origins int) *world {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	fps := make([]summary.Fingerprint, 200)
	for i := range fps {
		fps[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	return knowing(t, "self", fps, fps, origins)
}

// knowing is a peer with keys of its own that knows some origins of other keys.
func knowing(t *testing.T, self wire.PeerID, own, others []summary.Fingerprint, origins int) *world {
	t.Helper()
	o := alone(t, rand.New(rand.NewPCG(1, 1)), Config{Self: self})
	s := sign(self, own)
	step(t, o, 0, event.Published{Stream: s.Stream, Envelope: s.Envelope, Record: s.Record})
	knows(t, o, others, "id", origins)
	if n := o.directory.Origins(); n != origins {
		t.Fatalf("%d of %d origins are known", n, origins)
	}
	return o
}

// knows introduces origins to a peer, a few at a time.
func knows(t *testing.T, o *world, fps []summary.Fingerprint, name string, origins int) {
	t.Helper()
	for i := range origins {
		s := sign(wire.PeerID(fmt.Sprint(name, i)), fps)
		run, err := s.Stream.Run(0, 1)
		if err != nil {
			t.Fatal(err)
		}
		o.ask("friend")
		step(t, o, 0, event.Answered{Ask: event.Ask{To: wire.Record{Peer: "friend"}}, Answer: wire.Names{Introductions: []wire.Parts{{Envelope: s.Envelope, Record: s.Record, Run: run}}}})
	}
}

// TestKnownThoughNotReached: who cannot be dialled just now is not asked, but counts as known: else others would send
// its summary with every answer.
func TestKnownThoughNotReached(t *testing.T) {
	const origins = 8
	o := acquainted(t, origins)
	for i := range origins / 2 {
		step(t, o, time.Second, event.DialFailed{Peer: wire.PeerID(fmt.Sprint("id", i))})
	}
	similar := o.similar()
	if n := len(o.reachable(similar)); n != origins/2 {
		t.Errorf("%d may be asked, want %d", n, origins/2)
	}
	for _, near := range []bool{false, true} {
		q := o.inquiry("friend")
		q.Near, q.Known = near, o.knownTo(similar, near)
		if len(q.Known) != origins {
			t.Errorf("%d are said to be known, want %d", len(q.Known), origins)
		}
		for _, k := range q.Known {
			e := o.directory.Tagged(tagAt(o, k.Place))
			if ep, _ := e.Epoch(); uint16(ep.Sequence) != k.Sequence {
				t.Errorf("%q is said to be known up to %d, want %d", e.Peer(), k.Sequence, ep.Sequence)
			}
		}
	}
}

// tagAt is the tag of the entry at the place with the given first bits.
func tagAt(o *world, place uint32) uint64 {
	for _, e := range o.directory.Others() {
		if e != nil && uint32(o.directory.Place(e)>>32) == place {
			return e.Tag()
		}
	}
	return 0
}

// TestAskedLater: a peer that was not asked because there was no connection stays a contact. One that does not answer
// is forgotten.
func TestAskedLater(t *testing.T) {
	o := acquainted(t, 1)
	o.contacts.SetDepth(1)
	contact := wire.PeerID("")
	for i := 0; contact == ""; i++ {
		p := wire.PeerID(fmt.Sprint("contact", i))
		if space.Around(o.place, 1).Contains(p.Place()) {
			continue
		}
		contact = p
		o.contacts.Add(Contact{Peer: string(p), Record: []byte(p), Place: p.Place()})
	}
	for _, later := range []bool{true, false} {
		for range 5 {
			o.ask(contact)
			o.onNoNames(contact, later)
		}
		if _, kept := o.contacts.Get(contact.Place(), string(contact)); kept != later {
			t.Errorf("not asked yet: %v, kept: %v", later, kept)
		}
	}
}

// TestLinkedAlikeTakeTurns: of those alike that are linked, the one that was asked longest ago is asked.
func TestLinkedAlikeTakeTurns(t *testing.T) {
	const linked = 3
	o := acquainted(t, linked+1)
	for i := range linked {
		p := wire.PeerID(fmt.Sprint("id", i))
		step(t, o, 0, event.LinkOpened{Peer: p})
		o.directory.Link(p).Gossiped = time.Second
	}
	asked := map[wire.PeerID]int{}
	for round := range 2 * linked {
		to := o.linkedAlike(o.similar())[0].Peer()
		asked[to]++
		o.directory.Link(to).Gossiped = time.Duration(2+round) * time.Second
	}
	for p, n := range asked {
		if n != 2 {
			t.Errorf("%q was asked %d times in %d rounds of %d", p, n, 2*linked, linked)
		}
	}
}

// TestGossipAsksNobodyTwice: a round asks nobody whose answer is awaited, to a search or to another round.
func TestGossipAsksNobodyTwice(t *testing.T) {
	for _, near := range []bool{false, true} {
		for _, similar := range []bool{false, true} {
			o := acquainted(t, 6)
			o.depth = 2
			o.contacts.SetDepth(2)
			contacts := meets(o, 2)
			for _, p := range []wire.PeerID{"id0", "id1", "id2"} {
				step(t, o, 0, event.LinkOpened{Peer: p})
			}
			asked := 0
			for {
				var alike []*directory.Entry
				if similar {
					alike = o.reachable(o.similar())
				}
				to, ok := o.whomToAsk(alike, near)
				if !ok {
					break
				}
				if o.awaits(to.Peer) {
					t.Fatalf("near %v, similar %v: %q is asked again, after %d others", near, similar, to.Peer, asked)
				}
				o.ask(to.Peer)
				asked++
			}
			if contacts == 0 || asked < 3+3 {
				t.Errorf("near %v, similar %v: only %d were asked", near, similar, asked)
			}
		}
	}
}

// TestSeekersAskForTheirLike: who looks up its own place hears of those like it meanwhile.
func TestSeekersAskForTheirLike(t *testing.T) {
	o := acquainted(t, 1)
	o.cfg.Memory = 1 << 20 // for a few hundred origins
	o.Changed()
	step(t, o, 0, event.LinkOpened{Peer: "id0"})
	var sought *wire.Inquiry
	for now := time.Second; sought == nil && now < agenda.Lately; now += time.Second {
		for _, e := range step(t, o, now, event.Tick{}) {
			if a, ok := e.(event.Ask); ok {
				q := a.Question.(wire.Inquiry)
				sought = &q
			}
		}
	}
	if sought == nil || !sought.Near || !sought.Nearer {
		t.Fatalf("asked %+v", sought)
	}
	if bar := o.least(o.similar()); sought.Least != bar || bar > 1<<15 {
		t.Errorf("peers that hold %d/65536 are of interest, want %d", sought.Least, bar)
	}
	if len(sought.Known) == 0 || sought.Known[0].Sequence == 0 {
		t.Errorf("%+v are said to be known: the one alike, with its epoch, is not", sought.Known)
	}
}

// TestSeekingAsksNobodyTwice: who looks for its range asks nobody whose answer is awaited.
func TestSeekingAsksNobodyTwice(t *testing.T) {
	for _, linked := range []bool{true, false} {
		o := acquainted(t, 2)
		o.directory.SetRoom(littleRoom - 1)
		if linked {
			step(t, o, 0, event.LinkOpened{Peer: "id0"})
			step(t, o, 0, event.LinkOpened{Peer: "id1"})
		} else {
			o.seeker.vain = 1 // so that peers without a connection are asked
		}
		o.ask("id0")
		asked := 0
		for now := time.Second; now < Settled; now += agenda.Beat {
			if to, ok := o.seek(now); ok {
				if o.awaits(to.Peer) {
					t.Fatalf("linked %v: %q is asked again", linked, to.Peer)
				}
				o.ask(to.Peer)
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("linked %v: %d were asked, want the one whose answer is not awaited", linked, asked)
		}
	}
}
