package httpapi

import (
	"context"
	"testing"
	"time"

	"github.com/ipfs/boxo/routing/http/types"
	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node"
)

// TestSilentHolders: holders that do not say who serves their content keep neither each other nor the rest waiting.
func TestSilentHolders(t *testing.T) {
	here := newNode(t)
	var nodes []*node.Node
	for range 20 {
		n := newNode(t)
		add(t, n, someCID)
		if err := here.Connect(t.Context(), *host.InfoFromHost(n.Host())); err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	key := must(cid.Decode(someCID))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	talks := nodes[len(nodes)-1].ID()
	silent := make(chan peer.ID, len(nodes))
	d := delegated{here, func(ctx context.Context, holder peer.AddrInfo) []peer.AddrInfo {
		if holder.ID == talks {
			return []peer.AddrInfo{holder}
		}
		silent <- holder.ID
		<-ctx.Done()
		return nil
	}}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // until all are known to hold it
		found := 0
		for range here.FindProvidersAsync(ctx, key, 0) {
			found++
		}
		if found == len(nodes) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("found %d", found)
		}
	}
	it := must(d.FindProviders(ctx, key, 0))
	defer it.Close()
	if !it.Next() {
		t.Fatal("nobody found")
	}
	if got, ok := it.Val().Val.(*types.PeerRecord); !ok || *got.ID != talks {
		t.Errorf("found %v, want the holder that answers", it.Val().Val)
	}
	for range len(nodes) / 2 { // the others may be late to confirm on a busy machine
		select {
		case <-silent:
		case <-time.After(time.Minute):
			t.Fatal("a holder waits for another")
		}
	}
}

// TestNamedByALiar: a holder whose addresses another holder names falsely, before it answers itself, is found at its own.
func TestNamedByALiar(t *testing.T) {
	here, there := two(t)
	liar := newNode(t)
	add(t, liar, someCID)
	if err := here.Connect(t.Context(), *host.InfoFromHost(liar.Host())); err != nil {
		t.Fatal(err)
	}
	wrong := multiaddr.StringCast("/ip4/192.0.2.1/tcp/1")
	named := make(chan struct{})
	d := delegated{here, func(_ context.Context, holder peer.AddrInfo) []peer.AddrInfo {
		if holder.ID == liar.ID() {
			return []peer.AddrInfo{{ID: there.ID(), Addrs: []multiaddr.Multiaddr{wrong}}}
		}
		<-named
		return []peer.AddrInfo{holder, holder}
	}}
	key := must(cid.Decode(someCID))
	for end, found := time.Now().Add(time.Minute), 0; found < 2; time.Sleep(50 * time.Millisecond) {
		found = 0
		for range here.FindProvidersAsync(t.Context(), key, 0) {
			found++
		}
		if time.Now().After(end) {
			t.Fatalf("found %d", found)
		}
	}
	it := must(d.FindProviders(t.Context(), key, 0))
	defer it.Close()
	var got [][]types.Multiaddr
	for it.Next() {
		r := it.Val().Val.(*types.PeerRecord)
		if *r.ID != there.ID() {
			t.Errorf("found %v", r)
		}
		if got = append(got, r.Addrs); len(got) == 1 {
			close(named)
		}
	}
	if len(got) != 2 || !got[0][0].Equal(wrong) || len(got[1]) == 0 || got[1][0].Equal(wrong) {
		t.Errorf("found at %v, want once at the wrong address and once at its own", got)
	}
}
