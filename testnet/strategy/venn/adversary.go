package venn

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/misdeed"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// adversaries has the kinds of adversaries that package fault has on real hosts. In the simulator, garbage has a size
// but no content, and a signature is only right or wrong.
var adversaries = map[string]func(strategy.Peer, strategy.Invented) strategy.Peer{
	"garbage":    adversary(nobody, (*hostile).garbage),
	"twins":      adversary(everybody, (*hostile).announce),
	"unasked":    adversary(nobody, (*hostile).unasked),
	"future":     adversary(nobody, (*hostile).future),
	"ghosts":     adversary(nobody, (*hostile).introduce),
	"identities": adversary(nobody, (*hostile).introduce, (*hostile).offer),
	"faulty": adversary(oneInFour, (*hostile).garbage, (*hostile).announce, (*hostile).unasked, (*hostile).future,
		(*hostile).introduce, (*hostile).offer),
}

// Which peers of a kind spoil their own summaries, see [misdeed.Spoiler].
func nobody(strategy.ID) bool      { return false }
func everybody(strategy.ID) bool   { return true }
func oneInFour(p strategy.ID) bool { return p%4 == 3 }

// deed is a misdeed done to a linked peer.
type deed func(h *hostile, to strategy.ID)

// hostile is a peer that does the same as others and, at intervals, a misdeed to one of its links.
type hostile struct {
	*node
	misdeeds []deed
	of       strategy.Invented
	rng      *rand.Rand
	every    time.Duration
	next     time.Duration
	done     int // number of misdeeds done so far
	told     int // number of identities named so far; they take turns
	spoils   bool
	spoiler  misdeed.Spoiler
	invented map[uint64]*epoch // summaries of its identities, made when first offered, by the tag of their origin
}

func adversary(spoils func(strategy.ID) bool, misdeeds ...deed) func(strategy.Peer, strategy.Invented) strategy.Peer {
	return func(p strategy.Peer, of strategy.Invented) strategy.Peer {
		v := p.(*node)
		self := v.host.Self()
		return &hostile{
			node: v, misdeeds: misdeeds, spoils: spoils(self), of: of, invented: map[uint64]*epoch{},
			rng:   strategy.Random(v.run.world.Seed, "venn: an adversary", uint64(of.First)),
			every: of.Pace(wire.MaxHelloRecords / len(misdeeds)),
		}
	}
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
		h.misdeeds[h.done%len(h.misdeeds)](h, links[h.rng.IntN(len(links))])
		h.done++
	}
	h.host.Wake(min(h.wake, max(h.next, now+time.Millisecond)))
}

// lies answers questions about the made-up origins, and names them as holders of any key. It answers requests for parts
// of the peer's own summary, if the peer spoils that. It returns true if the machine must not see the message.
func (h *hostile) lies(in strategy.Received) bool {
	switch b := in.Message.Body.(type) {
	case question:
		s := served{from: in.From, number: b.number, query: in.Message.Query}
		switch q := b.Message.(type) {
		case wire.Query:
			if h.of.Number > 0 {
				h.reply(s, wire.Answer{Records: h.some(4), Messages: 1, Final: true})
				return true
			}
		case wire.PartsRequest:
			p, mine := h.partsOf(wire.Item{Group: q.Group, Have: uint16(q.First), Want: uint16(q.End)})
			if mine {
				h.reply(s, p.Parts)
			}
			return mine
		}
	case catalogue:
		own := slices.IndexFunc(b, func(it wire.Item) bool { return it.Want > it.Have && h.isSpoiled(it.Group) })
		if own >= 0 {
			b = b[own : own+1] // answers for its own summary alone
		}
		for _, it := range b {
			if it.Want <= it.Have {
				continue
			}
			if p, mine := h.partsOf(it); mine {
				h.sendParts(in.From, p)
			}
		}
		return own >= 0
	}
	return false
}

