package overlay_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// loop is the plain twin of Candidates: every prefix held is asked.
func loop(o *overlay.Overlay, f summary.Fingerprint) (peers []wire.PeerID) {
	for _, d := range o.Directory() {
		if p, ok := o.Held(d.Peer); ok && p.Contains(f) {
			peers = append(peers, d.Peer)
		}
	}
	return peers
}

func TestCandidatesAreThoseOfTheLoop(t *testing.T) {
	net := build(t, mixed(20), 2000, 11)
	net.Peers[3].Overlay.Step(0, event.Tick{})
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 12 {
		net.Run(time.Duration(round) * 2 * time.Second)
		if round == 5 { // some change, one goes
			for i := range 4 {
				net.Publish(i, overlaylab.Fingerprints(2100, 1000, uint64(i)))
			}
		}
		some := overlaylab.Fingerprints(2000, 1000, uint64(rng.IntN(20)))
		for range 20 {
			f := some[rng.IntN(len(some))]
			for i, p := range net.Peers {
				var got []wire.PeerID
				for _, c := range p.Overlay.Candidates(nil, f) {
					got = append(got, c.Peer)
				}
				if want := loop(p.Overlay, f); !slices.Equal(got, want) {
					t.Fatalf("round %d, peer %d: candidates %q, want %q", round, i, got, want)
				}
			}
		}
	}
}

// What has settled is kept without its encoded parts; who comes later gets them all the same.
func TestSettledPrefixesAreCompact(t *testing.T) {
	const peers = 12
	net := build(t, slices.Repeat([]uint64{fast}, peers), 2000, 3)
	net.Run(20 * time.Second)
	o := net.Peers[1].Overlay
	before, depths := o.Memory(), o.Directory()
	net.Run(net.Now + time.Minute)
	if after := o.Directory(); !slices.Equal(depths, after) {
		t.Fatalf("the directory was %v and is %v", depths, after)
	}
	parts := 0
	for _, d := range depths {
		parts += d.Bytes
	}
	if saved := before - o.Memory(); saved < parts*9/10 {
		t.Errorf("%d bytes of memory less, of %d bytes of parts", saved, parts)
	}
	late, err := net.Add("late", overlay.Config{Up: fast, Down: fast})
	if err != nil {
		t.Fatal(err)
	}
	net.Connect(late, 1)
	net.Run(net.Now + 20*time.Second)
	known := net.Peers[late].Overlay.Directory()
	for _, d := range known {
		if p, _ := net.Peers[1].Overlay.Held(d.Peer); d.Peer != net.Peers[1].ID && d.Parts != p.Parts() {
			t.Errorf("one that came late holds %d parts of %s, of %d", d.Parts, d.Peer, p.Parts())
		}
	}
	if len(known) != peers {
		t.Errorf("one that came late knows %d peers of %d", len(known), peers)
	}
}
