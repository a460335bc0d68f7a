// Package fault has peers that misbehave on real hosts. They speak the protocols of a network, wrongly; a run shows
// whether the network is unharmed.
//
// A [Peer] is linked with some victims and, at intervals, tells one of them a lie of package misdeed: garbage, a summary
// of keys that it does not hold, epochs and peers that do not exist. It names made-up peers as the holders of any key,
// and spoils the parts that it is asked for. Its lies follow from its source of randomness, but not whether and when
// they arrive.
package fault

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
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

// Config is the configuration of a faulty peer. All fields are required, except Twin.
type Config struct {
	Network string                // name of the network
	Victims []peer.AddrInfo       // peers with which it links
	Claims  []summary.Fingerprint // keys that it claims to hold: one at least
	Kind    string                // one of misdeed.Kinds
	Twin    bool                  // it signs two summaries under one epoch
	Ghosts  []wire.Record         // records of made-up peers
	Every   time.Duration         // time between two lies
	Rand    *rand.Rand
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

	mu   sync.Mutex
	liar *misdeed.Liar
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
	p.liar = p.newLiar()
	h.SetStreamHandler(p.id(node.HelloID), func(s network.Stream) { _ = s.Close() })
	h.SetStreamHandler(p.id(node.HaveID), answers(wire.MaxHave, wire.ParseHaveRequest, lack))
	h.SetStreamHandler(p.id(node.QueryID), answers(wire.MaxQuery, wire.ParseQuery, p.invent))
	if err := p.subscribe(ctx); err != nil {
		cancel()
		return nil, err
	}
	p.wg.Go(func() { p.misbehave(ctx) })
	return p, nil
}

func (p *Peer) newLiar() *misdeed.Liar {
	l := &misdeed.Liar{
		Kind: p.cfg.Kind, Rand: p.cfg.Rand, Spoils: true,
		Own:    func() (misdeed.Claim, bool) { return p.claim, true },
		Ghosts: len(p.cfg.Ghosts), Ghost: func(i int) wire.Record { return p.cfg.Ghosts[i] },
	}
	for _, v := range p.cfg.Victims {
		l.Others = append(l.Others, string(v.ID))
	}
	if p.cfg.Twin {
		l.Twin = func() misdeed.Claim { return p.twin }
	}
	return l
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

// misbehave links with a random victim, unless they are connected, and tells it a lie: once every Config.Every.
func (p *Peer) misbehave(ctx context.Context) {
	ticker := time.NewTicker(p.cfg.Every)
	defer ticker.Stop()
	for {
		victim := p.cfg.Victims[p.cfg.Rand.IntN(len(p.cfg.Victims))]
		if p.link(ctx, victim) == nil {
			p.mu.Lock()
			lie := p.liar.Next(string(victim.ID))
			p.mu.Unlock()
			p.say(ctx, victim.ID, lie)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// say sends a lie to a victim.
func (p *Peer) say(ctx context.Context, to peer.ID, lie misdeed.Lie) {
	switch lie := lie.(type) {
	case misdeed.Bytes:
		if lie.Stream {
			of := []protocol.ID{node.HelloID, node.HaveID, node.QueryID, node.PartsID}
			_ = p.send(ctx, to, p.id(of[p.cfg.Rand.IntN(len(of))]), lie.Bytes)
			return
		}
		if p.cfg.Rand.IntN(2) == 0 { // in place of a catalogue, or of parts
			p.publish(to, []byte(wire.CatalogueGroup), lie.Bytes, nil)
		} else {
			p.publish(to, lie.Bytes[:len(wire.GroupID{})], nil, lie.Bytes)
		}
	case wire.Hello:
		_ = p.send(ctx, to, p.id(node.HelloID), frame(lie.Append(nil)))
	case wire.Catalogue:
		p.publish(to, []byte(wire.CatalogueGroup), lie.Append(nil), nil)
	case misdeed.Parts:
		p.publish(to, lie.Group[:], nil, lie.Append(nil))
	}
}

// frame returns a message with its length before it.
func frame(msg []byte) []byte {
	var b bytes.Buffer
	_ = wire.WriteFrame(&b, msg)
	return b.Bytes()
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
	return p.send(ctx, victim.ID, p.id(node.HelloID), frame(misdeed.Hello(1, p.record).Append(nil)))
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

// answers returns a handler that reads a question of at most limit bytes and sends the answer.
func answers[Q any](limit int, parse func([]byte) (Q, error), answer func(Q) wire.Message) network.StreamHandler {
	return func(s network.Stream) {
		defer s.Close()
		_ = s.SetDeadline(time.Now().Add(5 * time.Second))
		b, err := wire.ReadFrame(s, limit, nil)
		if err != nil {
			return
		}
		if q, err := parse(b); err == nil {
			_, _ = s.Write(frame(answer(q).Append(nil)))
		}
	}
}

// lack answers that the peer holds none of the keys.
func lack(q wire.HaveRequest) wire.Message { return wire.HaveAnswer(make([]bool, len(q.Keys))) }

// invent answers that made-up peers hold the key.
func (p *Peer) invent(q wire.Query) wire.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a, ok := p.liar.Answer(q); ok {
		return a
	}
	return wire.Answer{Final: true}
}