// isSpoiled reports whether a group names the peer's own summary, and the peer spoils that.
func (h *hostile) isSpoiled(g group.ID) bool {
	own := h.own()
	return h.spoils && own != nil && g == group.Of(own.Stream.Header())
}

// own returns the last epoch of the peer itself; nil before the first.
func (h *hostile) own() *epoch { return h.run.origins[h.host.Self()].epoch }

// announce offers the peer's own summary.
func (h *hostile) announce(to strategy.ID) {
	if own := h.own(); own != nil {
		h.sendCatalogue(to, []wire.Item{own.Item()})
	}
}

// garbage is no message of any type.
type garbage struct{}

func (garbage) Kind() string { return "garbage" }

// garbageBytes are the sizes of garbage, sent in turn: a message on a stream, a length without its message, an RPC, and
// one over the limit.
var garbageBytes = []int{streamBytes + 50, streamBytes + 6, strategy.Overhead + 1000, strategy.Overhead + wire.MaxPartsRPC + 1}

// garbage sends bytes that are no message.
func (h *hostile) garbage(to strategy.ID) {
	h.send(to, garbage{}, garbageBytes[h.done/len(h.misdeeds)%len(garbageBytes)], 0)
}

// partsOf returns parts of the summary of one of the adversary's identities. If it spoils its own summary, it returns
// spoiled parts for that, too. mine is false if it has no parts to send for the item.
func (h *hostile) partsOf(it wire.Item) (p parts, mine bool) {
	p.group = it.Group
	if h.isSpoiled(it.Group) {
		own := h.own()
		p.Parts = h.spoiler.Parts(own.Claim, func() misdeed.Claim { return h.run.twin(h.host.Self(), own).Claim }, it)
		return p, true
	}
	e := h.invented[it.Group.OriginTag()]
	if e != nil {
		p.Parts, mine = e.Parts(it)
	}
	return p, mine
}

// some returns records of the next made-up identities, up to n.
func (h *hostile) some(n int) (out []wire.Record) {
	for range min(n, h.of.Number) {
		p := h.turn()
		out = append(out, wire.Record{Peer: peerID(p), Envelope: recordOf(p)})
	}
	return out
}

func (h *hostile) turn() strategy.ID {
	id := h.of.First + strategy.ID(h.told%h.of.Number)
	h.told++
	return id
}

// introduce says hello in a new session, claiming a fast line and much knowledge, with records of made-up peers.
func (h *hostile) introduce(to strategy.ID) {
	said := misdeed.Hello(h.rng.Uint64()|1, h.some(wire.MaxHelloRecords)...)
	h.send(to, hello(said), opens(said), 0)
}

// offer offers summaries of made-up peers. Each summary claims keys of a real peer.
func (h *hostile) offer(to strategy.ID) {
	var items []wire.Item
	for range min(wire.MaxHelloRecords, h.of.Number) {
		items = append(items, h.invent(h.turn()).Item())
	}
	h.sendCatalogue(to, items)
}

// future offers newer epochs, which do not exist, of a made-up origin and of other peers.
func (h *hostile) future(to strategy.ID) {
	h.sendCatalogue(to, misdeed.Future(h.rng, func(yield func(string) bool) {
		for p := range strategy.ID(h.run.world.Peers) {
			if p != to && !yield(string(peerID(p))) {
				return
			}
		}
	}))
}

// unasked sends parts that nobody asked for.
func (h *hostile) unasked(to strategy.ID) {
	if e := h.own(); e != nil {
		under, p := misdeed.Unasked(h.rng, e.Claim)
		h.sendParts(to, parts{under, p})
	}
}

// invent returns the summary of a made-up identity.
func (h *hostile) invent(p strategy.ID) *epoch {
	tag := group.OriginTag(string(peerID(p)))
	if h.invented[tag] == nil {
		first := summary.Header{Epoch: summary.Epoch{Generation: 1, Sequence: 1}, Lifetime: core.Lifetime}
		h.invented[tag] = h.run.build(p, h.run.claims(p), first)
	}
	return h.invented[tag]
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
