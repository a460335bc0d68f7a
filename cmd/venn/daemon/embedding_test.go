package daemon

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipfs/boxo/bitswap"
	"github.com/ipfs/boxo/bitswap/client"
	bsmsg "github.com/ipfs/boxo/bitswap/message"
	"github.com/ipfs/boxo/bitswap/network/bsnet"
	"github.com/ipfs/boxo/blockstore"
	blocks "github.com/ipfs/go-block-format"
	"github.com/ipfs/go-cid"
	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	dht "github.com/libp2p/go-libp2p-kad-dht"
	routinghelpers "github.com/libp2p/go-libp2p-routing-helpers"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/routing"

	"github.com/venn-p2p/venn/node"
)

// exchanger is a peer with blocks: Bitswap, and what finds providers for it.
type exchanger struct {
	host   host.Host
	node   *node.Node // nil: none
	blocks blockstore.Blockstore
	swap   *bitswap.Bitswap
}

// received counts the Bitswap messages of all exchangers where they arrive: the tracer is not told of all that are sent.
type received struct{ n atomic.Int64 }

func (r *received) MessageReceived(peer.ID, bsmsg.BitSwapMessage) { r.n.Add(1) }
func (r *received) MessageSent(peer.ID, bsmsg.BitSwapMessage)     {}

// searchDelay is how long Bitswap waits for its broadcast before it looks for providers. With none, it may look before it
// knows what for, and then never again.
const searchDelay = 50 * time.Millisecond

func newExchanger(t *testing.T, withVenn bool, count *received, opts ...bitswap.Option) *exchanger {
	t.Helper()
	x := &exchanger{host: newHost(t), blocks: blockstore.NewBlockstore(dssync.MutexWrap(ds.NewMapDatastore()))}
	var router routing.ContentDiscovery = routinghelpers.Null{}
	if withVenn {
		n, err := node.New(x.host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		x.node, router = n, n
	}
	opts = append(opts, bitswap.WithTracer(count), bitswap.WithClientOption(client.ProviderSearchDelay(searchDelay)),
		bitswap.WithClientOption(client.WithPerPeerSendDelay(time.Microsecond)))
	x.swap = bitswap.New(t.Context(), bsnet.NewFromIpfsHost(x.host), router, x.blocks, opts...)
	t.Cleanup(func() { _ = x.swap.Close() })
	return x
}

// hold gives a peer a block.
func (x *exchanger) hold(t *testing.T, b blocks.Block) {
	t.Helper()
	if err := x.blocks.Put(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if x.node != nil {
		if err := x.node.Provide(t.Context(), b.Cid(), true); err != nil {
			t.Fatal(err)
		}
	}
}

func connect(t *testing.T, a, b host.Host) {
	t.Helper()
	var err error
	for range 3 { // a busy machine may be too slow to shake hands
		if err = a.Connect(t.Context(), peer.AddrInfo{ID: b.ID(), Addrs: b.Addrs()}); err == nil {
			return
		}
	}
	t.Fatal(err)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// TestBitswap fetches a block from a peer that is known through venn alone: both are connected only to a third, which has
// no blocks.
func TestBitswap(t *testing.T) {
	var count received
	a, b, hub := newExchanger(t, true, &count), newExchanger(t, true, &count), newExchanger(t, true, &count)
	block := blocks.NewBlock([]byte("a block"))
	b.hold(t, block)
	connect(t, a.host, hub.host)
	connect(t, b.host, hub.host)
	eventually(t, "a knows b", func() bool { _, err := a.node.Held(t.Context(), b.host.ID()); return err == nil })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	got, err := a.swap.GetBlock(ctx, block.Cid())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.RawData(), block.RawData()) {
		t.Errorf("fetched %q", got.RawData())
	}
}

const (
	swappers = 16 // peers
	degree   = 4  // connections that each makes
	fetches  = 40
)

// swapResult is what fetches of lacked blocks brought, and the Bitswap messages they took.
type swapResult struct {
	near, nearFound, far, farFound int // fetches of blocks that a neighbour has, or none has; and of these, the successful
	messages                       int64
}

func (r swapResult) perFetch() float64 { return float64(r.messages) / fetches }

// swap has peers of a random network fetch blocks that they lack: each block is held by two. patience is for one fetch.
func swap(t *testing.T, withVenn bool, patience time.Duration, opts ...bitswap.Option) (r swapResult) {
	rng := rand.New(rand.NewPCG(1, 1))
	var count received
	all := make([]*exchanger, swappers)
	for i := range all {
		all[i] = newExchanger(t, withVenn, &count, opts...)
	}
	type fetch struct {
		by      *exchanger
		block   blocks.Block
		holders [2]*exchanger
	}
	var todo []fetch
	for i := range fetches {
		who := rng.Perm(swappers)
		f := fetch{all[who[0]], blocks.NewBlock(fmt.Appendf(nil, "block %d", i)), [2]*exchanger{all[who[1]], all[who[2]]}}
		for _, h := range f.holders {
			h.hold(t, f.block)
		}
		todo = append(todo, f)
	}
	for i, x := range all {
		for _, j := range rng.Perm(swappers)[:degree] {
			if i != j {
				connect(t, x.host, all[j].host)
			}
		}
	}
	if withVenn {
		eventually(t, "all know all", func() bool {
			for _, x := range all {
				s, err := x.node.Status(t.Context())
				if err != nil || s.Origins < swappers-4 { // some hold nothing
					return false
				}
			}
			return true
		})
	}
	time.Sleep(500 * time.Millisecond) // greetings
	count.n.Store(0)
	for _, f := range todo {
		near := slices.ContainsFunc(f.holders[:], func(h *exchanger) bool { return len(f.by.host.Network().ConnsToPeer(h.host.ID())) > 0 })
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := f.by.swap.GetBlock(ctx, f.block.Cid())
		cancel()
		switch {
		case near && err == nil:
			r.near, r.nearFound = r.near+1, r.nearFound+1
		case near:
			r.near++
		case err == nil:
			r.far, r.farFound = r.far+1, r.farFound+1
		default:
			r.far++
		}
	}
	time.Sleep(300 * time.Millisecond) // cancels
	r.messages = count.n.Load()
	return r
}

// TestBitswapMessages compares Bitswap that finds providers through venn with its broadcast alone, on the same network.
func TestBitswapMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute")
	}
	alone := swap(t, false, time.Second)
	with := swap(t, true, 5*time.Second)
	quiet := swap(t, true, 5*time.Second, bitswap.WithClientOption(client.BroadcastControlEnable(true)),
		bitswap.WithClientOption(client.BroadcastControlLocalPeers(true)), bitswap.WithClientOption(client.BroadcastControlMaxPeers(0)),
		bitswap.WithClientOption(client.BroadcastControlMaxRandomPeers(0)))
	for name, r := range map[string]swapResult{"broadcast alone": alone, "venn and broadcast": with, "venn without broadcast": quiet} {
		t.Logf("%-22s: %.1f messages a fetch; found %d of %d that a neighbour has, %d of %d that none has", name, r.perFetch(), r.nearFound, r.near, r.farFound, r.far)
	}
	if alone.farFound > 0 {
		t.Errorf("broadcast found %d blocks that no neighbour has", alone.farFound)
	}
	for _, r := range []swapResult{with, quiet} {
		if r.nearFound+r.farFound != fetches {
			t.Errorf("venn: %d of %d blocks found", r.nearFound+r.farFound, fetches)
		}
	}
	if quiet.perFetch() > 6 {
		t.Errorf("%.1f messages a fetch without broadcast, at most 6 are needed", quiet.perFetch())
	}
}

