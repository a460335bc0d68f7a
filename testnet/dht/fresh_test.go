package dht_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p"
	kad "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	mh "github.com/multiformats/go-multihash"

	"github.com/venn-p2p/venn/node"
)

// both is a host with a node and a DHT server.
type both struct {
	host host.Host
	node *node.Node
	dht  *kad.IpfsDHT
}

// beside starts hosts that are all connected, each with a node and a DHT.
func beside(t *testing.T, n int) (all []*both) {
	t.Helper()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay(), libp2p.ForceReachabilityPublic())
		fail(err)
		t.Cleanup(func() { _ = h.Close() })
		b := &both{host: h}
		b.node, err = node.New(h)
		fail(err)
		t.Cleanup(func() { _ = b.node.Close() })
		b.dht, err = kad.New(h, kad.Mode(kad.ModeServer), kad.ProtocolPrefix("/venn-beside"),
			kad.AddressFilter(func(all []ma.Multiaddr) []ma.Multiaddr { return all }))
		fail(err)
		t.Cleanup(func() { _ = b.dht.Close() })
		_, err = b.node.Add(t.Context(), digest(i, -1))
		fail(err)
		for _, o := range all {
			err := h.Connect(t.Context(), *host.InfoFromHost(o.host))
			for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) { // both ends may dial at the same moment
				err = h.Connect(t.Context(), *host.InfoFromHost(o.host))
			}
			fail(err)
		}
		all = append(all, b)
	}
	cold := func(b *both) bool { return !b.warm(t, all) }
	for end := time.Now().Add(time.Minute); slices.ContainsFunc(all, cold); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not all know all within a minute")
		}
	}
	return all
}

// warm says whether a host's node and its DHT know all others.
func (b *both) warm(t *testing.T, all []*both) bool {
	for _, o := range all {
		if held, err := b.node.SummaryOf(t.Context(), o.host.ID()); o != b && (err != nil || held.Parts() == 0) {
			return false
		}
	}
	return b.dht.RoutingTable().Size() == len(all)-1
}

func digest(host, serial int) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d", host, serial))
	key, _ := mh.Encode(sum[:], mh.SHA2_256)
	return key
}

// TestFreshBesideDHT announces the same keys through nodes and DHTs on the same hosts. Another host looks for each key
// at once, both ways, and again until it is found. The nodes find all. VENN_FRESH=60s does it for that long with ten
// hosts of ten keys a second.
func TestFreshBesideDHT(t *testing.T) {
	hosts, each, long := 4, 4, time.Second
	if d, err := time.ParseDuration(os.Getenv("VENN_FRESH")); err == nil {
		hosts, each, long = 10, 10, d
	}
	all := beside(t, hosts)
	var mu sync.Mutex
	var wg sync.WaitGroup
	took := map[string][]time.Duration{}
	// measure announces a key and looks for it until it is found.
	measure := func(name string, holder peer.ID, announce func(context.Context) error, find func(context.Context) bool) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		began, fault := time.Now(), t.Errorf
		if name != "venn" { // only the node is under test
			fault = t.Logf
		}
		wg.Go(func() {
			if err := announce(t.Context()); err != nil {
				fault("%s at %s: %v", name, holder, err)
			}
		})
		wg.Go(func() {
			defer cancel()
			for !find(ctx) {
				if ctx.Err() != nil {
					fault("%s: a key of %s is not found within a minute", name, holder)
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			mu.Lock()
			defer mu.Unlock()
			took[name] = append(took[name], time.Since(began))
		})
	}
	for i := range int(long.Seconds() * float64(each)) {
		at := time.Now()
		for k, b := range all {
			key, holder, finder := digest(k, i), b.host.ID(), all[(k+1+i%(hosts-1))%hosts]
			measure("venn", holder, func(ctx context.Context) error { _, err := b.node.Add(ctx, key); return err }, func(ctx context.Context) bool {
				r, err := finder.node.Query(ctx, key, node.QueryOptions{})
				if err != nil {
					return false
				}
				for p := range r.Providers() {
					return p.ID == holder
				}
				return false
			})
			id := cid.NewCidV1(cid.Raw, key)
			measure("kad-dht", holder, func(ctx context.Context) error { return b.dht.Provide(ctx, id, true) }, func(ctx context.Context) bool {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				for p := range finder.dht.FindProvidersAsync(ctx, id, 1) {
					return p.ID == holder
				}
				return false
			})
		}
		time.Sleep(time.Until(at.Add(time.Second / time.Duration(each))))
	}
	wg.Wait()
	for _, name := range []string{"venn", "kad-dht"} {
		d := took[name]
		if slices.Sort(d); len(d) == 0 { // the nodes' have failed the test by now
			continue
		}
		t.Logf("%s: %d keys, found after p50 %v, p99 %v", name, len(d), d[len(d)/2], d[len(d)*99/100])
	}
}
