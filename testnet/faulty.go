package testnet

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/libp2p/go-libp2p/core/host"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/testnet/fault"
	"github.com/venn-p2p/venn/testnet/misdeed"
	"github.com/venn-p2p/venn/testnet/strategy"
)

const (
	victims = 5  // most peers that a faulty peer is linked with
	ghosts  = 32 // default number of made-up peers that a faulty peer names
)

// misbehave starts a faulty peer of cfg's kind on a host. It is linked with members that may be harmed, and claims the
// keys of the first of them. If no member may be harmed, misbehave does nothing and returns nil.
func (t *stage) misbehave(h host.Host, cfg fault.Config, rng *rand.Rand, harmed func(number int) bool) (*fault.Peer, error) {
	cfg.Network, cfg.Rand = Network, rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
	for _, j := range rng.Perm(len(t.members)) {
		m := t.members[j]
		if len(cfg.Victims) == victims || !harmed(m.number) {
			continue
		}
		if cfg.Victims = append(cfg.Victims, m.info()); cfg.Claims == nil {
			cfg.Claims = slices.Collect(m.keys.Fingerprints())
		}
	}
	if len(cfg.Victims) == 0 {
		return nil, nil
	}
	p, err := fault.Start(h, cfg)
	if err != nil {
		return nil, fmt.Errorf("testnet: faulty peer %s: %w", h.ID(), err)
	}
	return p, nil
}

// madeUp returns n records of peers that do not exist. They give the addresses of h, which has another identity.
func madeUp(h host.Host, n int, rng *rand.Rand) (out []wire.Record, err error) {
	for range n {
		key, err := identity(rng)
		if err != nil {
			return nil, err
		}
		g, err := fault.Record(key, h.Addrs())
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// disturb starts a number of faulty peers beside the members.
func (t *stage) disturb(number int) error {
	rng := t.cfg.random(misbehaving)
	everybody := func(int) bool { return true }
	line := t.plan.Lines[0]
	for i := range number {
		key, err := identity(rng)
		if err != nil {
			return fmt.Errorf("testnet: identity of faulty peer %d: %w", i, err)
		}
		h, _, err := t.wires.host(site{number: len(t.all) + i, key: key, up: uint64(line.Up), down: uint64(line.Down)}, newMeter(t.began))
		if err != nil {
			return err
		}
		var p *fault.Peer
		t.aside = append(t.aside, func() {
			if p != nil {
				p.Close()
			}
			_ = h.Close()
		})
		cfg := fault.Config{Kind: misdeed.Faulty, Twin: misdeed.HasTwin(misdeed.Faulty, i), Every: strategy.MisdeedEvery}
		if cfg.Ghosts, err = madeUp(h, ghosts, rng); err != nil {
			return fmt.Errorf("testnet: identities of faulty peer %d: %w", i, err)
		}
		if p, err = t.misbehave(h, cfg, rng, everybody); err != nil {
			return err
		}
	}
	return nil
}
