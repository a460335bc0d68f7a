package fault

import (
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/misdeed"
)

// sign makes and signs the summary of the keys that the peer claims. With Twin, it makes a second one under the same
// epoch.
func (p *Peer) sign() (err error) {
	if p.claim, err = p.signed(p.cfg.Claims); err == nil && p.cfg.Twin {
		p.twin, err = p.signed(p.cfg.Claims[:max(0, len(p.cfg.Claims)-1)])
	}
	return err
}

// signed builds a summary of the claimed keys, always of epoch 1, and signs its header.
func (p *Peer) signed(claims []summary.Fingerprint) (c misdeed.Claim, err error) {
	c.Record = p.record.Envelope
	c.Stream, err = summary.Build(claims, summary.Header{
		Seed: summary.Seed{Network: p.cfg.Network}.Tag(), Origin: string(p.h.ID()),
		Epoch: summary.Epoch{Generation: 1, Sequence: 1}, Lifetime: time.Hour,
	})
	if err != nil {
		return c, fmt.Errorf("fault: %w", err)
	}
	payload, err := c.Stream.Header().AppendBinary(nil)
	if err != nil {
		return c, fmt.Errorf("fault: %w", err)
	}
	if c.Envelope, err = p.seal(payload); err != nil {
		return c, fmt.Errorf("fault: %w", err)
	}
	return c, nil
}

// announceClaim offers the claimed summary.
func (p *Peer) announceClaim(_ context.Context, to peer.ID) { p.announce(to, p.claim.Item()) }

// announceFuture offers newer epochs, which do not exist, of the victims and of a made-up origin.
func (p *Peer) announceFuture(_ context.Context, to peer.ID) {
	p.announce(to, misdeed.Future(p.cfg.Rand, func(yield func(string) bool) {
		for _, v := range p.cfg.Victims {
			if v.ID != to && !yield(string(v.ID)) {
				return
			}
		}
	})...)
}

// unasked sends parts that the receiver did not ask for.
func (p *Peer) unasked(_ context.Context, to peer.ID) {
	group, parts := misdeed.Unasked(p.cfg.Rand, p.claim)
	p.publish(to, group[:], nil, parts.Append(nil))
}

func (p *Peer) announce(to peer.ID, items ...wire.Item) {
	p.publish(to, []byte(wire.CatalogueGroup), wire.Catalogue(items).Append(nil), nil)
}

// answer returns the parts, often spoiled, for a peer that asks for the claim.
func (p *Peer) answer(it wire.Item) wire.Parts {
	if !p.cfg.Twin {
		return p.spoiler.Parts(p.claim, nil, it)
	}
	return p.spoiler.Parts(p.claim, func() misdeed.Claim { return p.twin }, it)
}
