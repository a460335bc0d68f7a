package fault

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// claim is a signed summary of keys that the peer does not hold.
type claim struct {
	stream   *summary.Prefix
	envelope []byte
}

// sign makes the summary of the keys that the peer claims, and a second one under the same number if it has a twin.
func (p *Peer) sign() (err error) {
	if p.claim, err = p.signed(p.cfg.Claims); err == nil && p.cfg.Twin {
		p.twin, err = p.signed(p.cfg.Claims[:max(0, len(p.cfg.Claims)-1)])
	}
	return err
}

func (p *Peer) signed(claims []summary.Fingerprint) (c claim, err error) {
	c.stream, err = summary.Build(claims, summary.Header{
		Seed: p.cfg.Seed, Origin: string(p.h.ID()), Epoch: summary.Epoch{Generation: 1, Sequence: 1}, Lifetime: time.Hour,
	})
	if err != nil {
		return c, fmt.Errorf("fault: %w", err)
	}
	payload, err := c.stream.Header().AppendBinary(nil)
	if err != nil {
		return c, fmt.Errorf("fault: %w", err)
	}
	if c.envelope, err = p.cfg.Sign(payload); err != nil {
		return c, fmt.Errorf("fault: %w", err)
	}
	return c, nil
}

// group returns the group of the claim, and of its twin.
func (p *Peer) group() group.ID { return group.Of(p.claim.stream.Header()) }

// announceClaim offers the summary.
func (p *Peer) announceClaim(_ context.Context, to peer.ID) {
	p.announce(to, wire.Item{Group: p.group(), Have: uint16(p.claim.stream.Parts())})
}

// announceFuture offers newer epochs of the victims, and of made-up origins.
func (p *Peer) announceFuture(_ context.Context, to peer.ID) {
	e := summary.Epoch{Generation: 1<<32 - 2, Sequence: p.cfg.Rand.Uint32()}
	items := []wire.Item{{Group: group.New(p.cfg.Rand.Uint64(), e), Have: 20}}
	for _, v := range p.cfg.Victims {
		if v.ID != to {
			items = append(items, wire.Item{Group: group.New(group.OriginTag(string(v.ID)), e), Have: 20})
		}
	}
	p.announce(to, items...)
}

// unasked sends parts that nobody asked for.
func (p *Peer) unasked(_ context.Context, to peer.ID) {
	parts := p.claim.parts(wire.Item{Want: 1}, p.cfg.Record)
	group := group.New(p.cfg.Rand.Uint64(), summary.Epoch{Generation: 1, Sequence: 1})
	p.publish(to, group[:], nil, parts.Append(nil))
}

func (p *Peer) announce(to peer.ID, items ...wire.Item) {
	p.publish(to, []byte(wire.CatalogueGroup), wire.Catalogue(items).Append(nil), nil)
}

// parts returns the answer of an honest holder of the summary.
func (c claim) parts(it wire.Item, record []byte) wire.Parts {
	run, err := c.stream.Run(int(it.Have), min(int(it.Want), c.stream.Parts()))
	if err != nil || len(run.Parts) == 0 { // a twin may have fewer parts than are asked for
		return wire.Parts{Run: summary.Run{Parts: [][]byte{{0}}}}
	}
	a := wire.Parts{Run: run}
	if it.Have == 0 {
		a.Envelope, a.Record = c.envelope, record
	}
	return a
}

// answer returns the parts sent to a peer that asks. Its signature may be wrong, its parts may differ from the signed
// ones, or it may be the twin's.
func (p *Peer) answer(it wire.Item) wire.Parts {
	c := p.claim
	if p.bad++; p.cfg.Twin && p.bad%2 == 0 {
		c = p.twin
	}
	a := c.parts(it, p.cfg.Record)
	switch {
	case p.bad%3 == 1 && len(a.Envelope) > 0:
		a.Envelope = bytes.Clone(a.Envelope)
		a.Envelope[len(a.Envelope)-1] ^= 1
	case p.bad%3 == 2:
		spoiled := bytes.Clone(a.Run.Parts[0])
		spoiled[0] ^= 1
		a.Run.Parts = append([][]byte{spoiled}, a.Run.Parts[1:]...)
	}
	return a
}
