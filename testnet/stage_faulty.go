package testnet

import (
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/host"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/fault"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// invent makes up the peers that faulty ones speak of.
func (v *stagedNodes) invent() (err error) {
	v.ghosts = make([][]wire.Record, len(v.hosts))
	cfg := Config{Seed: v.plan.Seed}
	for p, of := range v.plan.Invented {
		rng := cfg.random(misbehaving + purpose(64+p))
		if v.ghosts[p], err = madeUp(v.hosts[p], of.Number, rng); err != nil {
			return fmt.Errorf("testnet: identities of peer %d: %w", p, err)
		}
	}
	return nil
}

// misbehave starts a faulty peer in the place of a node. It is linked with some good ones, and claims what the first of
// them holds.
func (v *stagedNodes) misbehave(p strategy.ID, kind string) error {
	cfg := Config{Seed: v.plan.Seed}
	rng := cfg.random(joining + purpose(64+p))
	c, err := misdeedsOf(v.hosts[p], rng)
	if err != nil {
		return fmt.Errorf("testnet: faulty peer %d: %w", p, err)
	}
	for _, j := range rng.Perm(len(v.hosts)) {
		if q := strategy.ID(j); v.plan.Adversaries[q] != "" || !v.gate.online(q) || len(c.Victims) == victims {
			continue
		}
		c.Victims = append(c.Victims, *host.InfoFromHost(v.hosts[j]))
		if c.Claims == nil {
			c.Claims = v.fingerprints(strategy.ID(j))
		}
	}
	if len(c.Victims) == 0 {
		return nil // nobody is there to be harmed
	}
	c.Ghosts = v.ghosts[p]
	switch kind {
	case scenario.Twins:
		c.Twin, c.Misdeeds = true, []string{fault.Claims}
	case scenario.Identities:
		c.Misdeeds = []string{fault.Ghosts}
		c.Every = v.plan.Invented[p].Pace(wire.MaxHelloRecords)
	case scenario.Faulty:
		c.Twin = p%4 == 3
	default:
		c.Misdeeds = []string{kind}
	}
	f, err := fault.Start(v.hosts[p], c)
	if err != nil {
		return fmt.Errorf("testnet: faulty peer %d: %w", p, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.faults[p] = f
	return nil
}

// fingerprints are those of a peer's keys.
func (t *stage) fingerprints(p strategy.ID) []summary.Fingerprint {
	var fps []summary.Fingerprint
	for _, n := range t.collection(p) {
		fps = append(fps, t.plan.Data.Key(n).Fingerprint)
	}
	return slices.Clip(fps)
}
