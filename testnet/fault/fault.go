// Package fault has peers that misbehave on real hosts. They speak the protocols of a network, wrongly; a run shows
// whether the network is unharmed.
//
// A [Peer] is linked with some victims and, at intervals, does one of its misdeeds to one of them. It sends garbage
// or lengths far over the limits on streams and in RPCs (garbage.go). It publishes summaries with wrong signatures
// or parts. It claims epochs that do not exist, and keys that it does not hold, perhaps with a second summary under
// the same epoch (claims.go). It names peers that do not exist, in hellos and as holders of any key (ghosts.go). Its
// misdeeds follow from its source of randomness, but not whether and when they arrive.
package fault

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/misdeed"
)

// The kinds of misdeeds.
const (
	Garbage = "garbage" // bytes that are no messages, and lengths over all limits
	Unasked = "unasked" // parts that nobody asked for
	Claims  = "claims"  // a summary of keys that the peer does not hold, with wrong signatures and parts
	Future  = "future"  // newer epochs of other origins, which do not exist
	Ghosts  = "ghosts"  // made-up peers
)

// Config is the configuration of a faulty peer. All fields are required, except Misdeeds and Twin.
type Config struct {
	Network  string                // name of the network
	Victims  []peer.AddrInfo       // peers with which it links
	Claims   []summary.Fingerprint // keys that it claims to hold: one at least
	Misdeeds []string              // kinds of misdeeds that it does; nil: all
	Twin     bool                  // it signs two summaries under one epoch
	Ghosts   []wire.Record         // records of made-up peers
	Every    time.Duration         // time between two misdeeds
	Rand     *rand.Rand
}

// Peer is a faulty peer. It is safe for concurrent use.
type Peer struct {
	cfg    Config
	h      host.Host
	ps     *pubsub.PubSub
	cancel context.CancelFunc
	wg     sync.WaitGroup

	seal   func(payload []byte) (envelope []byte, err error) // signs headers as the host
	record wire.Record                                       // the host's signed addresses
	claim  misdeed.Claim                                     // signed summary of Config.Claims
	twin   misdeed.Claim                                     // second summary, if Config.Twin, without the last claim

	mu      sync.Mutex
	spoiler misdeed.Spoiler
}

// Start starts a faulty peer on a host. The caller closes the host after the peer.
func Start(h host.Host, cfg Config) (*Peer, error) {
	ctx, cancel := context.WithCancel(context.Background())
	key := h.Peerstore().PrivKey(h.ID())
	p := &Peer{cfg: cfg, h: h, cancel: cancel, seal: signed.HeaderSigner(key)}
	var err error
	if p.record, err = Record(key, h.Addrs()); err == nil {
		err = p.sign()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	h.SetStreamHandler(p.id(node.HelloID), func(s network.Stream) { _ = s.Close() })
	h.SetStreamHandler(p.id(node.HaveID), p.lack)
	h.SetStreamHandler(p.id(node.QueryID), p.invent)
	if err := p.subscribe(ctx); err != nil {
		cancel()
		return nil, err
	}
	p.wg.Go(func() { p.misbehave(ctx) })
	return p, nil
}

// Close ends the peer.
func (p *Peer) Close() {
	for _, name := range []protocol.ID{node.HelloID, node.HaveID, node.QueryID} {
		p.h.RemoveStreamHandler(p.id(name))
	}
	p.cancel()
	p.wg.Wait()
}

// id returns the id on the wire of one of the network's protocols.
func (p *Peer) id(name protocol.ID) protocol.ID { return wire.ProtocolIn(p.cfg.Network, name) }

// misbehave links with a random victim, unless they are connected, and does a misdeed to it: once every Config.Every.
func (p *Peer) misbehave(ctx context.Context) {
	misdeeds := p.misdeeds()
	ticker := time.NewTicker(p.cfg.Every)
	defer ticker.Stop()
	for i := 0; ; i++ {
		victim := p.cfg.Victims[p.cfg.Rand.IntN(len(p.cfg.Victims))]
		if p.link(ctx, victim) == nil {
			misdeeds[(i+p.cfg.Rand.IntN(2))%len(misdeeds)](ctx, victim.ID)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// misdeeds returns the misdeeds of the configured kinds.
func (p *Peer) misdeeds() (out []func(context.Context, peer.ID)) {
	for _, m := range []struct {
		kind string
		do   func(context.Context, peer.ID)
	}{
		{Garbage, p.garbageStream},
		{Garbage, p.claimLength},
		{Garbage, p.garbageRPC},
		{Garbage, p.longRPC},
		{Unasked, p.unasked},
		{Claims, p.announceClaim},
		{Future, p.announceFuture},
		{Ghosts, p.introduce},
	} {
		if p.cfg.Misdeeds == nil || slices.Contains(p.cfg.Misdeeds, m.kind) {
			out = append(out, m.do)
		}
	}
	return out
}

// link connects to a victim and says hello, unless they are connected already. The hello claims a fast line, much
// knowledge, and to be a neighbour already.
func (p *Peer) link(ctx context.Context, victim peer.AddrInfo) error {
	if p.h.Network().Connectedness(victim.ID) == network.Connected {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := p.h.Connect(ctx, victim); err != nil {
		return err
	}
	return p.greet(ctx, victim.ID, 1, p.record)
}

// send opens a stream, writes, and waits until the other end answers or closes it.
func (p *Peer) send(ctx context.Context, to peer.ID, id protocol.ID, b []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s, err := p.h.NewStream(ctx, to, id)
	if err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	defer context.AfterFunc(ctx, func() { _ = s.Reset() })()
	defer s.Close()
	if _, err := s.Write(b); err != nil {
		return err
	}
	_ = s.CloseWrite()
	_, err = s.Read(make([]byte, 1))
	return err
}

// lack answers that the peer holds none of the keys.
func (p *Peer) lack(s network.Stream) {
	defer s.Close()
	_ = s.SetDeadline(time.Now().Add(5 * time.Second))
	b, err := wire.ReadFrame(s, wire.MaxHave, nil)
	if err != nil {
		return
	}
	if keys, err := wire.ParseHaveRequest(b); err == nil {
		_, _ = s.Write(frame(wire.HaveAnswer(make([]bool, len(keys))).Append(nil)))
	}
}
