package node_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipfs/boxo/bitswap"
	"github.com/ipfs/boxo/bitswap/network/bsnet"
	"github.com/ipfs/boxo/blockstore"
	blocks "github.com/ipfs/go-block-format"
	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	"github.com/libp2p/go-libp2p"
	dht "github.com/libp2p/go-libp2p-kad-dht"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"

	"github.com/venn-p2p/venn/node"
)

var guestTime = flag.Duration("guest", 8*time.Second, "how long TestGuest runs")

const (
	besides   = 5 // hosts of an application
	turns     = 4 // without venn, with it, and again
	echoEvery = 50 * time.Millisecond
	opTime    = time.Minute // an operation that takes longer has failed
)

// application is one host and what runs on it besides venn: kad-dht, Bitswap, a gossipsub of its own, and a protocol
// with a lasting stream.
type application struct {
	host   host.Host
	dht    *dht.IpfsDHT
	swap   *bitswap.Bitswap
	blocks blockstore.Blockstore
	topic  *pubsub.Topic
	sub    *pubsub.Subscription
	node   *node.Node // nil: none
}

// applications is a network of them.
type applications struct {
	all    []*application
	echoes atomic.Int64 // answers on the streams that stay open
	cut    atomic.Int64 // of these streams
	sent   atomic.Int64 // messages of the application's gossipsub, times the peers that are to get them
	came   atomic.Int64

	mu   sync.Mutex
	took map[string][]time.Duration // of operations, by kind
}

const echoID = "/application/echo/1"

func newApplications(t *testing.T, withVenn bool) *applications {
	a := &applications{took: make(map[string][]time.Duration)}
	for i := range besides {
		x := newApplication(t)
		if withVenn {
			x.node = newGuest(t, x.host, i)
		}
		for _, y := range a.all {
			var err error
			for end := time.Now().Add(opTime); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
				if err = x.host.Connect(t.Context(), *host.InfoFromHost(y.host)); err == nil { // it fails when y dials at the same moment
					break
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		a.all = append(a.all, x)
	}
	for _, x := range a.all {
		go a.listen(t.Context(), x)
	}
	for end := time.Now().Add(opTime); !a.formed(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the application's DHT or its mesh is not formed within %v", opTime)
		}
	}
	for _, x := range a.all[1:] {
		s, err := a.all[0].host.NewStream(t.Context(), x.host.ID(), echoID)
		if err != nil {
			t.Fatal(err)
		}
		go a.echo(t.Context(), s)
	}
	return a
}

// formed says whether every DHT knows all others, and all are in one mesh of the application's gossipsub.
func (a *applications) formed() bool {
	for _, x := range a.all {
		if x.dht.RoutingTable().Size() < besides-1 {
			return false
		}
		for _, y := range a.all {
			if x != y && !x.host.ConnManager().IsProtected(y.host.ID(), "pubsub:application") {
				return false
			}
		}
	}
	return true
}

func newApplication(t *testing.T) *application {
	t.Helper()
	manager, err := connmgr.NewConnManager(100, 200)
	if err != nil {
		t.Fatal(err)
	}
	h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.ConnectionManager(manager), libp2p.DisableRelay())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	h.SetStreamHandler(echoID, func(s network.Stream) { _, _ = io.Copy(s, s) })
	x := &application{host: h, blocks: blockstore.NewBlockstore(dssync.MutexWrap(ds.NewMapDatastore()))}
	if x.dht, err = dht.New(h, dht.Mode(dht.ModeServer), dht.ProtocolPrefix("/application"), dht.AddressFilter(nil), dht.DisableAutoRefresh()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.dht.Close() })
	x.swap = bitswap.New(t.Context(), bsnet.NewFromIpfsHost(h), x.dht, x.blocks)
	t.Cleanup(func() { _ = x.swap.Close() })
	ps, err := pubsub.NewGossipSub(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	if x.topic, err = ps.Join("application"); err != nil {
		t.Fatal(err)
	}
	if x.sub, err = x.topic.Subscribe(pubsub.WithBufferSize(1024)); err != nil {
		t.Fatal(err)
	}
	return x
}

