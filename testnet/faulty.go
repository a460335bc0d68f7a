package testnet

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/host"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/fault"
	"github.com/venn-p2p/venn/testnet/misdeed"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
)

const (
	victims = 5  // most peers that a faulty peer is linked with
	ghosts  = 32 // default number of made-up peers that a faulty peer names
)

// faulty is a peer that misbehaves.
type faulty struct {
	number int
	kind   string // kind of a scenario's adversaries
	host   host.Host
	ghosts []wire.Record // records of peers that it makes up
	every  time.Duration // time between two misdeeds; 0: strategy.MisdeedEvery
}

// start has the peer misbehave. It is linked with members that may be harmed, and claims the keys of the first of them.
// If no member may be harmed, start does nothing and returns nil.
func (f *faulty) start(c *crew, rng *rand.Rand, harmed func(number int) bool) (*fault.Peer, error) {
	cfg := f.config(rng)
	for _, j := range rng.Perm(len(c.members)) {
		m := c.members[j]
		if len(cfg.Victims) == victims || !harmed(m.number) {
			continue
		}
		if cfg.Victims = append(cfg.Victims, m.info()); cfg.Claims == nil {
			cfg.Claims = c.claimed(m)
		}
	}
	if len(cfg.Victims) == 0 {
		return nil, nil
	}
	p, err := fault.Start(f.host, cfg)
	if err != nil {
		return nil, fmt.Errorf("testnet: faulty peer %d: %w", f.number, err)
	}
	return p, nil
}

// claimed returns the fingerprints of a member's keys.
func (c *crew) claimed(m *member) (fps []summary.Fingerprint) {
	for f := range m.keys.Fingerprints() {
		fps = append(fps, f)
	}
	return fps
}

// config returns the peer's configuration, except victims and claims.
func (f *faulty) config(rng *rand.Rand) fault.Config {
	return fault.Config{
		Network: Network, Kind: f.kind, Twin: misdeed.Twins(f.kind, f.number), Ghosts: f.ghosts, Every: cmp.Or(f.every, strategy.MisdeedEvery),
		Rand: rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())),
	}
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

// outsider is a faulty peer beside the members: nobody asks it for anything.
type outsider struct {
	host host.Host
	peer *fault.Peer // nil: it has not started
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
		o := &outsider{host: h}
		t.aside = append(t.aside, o)
		f := faulty{number: i, kind: scenario.Faulty, host: h}
		if f.ghosts, err = madeUp(h, ghosts, rng); err != nil {
			return fmt.Errorf("testnet: identities of faulty peer %d: %w", i, err)
		}
		if o.peer, err = f.start(&t.crew, rng, everybody); err != nil {
			return err
		}
	}
	return nil
}

func (o *outsider) close() {
	if o.peer != nil {
		o.peer.Close()
	}
	_ = o.host.Close()
}
