package testnet

import (
	"context"
	"time"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/cache"

	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node"
)

// VennSystem is venn itself: nodes as Run starts them. They announce all that they hold in one summary. That is done
// when every peer knows every other and has learned nothing more for some seconds, or after Config.Warmup.
func VennSystem() System {
	var shared []node.Option // of the run whose peers are being made: its caches end with it
	return System{
		Name:   "venn",
		Note:   "one summary a peer of all it holds; holders are confirmed",
		Upkeep: func(id protocol.ID) bool { return carriesSummaries(id) || is(id, node.HelloID, node.PeersID) },
		Query:  func(id protocol.ID) bool { return is(id, node.HaveID, node.QueryID) },
		Open: func(p Place) (Peer, error) {
			if p.Number == 0 {
				shared = []node.Option{node.WithSummaryCache(cache.New(cacheBytes)), node.WithHeaderCache(signed.NewCache(1 << 12))}
			}
			v := &vennPeer{place: p, shared: shared}
			if p.Number == p.peers()-1 {
				shared = nil
			}
			return v, nil
		},
	}
}

type vennPeer struct {
	place  Place
	shared []node.Option
	member member
}

// Join does nothing: a node that joins announces itself.
func (v *vennPeer) Join(context.Context) error { return nil }

func (v *vennPeer) start() error {
	c := v.place.Config
	v.member.host, v.member.name = v.place.Host, v.place.Host.ID().String()
	options := v.shared
	if c.NoShare {
		options = nil
	}
	random := c.Seed<<16 + uint64(v.place.Number)
	return v.member.start(c, v.place.Rate, v.place.keys, options, random, v.place.Begin)
}

// settled is how long nothing more has been learned when a peer has announced itself.
const settled = 5 * time.Second

func (v *vennPeer) Announce(ctx context.Context, _ [][]byte) error {
	if err := v.start(); err != nil {
		return err
	}
	end := time.Now().Add(v.place.Config.Warmup)
	held, since := int64(-1), time.Now()
	for time.Now().Before(end) {
		s, err := v.member.node.Status(ctx)
		if err != nil {
			return err
		}
		if b := int64(s.BytesHeld); b != held {
			held, since = b, time.Now()
		}
		if s.Origins == v.place.peers()-1 && time.Since(since) >= settled {
			return nil
		}
		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	return nil
}

func (v *vennPeer) Find(ctx context.Context, key []byte, all bool) (a Answer, err error) {
	began := time.Now()
	results, err := v.member.node.Query(ctx, key, node.QueryOptions{All: all, Timeout: v.place.Config.FindTimeout})
	if err != nil {
		return a, err
	}
	for info := range results.Providers() {
		a.Holders, a.Found = append(a.Holders, info.ID), time.Since(began)
	}
	a.Over = time.Since(began)
	_, err = results.Stats()
	return a, err
}

func (v *vennPeer) Close() error {
	if v.member.node == nil {
		return nil
	}
	return v.member.node.Close()
}
