package httpapi

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ipfs/boxo/ipns"
	"github.com/ipfs/boxo/routing/http/server"
	"github.com/ipfs/boxo/routing/http/types"
	"github.com/ipfs/boxo/routing/http/types/iter"
	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/routing"

	"github.com/venn-p2p/venn/node"
)

// delegated serves a node as a delegated router, which finds providers and peers. It supports neither IPNS nor
// anything else that only a DHT can do.
type delegated struct {
	node *node.Node
	// servers returns the peers that serve a holder's content. nil: the holder itself does.
	servers func(context.Context, peer.AddrInfo) []peer.AddrInfo
}

var _ server.DelegatedRouter = delegated{}

// FindProviders begins to search for peers that hold c: for limit of them, or for all if limit is 0.
func (d delegated) FindProviders(ctx context.Context, c cid.Cid, limit int) (iter.ResultIter[types.Record], error) {
	if !c.Defined() {
		return nil, fmt.Errorf("httpapi: %w: undefined CID", ErrKeyText)
	}
	own, err := d.node.Advertises(c.Hash())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	it := &providers{cancel: cancel, seen: make(map[string]bool), found: make(chan peer.AddrInfo)}
	go d.look(ctx, c, limit, own, it.found)
	return it, nil
}

// atOnce is the most holders that are asked at the same time which peers serve their content.
const atOnce = 64

// look sends to found the peers that serve each holder's content, as the answers arrive: a holder that does not answer
// delays no other. If own is set, this node holds the key, and is the first holder. At the end look closes found.
func (d delegated) look(ctx context.Context, c cid.Cid, limit int, own bool, found chan<- peer.AddrInfo) {
	defer close(found)
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, atOnce)
	serve := func(holder peer.AddrInfo) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			all := []peer.AddrInfo{holder}
			if d.servers != nil {
				all = d.servers(ctx, holder)
			}
			for _, server := range all {
				select {
				case found <- server:
				case <-ctx.Done():
				}
			}
		})
	}
	if own {
		serve(*host.InfoFromHost(d.node.Host()))
	}
	for holder := range d.node.FindProvidersAsync(ctx, c, limit) {
		serve(holder)
	}
}

// providers iterates over the answers to FindProviders, as they arrive. It returns a peer once for all who name the same
// addresses: a liar may name other addresses of a true holder, and be the first.
type providers struct {
	cancel context.CancelFunc
	found  chan peer.AddrInfo
	seen   map[string]bool // peers with their addresses
	val    types.Record
}

func (p *providers) Next() bool {
	for server := range p.found {
		if is := server.String(); !p.seen[is] {
			p.seen[is] = true
			p.val = record(server)
			return true
		}
	}
	p.cancel()
	return false
}

func (p *providers) Val() iter.Result[types.Record] { return iter.Result[types.Record]{Val: p.val} }

func (p *providers) Close() error {
	p.cancel()
	return nil
}

func record(info peer.AddrInfo) *types.PeerRecord {
	r := &types.PeerRecord{Schema: types.SchemaPeer, ID: &info.ID, Addrs: []types.Multiaddr{}}
	for _, a := range info.Addrs {
		r.Addrs = append(r.Addrs, types.Multiaddr{Multiaddr: a})
	}
	return r
}

// FindPeers returns the addresses of a peer that Node.FindPeer knows: certified ones, or else those of a connection.
func (d delegated) FindPeers(ctx context.Context, p peer.ID, _ int) (iter.ResultIter[*types.PeerRecord], error) {
	info, err := d.node.FindPeer(ctx, p)
	if err != nil {
		return nil, routing.ErrNotFound
	}
	return iter.ToResultIter(iter.FromSlice([]*types.PeerRecord{record(info)})), nil
}

//nolint:staticcheck // deprecated, but the interface still asks for it
func (delegated) ProvideBitswap(context.Context, *server.BitswapWriteProvideRequest) (time.Duration, error) {
	return 0, routing.ErrNotSupported
}

func (delegated) GetIPNS(context.Context, ipns.Name) (*ipns.Record, error) {
	return nil, routing.ErrNotSupported
}

func (delegated) PutIPNS(context.Context, ipns.Name, *ipns.Record) error {
	return routing.ErrNotSupported
}

func (delegated) GetClosestPeers(context.Context, cid.Cid) (iter.ResultIter[*types.PeerRecord], error) {
	return nil, routing.ErrNotSupported
}