// contentOnly makes a router of content alone a whole one.
func contentOnly(r routing.ContentRouting) routing.Routing {
	return &routinghelpers.Compose{ContentRouting: r}
}

// TestFallbackToDHT asks venn first and a DHT for what venn does not find.
func TestFallbackToDHT(t *testing.T) {
	var hosts [4]host.Host
	var dhts [4]*dht.IpfsDHT
	for i := range hosts {
		hosts[i] = newHost(t)
		d, err := dht.New(hosts[i], dht.Mode(dht.ModeServer), dht.ProtocolPrefix("/venn-test"),
			dht.AddressFilter(nil), dht.DisableAutoRefresh())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		dhts[i] = d
		if i > 0 {
			connect(t, hosts[i], hosts[0])
		}
	}
	eventually(t, "the DHT knows its peers", func() bool {
		return dhts[0].RoutingTable().Size() == 3 && dhts[1].RoutingTable().Size() > 0 && dhts[2].RoutingTable().Size() > 0
	})
	var nodes [2]*node.Node // hosts 0 and 1 run venn, 2 and 3 only the DHT
	for i := range nodes {
		n, err := node.New(hosts[i])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		nodes[i] = n
	}
	inVenn, inDHT := blocks.NewBlock([]byte("in venn")).Cid(), blocks.NewBlock([]byte("in the DHT")).Cid()
	if err := nodes[1].Provide(t.Context(), inVenn, true); err != nil {
		t.Fatal(err)
	}
	if err := dhts[2].Provide(t.Context(), inDHT, true); err != nil {
		t.Fatal(err)
	}
	eventually(t, "host 0 knows host 1's summary", func() bool { _, err := nodes[0].Held(t.Context(), hosts[1].ID()); return err == nil })

	router := routinghelpers.NewComposableSequential([]*routinghelpers.SequentialRouter{
		{Router: contentOnly(nodes[0]), IgnoreError: true, Timeout: 5 * time.Second},
		{Router: dhts[0], IgnoreError: true, Timeout: 30 * time.Second},
	})
	for c, want := range map[cid.Cid]peer.ID{inVenn: hosts[1].ID(), inDHT: hosts[2].ID()} {
		var got []peer.ID
		for p := range router.FindProvidersAsync(t.Context(), c, 1) {
			got = append(got, p.ID)
		}
		if !slices.Equal(got, []peer.ID{want}) {
			t.Errorf("%v: %v, want %v", c, got, want)
		}
	}
}
