package venn

import (
	"testing"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// misdoer is a liar of a kind with a summary of n keys and two made-up peers, and the host that keeps what it sends last.
func misdoer(kind string, n int) (*hostile, *firstHost) {
	r, _ := published(n)
	host := &firstHost{}
	v := &node{host: host, run: r, links: core.NewLinks[wire.PeerID](core.Connections)}
	return newHostile(v, kind, strategy.Invented{First: 1, Number: 2}), host
}

// lie has a liar tell its next lie to peer 1.
func (h *hostile) lie() { h.say(1, h.liar.Next(string(peerID(1)))) }

// Parts that nobody asked for are sent, under a group that is not their own.
func TestUnaskedIsSent(t *testing.T) {
	h, host := misdoer("unasked", 2000)
	h.lie()
	p, is := host.sent.Body.(parts)
	if !is || len(p.Run.Parts) != 1 || len(p.Envelope) == 0 {
		t.Fatalf("sent %+v", host.sent)
	}
	if own, ok := h.own(); !ok || p.group == own.Item().Group {
		t.Error("the group is the summary's own")
	}
}

// A made-up peer claims 16 keys of somebody else's, or all if there are fewer. Peers that there are claim their own.
func TestClaimsOfMadeUpPeers(t *testing.T) {
	for n, want := range map[int]int{10: 10, 2000: 16} {
		h, _ := misdoer("identities", n)
		theirs := map[summary.Fingerprint]bool{}
		for _, fp := range h.run.world.Collection(0) {
			theirs[fp] = true
		}
		if own := h.run.claims(0); len(own) != n {
			t.Errorf("a peer of %d keys claims %d", n, len(own))
		}
		made := h.run.claims(7)
		for _, fp := range made {
			if !theirs[fp] {
				t.Errorf("nobody holds %v", fp)
			}
		}
		if len(made) != want {
			t.Errorf("a made-up peer claims %d keys of %d, want %d", len(made), n, want)
		}
	}
}

// Summaries of all made-up peers are offered, and their records are sent with a hello of that size.
func TestMadeUpPeersAreOffered(t *testing.T) {
	h, host := misdoer("identities", 100)
	h.lie()
	said, is := host.sent.Body.(hello)
	if !is || len(said.Records) != h.liar.Ghosts {
		t.Fatalf("said %+v", host.sent)
	}
	said.Records = nil
	least := h.liar.Ghosts * recordBytes
	if more := host.sent.Bytes - opens(wire.Hello(said)); more < least {
		t.Errorf("the records take %d bytes, want %d and more", more, least)
	}
	h.lie()
	if items, is := host.sent.Body.(catalogue); !is || len(items) != h.liar.Ghosts {
		t.Errorf("offered %+v", host.sent)
	}
}