// newGuest runs a node on a host, and keeps it busy: its keys change, and it is asked.
func newGuest(t *testing.T, h host.Host, number int) *node.Node {
	t.Helper()
	n, err := node.New(h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	key := func(peer, i int) []byte { return fmt.Appendf(nil, "key %d of %d", i, peer) }
	ctx, keys := t.Context(), make([][]byte, 2000)
	for i := range keys {
		keys[i] = key(number, i)
	}
	if _, err := n.Add(ctx, keys...); err != nil {
		t.Fatal(err)
	}
	go func() {
		for i := len(keys); ctx.Err() == nil; i++ {
			_, _ = n.Add(ctx, key(number, i))
			if r, err := n.Query(ctx, key(i%besides, i%len(keys)), node.QueryOptions{}); err == nil {
				_, _ = r.Stats()
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return n
}

// echo says something on a stream now and then and waits for the answer, until the test ends.
func (a *applications) echo(ctx context.Context, s network.Stream) {
	b := make([]byte, 8)
	for i := uint64(1); ctx.Err() == nil; i++ {
		binary.BigEndian.PutUint64(b, i)
		if _, err := s.Write(b); err == nil {
			_, err = io.ReadFull(s, b)
			if err == nil && binary.BigEndian.Uint64(b) == i {
				a.echoes.Add(1)
				time.Sleep(echoEvery)
				continue
			}
		}
		if ctx.Err() == nil {
			a.cut.Add(1)
		}
		return
	}
}

// listen takes in the messages of the application's gossipsub.
func (a *applications) listen(ctx context.Context, x *application) {
	for {
		m, err := x.sub.Next(ctx)
		if err != nil {
			return
		}
		if m.ReceivedFrom != x.host.ID() || m.GetFrom() != x.host.ID() {
			a.came.Add(1)
			a.note("message", time.Since(time.Unix(0, int64(binary.BigEndian.Uint64(m.Data)))))
		}
	}
}

func (a *applications) note(kind string, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.took[kind] = append(a.took[kind], took)
}

// work keeps all busy for a time: blocks are put, announced in the DHT, looked for there, fetched by Bitswap; and
// messages are sent.
func (a *applications) work(t *testing.T, rng *rand.Rand, d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		i := rng.IntN(besides)
		from, to := a.all[i], a.all[(i+1+rng.IntN(besides-1))%besides]
		data := make([]byte, 2000)
		for k := range data {
			data[k] = byte(rng.Uint32())
		}
		a.exchange(t, from, to, blocks.NewBlock(data))
		a.sent.Add(besides - 1)
		if err := from.topic.Publish(t.Context(), binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano()))); err != nil {
			t.Error(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// exchange brings a block from one application to another.
func (a *applications) exchange(t *testing.T, from, to *application, b blocks.Block) {
	ctx, cancel := context.WithTimeout(t.Context(), opTime)
	defer cancel()
	if err := from.blocks.Put(ctx, b); err != nil {
		t.Error(err)
	}
	timed := func(kind string, do func() bool) {
		began := time.Now()
		if !do() {
			t.Errorf("%s failed", kind)
		}
		a.note(kind, time.Since(began))
	}
	timed("dht provide", func() bool { return from.dht.Provide(ctx, b.Cid(), true) == nil })
	timed("dht find", func() bool {
		for p := range to.dht.FindProvidersAsync(ctx, b.Cid(), 1) {
			return p.ID == from.host.ID()
		}
		return false
	})
	timed("bitswap get", func() bool { _, err := to.swap.GetBlock(ctx, b.Cid()); return err == nil })
}

// TestGuest runs kad-dht, Bitswap, an application's gossipsub and streams of its own on hosts without venn and on hosts
// with it, in turns. On the latter nothing is cut, lost, or slower by more than a busy machine's noise. With -guest 10m
// and -timeout 20m it runs for ten minutes.
func TestGuest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 8 s")
	}
	if end, ok := t.Deadline(); ok && *guestTime > time.Minute && time.Until(end) < *guestTime+2*time.Minute {
		t.Fatalf("-guest %v takes -timeout %v", *guestTime, *guestTime+10*time.Minute)
	}
	without, with := newApplications(t, false), newApplications(t, true)
	rng := rand.New(rand.NewPCG(1, 1))
	var slow []string
	rounds := 3 // what else a machine does may fall on the turns of one
	if *guestTime > time.Minute {
		rounds = 1
	}
	for range rounds {
		for range turns / 2 {
			without.work(t, rng, *guestTime/turns)
			with.work(t, rng, *guestTime/turns)
		}
		if slow = slower(t, without, with); len(slow) == 0 {
			break
		}
	}
	if len(slow) > 0 {
		t.Error(strings.Join(slow, "; "))
	}
	for end := time.Now().Add(time.Minute); with.came.Load() < with.sent.Load() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("in %v, half of it beside venn: %d answers on streams that stay open, %d streams cut; %d of %d messages of gossipsub came", *guestTime, with.echoes.Load(), with.cut.Load(), with.came.Load(), with.sent.Load())
	if with.cut.Load() > 0 || with.echoes.Load() == 0 {
		t.Errorf("%d streams were cut, %d answers", with.cut.Load(), with.echoes.Load())
	}
	if lost := with.sent.Load() - with.came.Load(); lost > max(0, without.sent.Load()-without.came.Load()) {
		t.Errorf("%d messages of the application's gossipsub are lost", lost)
	}
}

// slower logs how long operations took, and returns which took much longer beside venn.
func slower(t *testing.T, without, with *applications) (slow []string) {
	for _, kind := range []string{"dht provide", "dht find", "bitswap get", "message"} {
		x, y := without.times(kind), with.times(kind)
		a, b := quantiles(x), quantiles(y)
		t.Logf("%-12s p50 %6.2f ms, p90 %6.2f ms of %d beside venn; p50 %6.2f ms, p90 %6.2f ms of %d without it",
			kind, ms(b[0]), ms(b[1]), len(y), ms(a[0]), ms(a[1]), len(x))
		if b[0] > 2*a[0]+noise {
			slow = append(slow, fmt.Sprintf("%s: the median, %.2f ms, is longer than the %.2f ms without venn by more than noise: twice that and %v",
				kind, ms(b[0]), ms(a[0]), noise))
		}
	}
	return slow
}

// times are how long operations of a kind have taken since the last look at them.
func (a *applications) times(kind string) []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.took[kind]
	delete(a.took, kind)
	return all
}

// noise is how much a median may differ besides twice. On a machine that others use too, it varies by about that much
// from run to run.
const noise = 20 * time.Millisecond

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func quantiles(all []time.Duration) (q [2]time.Duration) {
	if len(all) == 0 {
		return q
	}
	slices.Sort(all)
	return [2]time.Duration{all[len(all)/2].Round(time.Microsecond), all[len(all)*9/10].Round(time.Microsecond)}
}

// TestIdleCost says what an idle node costs its host.
func TestIdleCost(t *testing.T) {
	const nodes = 10
	var hosts []host.Host
	for range nodes {
		h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		hosts = append(hosts, h)
	}
	state := func() (bytes, goroutines int) {
		var m runtime.MemStats
		for range 3 { // what has just begun settles, what is finalized goes
			time.Sleep(100 * time.Millisecond)
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine()
	}
	bytesBefore, goroutinesBefore := state()
	for _, h := range hosts {
		n, err := node.New(h)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
	}
	bytes, goroutines := state()
	bytes, goroutines = (bytes-bytesBefore)/nodes, (goroutines-goroutinesBefore)/nodes
	t.Logf("an idle node takes %d KiB and %d goroutines above its host", bytes>>10, goroutines)
	if bytes > 4<<20 || goroutines > 40 {
		t.Errorf("%d bytes, %d goroutines", bytes, goroutines)
	}
}
