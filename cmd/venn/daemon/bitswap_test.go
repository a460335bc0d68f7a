package daemon

import (
	"bytes"
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipfs/boxo/bitswap"
	"github.com/ipfs/boxo/bitswap/client"
	bsmsg "github.com/ipfs/boxo/bitswap/message"
	"github.com/ipfs/boxo/bitswap/network/bsnet"
	"github.com/ipfs/boxo/blockstore"
	"github.com/ipfs/boxo/routing/providerquerymanager"
	blocks "github.com/ipfs/go-block-format"
	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	routinghelpers "github.com/libp2p/go-libp2p-routing-helpers"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/routing"
	mh "github.com/multiformats/go-multihash"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/testnet/workload"
)

// exchanger is a peer with blocks: Bitswap, and what finds providers for it.
type exchanger struct {
	host   host.Host
	node   *node.Node // nil: none
	blocks blockstore.Blockstore
	swap   *bitswap.Bitswap
}

func (x *exchanger) close() {
	_ = x.swap.Close()
	if x.node != nil {
		_ = x.node.Close()
	}
	_ = x.host.Close()
}

// knows is how many summaries of others a peer has.
func (x *exchanger) knows(t *testing.T) int {
	t.Helper()
	s, err := x.node.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Origins
}

// received counts the Bitswap messages of all exchangers where they arrive, because the tracer does not see all that
// are sent.
type received struct{ n atomic.Int64 }

func (r *received) MessageReceived(peer.ID, bsmsg.BitSwapMessage) { r.n.Add(1) }
func (r *received) MessageSent(peer.ID, bsmsg.BitSwapMessage)     {}

// searchDelay is how long Bitswap waits for its broadcast before it looks for providers. With none, it may look before
// it knows what for, and then never again.
const searchDelay = 50 * time.Millisecond

// providers caps the providers that Bitswap takes for a block. It asks all of them, and each found by venn has
// confirmed that it holds the block.
const providers = 2

