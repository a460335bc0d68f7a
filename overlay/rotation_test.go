package overlay_test

import (
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/summary"
)

const (
	before, after = 7, 8 // seed numbers
	rotating      = 6
)

// rotatingNet is a network of the old seed in which everybody knows everybody; half of a collection is everybody's.
func rotatingNet(t *testing.T) *overlaylab.Network {
	t.Helper()
	net, err := overlaylab.New(slices.Repeat([]overlay.Config{{Up: fast, Down: fast, Seed: overlaylab.Seed(before).Tag()}}, rotating), 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range net.Peers {
		net.Publish(i, overlaylab.Fingerprints(2000, 1000, uint64(i)))
		net.Connect(i, (i+1)%rotating)
		net.Connect(i, (i+2)%rotating)
	}
	net.Run(30 * time.Second)
	return net
}

// rotate starts a peer again under the new seed, and lets the network hear of it.
func rotate(t *testing.T, net *overlaylab.Network, i int, until time.Duration) {
	t.Helper()
	cfg := overlay.Config{Up: fast, Down: fast, Seed: overlaylab.Seed(after).Tag(), Previous: overlaylab.Seed(before), PreviousUntil: until}
	if err := net.Restart(i, cfg); err != nil {
		t.Fatal(err)
	}
	net.Connect(i, (i+1)%rotating)
	net.Connect(i, (i+3)%rotating)
	net.Run(net.Now + 20*time.Second)
}

// finds reports whether a peer has another among its candidates for some keys that only that one holds.
func finds(net *overlaylab.Network, i, j int, number uint32) bool {
	for k := range 20 {
		f := overlaylab.Fingerprints(2000, 1000, uint64(j))[1000+k]
		all := net.Peers[i].Overlay.Candidates(overlaylab.Key(f), overlaylab.Under(f, number))
		if !slices.ContainsFunc(all, func(c overlay.Candidate) bool { return c.Peer == net.Peers[j].ID }) {
			return false
		}
	}
	return true
}

// TestRotation: a network goes to another seed peer by peer, and everybody finds everybody's keys all the while.
func TestRotation(t *testing.T) {
	const end = 10 * time.Minute
	net := rotatingNet(t)
	samples := 0 // of summaries that cannot be read
	net.Trace = func(_ time.Duration, peer int, e event.Effect) {
		s, ok := e.(event.SendParts)
		if ok && len(s.Record) > 0 && s.Run.First == 0 {
			h, err := overlaylab.OpenHeader(s.Envelope)
			if err == nil && h.Seed.Number == after && net.Peers[peer].Overlay.Own().Header().Seed.Number == after {
				samples++
			}
		}
	}
	check := func(rotated int) {
		t.Helper()
		for i, p := range net.Peers {
			number := uint32(before)
			if i < rotated {
				number = after
			}
			for j := range net.Peers {
				if i != j && !finds(net, i, j, number) {
					t.Errorf("%d rotated: peer %d does not find peer %d", rotated, i, j)
				}
			}
			want := 0
			if i < rotated && net.Now < end {
				want = rotating - rotated
			}
			if o := p.Overlay; o.Origins() != rotating-1 || o.Unrotated() != want || o.FalseMatches() > 0.1 || len(o.Directory()) != rotating-1 {
				t.Errorf("%d rotated: peer %d knows %d peers, %d of them not rotated, %d in the directory, expects %.3f false matches",
					rotated, i, o.Origins(), o.Unrotated(), len(o.Directory()), o.FalseMatches())
			}
			if len(p.Faults) > 0 {
				t.Errorf("%d rotated: peer %d reported %v of honest peers", rotated, i, p.Faults)
			}
			for _, nb := range p.Overlay.Neighbours() {
				if nb.Overlap.Value < 0.4 || nb.Overlap.Value > 0.6 {
					t.Errorf("%d rotated: peer %d thinks that %s holds %.2f of its collection, half is true", rotated, i, nb.Peer, nb.Overlap.Value)
				}
			}
		}
	}
	check(0)
	for i := range net.Peers {
		rotate(t, net, i, end)
		check(i + 1)
	}
	both := net.Peers[0].Overlay.Memory()
	net.Run(end + 30*time.Second)
	check(rotating)
	if now := net.Peers[0].Overlay.Memory(); now >= both {
		t.Errorf("%d bytes before the end, %d after it", both, now)
	}
	if most := 4 * rotating * rotating; samples > most {
		t.Errorf("samples under the new seed were sent %d times, expected at most %d", samples, most)
	}
}

// TestRotatedLate: a peer that has not rotated in time is not understood by the others, nor they by it, until it does.
func TestRotatedLate(t *testing.T) {
	const late, end = rotating - 1, 4 * time.Minute
	net := rotatingNet(t)
	for i := range late {
		rotate(t, net, i, end)
	}
	net.Run(end + time.Minute)
	for i := range late {
		if o := net.Peers[i].Overlay; o.Origins() != late-1 || o.Unrotated() != 0 || finds(net, i, late, after) {
			t.Errorf("peer %d knows %d peers, %d of them not rotated; finds the late one: %v", i, o.Origins(), o.Unrotated(), finds(net, i, late, after))
		}
	}
	rotate(t, net, late, 0)
	for i := range late {
		if !finds(net, i, late, after) || !finds(net, late, i, after) || net.Peers[i].Overlay.Origins() != late {
			t.Errorf("peer %d and the late one do not find each other", i)
		}
	}
	for i, p := range net.Peers {
		if len(p.Faults) > 0 {
			t.Errorf("peer %d reported %v of honest peers", i, p.Faults)
		}
	}
}

func TestBadPrevious(t *testing.T) {
	for name, cfg := range map[string]overlay.Config{
		"the same number": {Seed: overlaylab.Seed(before).Tag(), Previous: overlaylab.Seed(before), PreviousUntil: 1},
		"another network": {Seed: overlaylab.Seed(before).Tag(), Previous: summary.Seed{Network: "other", Number: after}, PreviousUntil: 1},
	} {
		if _, err := overlaylab.New([]overlay.Config{cfg}, 1); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
