package venn

import (
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/misdeed"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// adversaries has the kinds of liars of package misdeed. In the simulator, garbage has a size but no content, and a
// signature is only right or wrong.
var adversaries = func() map[string]func(strategy.Peer, strategy.Invented) strategy.Peer {
	all := map[string]func(strategy.Peer, strategy.Invented) strategy.Peer{}
	for _, kind := range misdeed.Kinds {
		all[kind] = func(p strategy.Peer, of strategy.Invented) strategy.Peer { return newHostile(p.(*node), kind, of) }
	}
	return all
}()

// hostile is a peer that does the same as others and, at intervals, tells a lie to one of its links.
type hostile struct {
	*node
	liar  *misdeed.Liar
	every time.Duration
	next  time.Duration
}

func newHostile(v *node, kind string, of strategy.Invented) *hostile {
	h := &hostile{node: v}
	h.liar = &misdeed.Liar{
		Kind: kind, Rand: strategy.Random(v.run.world.Seed, "venn: an adversary", uint64(of.First)),
		Own: h.own, Ghosts: of.Number,
		Ghost: func(i int) wire.Record {
			p := of.First + strategy.ID(i)
			return wire.Record{Peer: peerID(p), Envelope: recordOf(p)}
		},
		Offer: func(i int) misdeed.Claim { // it claims keys of a real peer
			p := of.First + strategy.ID(i)
			first := summary.Header{Epoch: summary.Epoch{Generation: 1, Sequence: 1}, Lifetime: core.Lifetime}
			return v.run.build(p, v.run.claims(p), first).Claim
		},
	}
	for p := range strategy.ID(min(v.run.world.Peers, wire.MaxItems+1)) {
		h.liar.Others = append(h.liar.Others, string(peerID(p)))
	}
	if self := v.host.Self(); misdeed.HasTwin(kind, int(self)) {
		h.liar.Spoils = true
		h.liar.Twin = func() misdeed.Claim { return v.run.twin(self, v.run.origins[self].epoch).Claim }
	}
	h.every = of.Pace(wire.MaxHelloRecords / h.liar.Lies())
	return h
}

// Step implements Peer.
func (h *hostile) Step(now time.Duration, in strategy.Input) {
	received, is := in.(strategy.Received)
	if !is || !h.lies(received) {
		h.node.Step(now, in)
	}
	if _, last := in.(strategy.Leaving); last {
		return
	}
	if links := h.host.Links(); now >= h.next && len(links) > 0 {
		h.next = now + h.every
		to := links[h.liar.Rand.IntN(len(links))]
		h.say(to, h.liar.Next(string(peerID(to))))
	}
	h.host.Wake(min(h.wake, max(h.next, now+time.Millisecond)))
}

// lies answers questions that the liar lies about. It returns true if the machine must not see the message.
func (h *hostile) lies(in strategy.Received) (hidden bool) {
	switch b := in.Message.Body.(type) {
	case question:
		a, lies := h.liar.Answer(b.Message)
		if lies {
			h.reply(served{from: in.From, number: b.number, query: in.Message.Query}, a)
		}
		return lies
	case catalogue:
		for _, it := range b {
			if p, lies := h.liar.PartsOf(it); lies {
				h.sendParts(in.From, parts{it.Group, p})
				own, made := h.own()
				hidden = hidden || made && it.Group == own.Item().Group
			}
		}
	}
	return hidden
}

// garbage is no message of any type.
type garbage struct{}

func (garbage) Kind() string { return "garbage" }

// say sends a lie.
func (h *hostile) say(to strategy.ID, lie misdeed.Lie) {
	switch lie := lie.(type) {
	case misdeed.Bytes:
		bytes := strategy.Overhead + len(lie.Bytes)
		if lie.Stream {
			bytes = streamBytes + len(lie.Bytes)
		}
		h.send(to, garbage{}, bytes, 0)
	case wire.Hello:
		h.send(to, hello(lie), opens(lie), 0)
	case wire.Catalogue:
		h.sendCatalogue(to, lie)
	case misdeed.Parts:
		h.sendParts(to, parts{lie.Group, lie.Parts})
	}
}

// own returns the last epoch of the peer itself; false before the first.
func (h *hostile) own() (c misdeed.Claim, ok bool) {
	if e := h.run.origins[h.host.Self()].epoch; e != nil {
		return e.Claim, true
	}
	return c, false
}

// claimed is the number of keys that a made-up identity claims to hold.
const claimed = 16

// claims returns the keys that a peer claims to hold: its own. A made-up identity claims keys of a real peer.
func (r *run) claims(p strategy.ID) []summary.Fingerprint {
	if int(p) < len(r.origins) {
		return r.world.Collection(p)
	}
	of := r.world.Collection(strategy.ID(strategy.Scramble(uint64(p)) % uint64(len(r.origins))))
	strategy.Random(r.world.Seed, "venn: whom an adversary names", uint64(p)).Shuffle(len(of), func(i, k int) { of[i], of[k] = of[k], of[i] })
	return of[:min(claimed, len(of))]
}