func newExchanger(t *testing.T, withVenn bool, count *received, opts ...bitswap.Option) *exchanger {
	t.Helper()
	x := &exchanger{host: newHost(t), blocks: blockstore.NewBlockstore(dssync.MutexWrap(ds.NewMapDatastore()))}
	var router routing.ContentDiscovery = routinghelpers.Null{}
	if withVenn {
		n, err := node.New(x.host, node.WithMaxConnections(max(32, 6**degree)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		x.node = n
		few, err := providerquerymanager.New(bsnet.NewFromIpfsHost(x.host), n, providerquerymanager.WithMaxProviders(providers))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(few.Close)
		router = few
	}
	opts = append(opts, bitswap.WithClientOption(client.WithDefaultProviderQueryManager(false)), bitswap.WithTracer(count), bitswap.WithClientOption(client.ProviderSearchDelay(searchDelay)),
		bitswap.WithClientOption(client.WithPerPeerSendDelay(time.Microsecond)))
	x.swap = bitswap.New(t.Context(), bsnet.NewFromIpfsHost(x.host), router, x.blocks, opts...)
	t.Cleanup(func() { _ = x.swap.Close() })
	return x
}

// hold gives a peer blocks.
func (x *exchanger) hold(t *testing.T, all ...blocks.Block) {
	t.Helper()
	noErr(t, x.blocks.PutMany(t.Context(), all))
	if x.node == nil {
		return
	}
	keys := make([]mh.Multihash, len(all))
	for i, b := range all {
		keys[i] = b.Cid().Hash()
	}
	noErr(t, x.node.ProvideMany(t.Context(), keys))
}

func connect(t *testing.T, a, b host.Host) {
	t.Helper()
	eventually(t, "connected", func() bool { // a busy machine may be too slow to shake hands, and both ends may dial at the same moment
		return a.Connect(t.Context(), peer.AddrInfo{ID: b.ID(), Addrs: b.Addrs()}) == nil
	})
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// TestBitswap fetches a block from a peer that is known through venn alone: both are connected only to a third, which
// has no blocks.
func TestBitswap(t *testing.T) {
	var count received
	a, b, hub := newExchanger(t, true, &count), newExchanger(t, true, &count), newExchanger(t, true, &count)
	block := blocks.NewBlock([]byte("a block"))
	b.hold(t, block)
	connect(t, a.host, hub.host)
	connect(t, b.host, hub.host)
	eventually(t, "a knows b", func() bool { _, err := a.node.SummaryOf(t.Context(), b.host.ID()); return err == nil })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := a.swap.GetBlock(ctx, block.Cid())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.RawData(), block.RawData()) {
		t.Errorf("fetched %q", got.RawData())
	}
}

var (
	swappers = flag.Int("swappers", 16, "peers of TestBitswapMessages: so many of the Debian data, which has 121")
	degree   = flag.Int("degree", 4, "connections that each of them makes; others make as many to it")
	fetches  = flag.Int("fetches", 40, "blocks that they fetch")
)

// fetch is a block that a peer lacks.
type fetch struct {
	by    int
	block blocks.Block
	near  bool // a neighbour has it
}

// exchange says who holds what, who is connected to whom, and what is to be fetched.
type exchange struct {
	holds   [][]blocks.Block
	edges   [][2]int
	fetches []fetch
}

// debian is an exchange of machines of the Debian data, with one small block for each file and random connections. It
// fetches as many blocks that a neighbour holds as others.
func debian(t *testing.T, peers, degree, fetches int) (x exchange) {
	t.Helper()
	data, err := workload.Load(workload.Config{Chunk: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	if peers > len(data.Peers()) {
		t.Fatalf("-swappers %d: the data has %d", peers, len(data.Peers()))
	}
	rng := rand.New(rand.NewPCG(1, 1))
	machines := rng.Perm(len(data.Peers()))[:peers]
	neighbours, holders := make([]map[int]bool, peers), make(map[uint32][]int)
	for i := range peers {
		neighbours[i] = make(map[int]bool)
	}
	for i, m := range machines {
		var held []blocks.Block
		for _, k := range data.Collections()[m] {
			holders[k] = append(holders[k], i)
			held = append(held, blocks.NewBlock(data.Key(k)))
		}
		x.holds = append(x.holds, held)
		for _, j := range rng.Perm(peers)[:degree] {
			if i != j && !neighbours[i][j] {
				neighbours[i][j], neighbours[j][i] = true, true
				x.edges = append(x.edges, [2]int{i, j})
			}
		}
	}
	left := map[bool]int{true: fetches / 2, false: fetches - fetches/2}
	for range 1_000_000 {
		k, by := uint32(rng.IntN(data.Keys())), rng.IntN(peers)
		if len(holders[k]) == 0 || slices.Contains(holders[k], by) {
			continue
		}
		near := slices.ContainsFunc(holders[k], func(h int) bool { return neighbours[by][h] })
		if left[near] == 0 {
			continue
		}
		left[near]--
		x.fetches = append(x.fetches, fetch{by, blocks.NewBlock(data.Key(k)), near})
	}
	if left[true]+left[false] > 0 {
		t.Fatalf("%v fetches cannot be had of this network", left)
	}
	return x
}

// swapResult is what fetches of lacked blocks brought, and the Bitswap messages they took.
type swapResult struct {
	near, nearFound, far, farFound int // fetches of blocks that a neighbour has, or none has; and of these, the successful
	nearMessages, farMessages      int64
}

func perFetch(messages int64, fetches int) float64 {
	return float64(messages) / float64(max(1, fetches))
}

// atATime is how many fetches are under way: those that find nothing take as long as patience.
const atATime = 8

// swap makes the fetches of x with Bitswap, beginning with those of blocks that a neighbour has. patience is for one.
func swap(t *testing.T, x exchange, withVenn bool, patience time.Duration, opts ...bitswap.Option) (r swapResult) {
	t.Helper()
	var count received
	all := make([]*exchanger, len(x.holds))
	for i := range all {
		all[i] = newExchanger(t, withVenn, &count, opts...)
		all[i].hold(t, x.holds[i]...)
	}
	defer func() {
		for _, e := range all {
			e.close()
		}
	}()
	for _, e := range x.edges {
		connect(t, all[e[0]].host, all[e[1]].host)
	}
	if withVenn {
		eventually(t, "all know all", func() bool {
			return !slices.ContainsFunc(all, func(e *exchanger) bool { return e.knows(t) < len(all)-1 })
		})
	}
	run := func(near bool) (tried, found int, messages int64) {
		time.Sleep(time.Second) // greetings, and what is left of fetches before
		count.n.Store(0)
		var mu sync.Mutex
		var g errgroup.Group
		g.SetLimit(atATime)
		for _, f := range x.fetches {
			if f.near != near {
				continue
			}
			tried++
			g.Go(func() error {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if _, err := all[f.by].swap.GetBlock(ctx, f.block.Cid()); err == nil {
					mu.Lock()
					defer mu.Unlock()
					found++
				}
				return nil
			})
		}
		_ = g.Wait()
		time.Sleep(300 * time.Millisecond) // cancels
		return tried, found, count.n.Load()
	}
	r.near, r.nearFound, r.nearMessages = run(true)
	r.far, r.farFound, r.farMessages = run(false)
	return r
}

// TestBitswapMessages compares Bitswap that finds providers through venn with its broadcast alone, on the same network.
// The figures of 121 peers:
//
//	go test ./cmd/venn/daemon -run TestBitswapMessages -v -swappers 121 -degree 15 -fetches 500
func TestBitswapMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("ten seconds")
	}
	const patience = 30 * time.Second // a busy machine may need it
	x := debian(t, *swappers, *degree, *fetches)
	const most = 6 // messages a fetch without broadcast
	// with is swap with venn, or the third of three tries: Bitswap may look for providers before it knows what for, and
	// asks again those that answer late.
	with := func(t *testing.T, messages float64, opts ...bitswap.Option) (r swapResult) {
		for range 3 {
			r = swap(t, x, true, patience, opts...)
			if r.nearFound+r.farFound == *fetches && perFetch(r.nearMessages+r.farMessages, *fetches) <= messages {
				break
			}
			t.Logf("%+v", r)
		}
		return r
	}
	var alone, loud, quiet swapResult
	t.Run("beside each other", func(t *testing.T) {
		for name, run := range map[string]func(*testing.T){
			"alone": func(t *testing.T) { alone = swap(t, x, false, time.Second) },
			"loud":  func(t *testing.T) { loud = with(t, math.Inf(1)) },
			"quiet": func(t *testing.T) {
				quiet = with(t, most, bitswap.WithClientOption(client.BroadcastControlEnable(true)),
					bitswap.WithClientOption(client.BroadcastControlLocalPeers(true)), bitswap.WithClientOption(client.BroadcastControlMaxPeers(0)),
					bitswap.WithClientOption(client.BroadcastControlMaxRandomPeers(0)))
			},
		} {
			t.Run(name, func(t *testing.T) { t.Parallel(); run(t) })
		}
	})
	t.Logf("%d peers, each connected with about %d", *swappers, 2*len(x.edges)/len(x.holds))
	t.Logf("%-22s  %-24s  %s", "", "a neighbour has it", "no neighbour has it")
	for _, row := range []struct {
		name string
		swapResult
	}{{"broadcast alone", alone}, {"venn and broadcast", loud}, {"venn without broadcast", quiet}} {
		t.Logf("%-22s  %3d of %3d, %5.1f messages  %3d of %3d, %5.1f messages a fetch", row.name,
			row.nearFound, row.near, perFetch(row.nearMessages, row.near), row.farFound, row.far, perFetch(row.farMessages, row.far))
	}
	if alone.farFound > 0 {
		t.Errorf("broadcast found %d blocks that no neighbour has", alone.farFound)
	}
	for _, r := range []swapResult{loud, quiet} {
		if found := r.nearFound + r.farFound; found != *fetches {
			t.Errorf("venn: %d of %d blocks found", found, *fetches)
		}
	}
	if got := perFetch(quiet.nearMessages+quiet.farMessages, *fetches); got > most {
		t.Errorf("%.1f messages a fetch without broadcast, at most %d are needed", got, most)
	}
}
