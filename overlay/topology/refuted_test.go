package topology

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

const peer wire.PeerID = "peer"

var tag = summary.Seed{Network: "topology"}.Tag()

// known is a directory in a network where nobody signs, linked with one peer.
func known() *directory.Directory {
	d := directory.New(directory.Config{
		Self: "self", Seed: tag, Memory: 1 << 30, MaxOrigins: 100, Rand: rand.New(rand.NewPCG(1, 1)),
		OpenHeader: summary.ParseHeader, OpenRecord: plain.OpenRecord,
	})
	d.Open(peer, "")
	return d
}

// publish brings an epoch of the peer's.
func publish(t *testing.T, d *directory.Directory, at time.Duration, epoch uint32) {
	t.Helper()
	keys := make([]summary.Fingerprint, 100)
	for i := range keys {
		keys[i] = summary.Fingerprint(i) << 38
	}
	s := summaryOf(peer, epoch, keys)
	in := s.Sent(peer, 0, s.Parts())
	if r := d.Take(at, d.Add(at, peer, in.Group.OriginTag()), in); r.Learned == nil {
		t.Fatalf("epoch %d: %+v", epoch, r)
	}
}

// summaryOf is an epoch of a peer's.
func summaryOf(p wire.PeerID, epoch uint32, keys []summary.Fingerprint) plain.Origin {
	return plain.New(p, keys, summary.Header{Seed: tag, Epoch: summary.Epoch{Generation: 1, Sequence: epoch}, Lifetime: 100 * time.Hour})
}

// A peer that an audit refutes keeps its chance of a random slot, and is believed again in time. It is sooner if it
// publishes, but not the sooner the more it publishes.
func TestRefutedForAWhile(t *testing.T) {
	d := known()
	top := New(Config{Overlap: 1, Random: 2, MaxLinks: 3}, d)
	epoch, at := uint32(0), time.Duration(0)
	renew := func() {
		epoch++
		publish(t, d, at, epoch)
	}
	check := func(what string, similar bool) {
		t.Helper()
		e := d.Lookup(peer)
		for k, want := range map[Kind]bool{Random: true, Near: true, Similar: similar} {
			if got := top.eligible(at, e, k, func(*neighbour) bool { return true }); got != want {
				t.Errorf("%s, %v: %v for a %v slot: %v", what, e, at, k, got)
			}
		}
	}
	renew()
	check("at first", true)
	at = 2 * time.Minute
	d.Outcome(at, peer, 0, 20)
	check("refuted", false)
	for range 10 {
		at += time.Second
		renew()
	}
	check("after many epochs in a row", false)
	at += agenda.Seldom
	renew()
	check("after one a while later", false) // the answers count half for the first time
	at += agenda.Seldom
	renew()
	check("after another a while later", true)

	at += agenda.Seldom
	d.Outcome(at, peer, 0, 20)
	check("refuted again", false)
	for range 3 * int(agenda.Faded/time.Second) { // what it answered before counts as well
		at += time.Second
		d.Step(at)
		d.Tidy(at)
	}
	check("after that time", true)
}
