// Package nodelab attacks, for experiments, the rooms of a node that nobody outside can reach. These are its queues
// and its table of connections; attacks go in steps rather than in time.
package nodelab

import (
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/overlay/admission"
)

const (
	honest, liar peer.ID = "honest", "liar"
	messages             = 10 // of the honest peer
)

// counted returns the peer that the honest peer's messages count for.
func counted(unshared bool) peer.ID {
	if unshared {
		return liar
	}
	return honest
}

// FloodedMessages returns how many of ten messages of a peer find room among pubsub's while another offers a hundred
// for each place. Without shares, both count as one peer.
func FloodedMessages(unshared bool) (taken int) {
	b := inbox.New()
	for range 100 * inbox.MaxMessages {
		b.OfferMessage(inbox.Message{From: liar, Bytes: 100})
	}
	for range messages {
		if b.OfferMessage(inbox.Message{From: counted(unshared), Bytes: 100}) {
			taken++
		}
	}
	return taken
}

// FloodedStreams returns how many of ten streams of a peer find a place while another opens a hundred for each place.
// Without shares, both count as one peer.
func FloodedStreams(unshared bool) (taken int) {
	const places = 160
	s := admission.NewSlots(places)
	for range 100 * places {
		s.Take(admission.Principal{Peer: string(liar)}, func() {})
	}
	for range messages {
		if s.Take(admission.Principal{Peer: string(counted(unshared))}, func() {}) != nil {
			taken++
		}
	}
	return taken
}

// DialsInVain returns how many of sixteen connections remain after sixteen simultaneous dials to peers that do not
// exist. If hasty is set, a failed dial takes a place, as if it had succeeded.
func DialsInVain(hasty bool) (left int) {
	const most = 16
	t := core.NewLinks[peer.ID](most)
	name := func(kind string, i int) peer.ID { return peer.ID(fmt.Sprint(kind, i)) }
	for i := range most {
		t.Dial(name("honest", i), true, 0)
		t.Dialed(name("honest", i), true, 0)
	}
	for i := range most {
		t.Dial(name("ghost", i), true, time.Second)
	}
	for i := range most {
		t.Dialed(name("ghost", i), hasty, time.Second)
	}
	for i := range most {
		t.Closed(name("ghost", i))
	}
	left, _ = t.Counts()
	return left
}

// Crowd returns how many of sixteen peers of an address group have a link after two minutes. Sixty-four of another group
// had all thirty-two places for links, as neighbours, and ask for one again as soon as they have none. Unshared links are
// of no known group.
func Crowd(unshared bool) (linked int) {
	const share, few = 32, 16
	t := core.NewLinks[peer.ID](2 * share)
	now := time.Duration(0)
	link := func(group string, i int) {
		p, from := peer.ID(fmt.Sprint(group, i)), group
		if unshared {
			from = ""
		}
		if !t.Linked(p) {
			_, ok := t.Link(p, from, false, now)
			t.Need(p, ok)
		}
	}
	for range 20 {
		for i := range 2 * share {
			link("many", i)
		}
		now += 3 * time.Second
		for i := range few {
			link("few", i)
		}
		now += 3 * time.Second
	}
	for i := range 2 * share {
		link("many", i)
	}
	for i := range few {
		if t.Linked(peer.ID(fmt.Sprint("few", i))) {
			linked++
		}
	}
	return linked
}

// Newcomers returns how many of twelve links in the mesh remain after a minute of newcomers. Every three seconds
// sixteen come, the largest number of links that others may open. unkept: the links are not in the mesh.
func Newcomers(unkept bool) (left int) {
	const share, kept = 16, 12
	t := core.NewLinks[peer.ID](2 * share)
	now := time.Duration(0)
	name := func(kind string, i int) peer.ID { return peer.ID(fmt.Sprint(kind, i)) }
	for i := range kept {
		t.Link(name("mesh", i), "", false, now)
		t.Meshed(name("mesh", i), !unkept)
	}
	for round := range 20 {
		now += 3 * time.Second
		for i := range share {
			t.Link(name("new", share*round+i), "", false, now)
		}
	}
	for i := range kept {
		if t.Linked(name("mesh", i)) {
			left++
		}
	}
	return left
}
