package node

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	routinghelpers "github.com/libp2p/go-libp2p-routing-helpers"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/routing"
	mh "github.com/multiformats/go-multihash"
)

var _ routinghelpers.ProvideManyRouter = (*Node)(nil)

func hashOf(t testing.TB, text string) mh.Multihash {
	t.Helper()
	h := must(mh.Sum([]byte(text), mh.SHA2_256, -1))
	return h
}

func providers(ctx context.Context, r routing.ContentDiscovery, c cid.Cid, count int) (out []peer.ID) {
	for p := range r.FindProvidersAsync(ctx, c, count) {
		out = append(out, p.ID)
	}
	return out
}

func TestContentRouting(t *testing.T) {
	t.Parallel()
	a, b, c := newNode(t), newNode(t), newNode(t)
	for _, n := range []*Node{b, c} {
		connect(t, a, n)
	}
	h := hashOf(t, "content")
	added := cid.NewCidV1(cid.DagProtobuf, h)
	if err := b.Provide(t.Context(), added, true); err != nil {
		t.Fatal(err)
	}
	if err := c.ProvideMany(t.Context(), []mh.Multihash{h, hashOf(t, "more")}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a knows b and c", func() bool { return knows(a, b) && knows(a, c) })
	asked := cid.NewCidV1(cid.Raw, h) // as IPFS clients ask
	if got := providers(t.Context(), a, asked, 0); len(got) != 2 || !slices.Contains(got, b.ID()) || !slices.Contains(got, c.ID()) {
		t.Errorf("without a limit: %v", got)
	}
	for _, c := range []cid.Cid{asked, added, cid.NewCidV0(h)} {
		if got := providers(t.Context(), a, c, 1); len(got) != 1 {
			t.Errorf("%v: %v, want one", c, got)
		}
	}
	if err := b.StopProviding(h); err != nil {
		t.Fatal(err)
	}
	if got := providers(t.Context(), a, asked, 0); !slices.Equal(got, []peer.ID{c.ID()}) {
		t.Errorf("after b stopped: %v", got)
	}
}

func TestFindProvidersAsyncEnds(t *testing.T) {
	t.Parallel()
	a, b := newNode(t), newNode(t)
	connect(t, a, b)
	h := hashOf(t, "content")
	if err := b.StartProviding(false, h); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a knows b", func() bool { return knows(a, b) })
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := cid.NewCidV1(cid.Raw, h)
	for name, ch := range map[string]<-chan peer.AddrInfo{
		"no CID":        a.FindProvidersAsync(t.Context(), cid.Undef, 0),
		"count below 0": a.FindProvidersAsync(t.Context(), c, -1),
		"context over":  a.FindProvidersAsync(ended, c, 0),
		"nobody's":      a.FindProvidersAsync(t.Context(), cid.NewCidV1(cid.Raw, hashOf(t, "none")), 0),
	} {
		for p := range ch {
			t.Errorf("%s: %v", name, p)
		}
	}
	// Nobody receives: the channel closes when the context ends.
	ctx, stop := context.WithCancel(t.Context())
	ch := a.FindProvidersAsync(ctx, c, 0)
	stop()
	select {
	case <-ch:
	case <-time.After(time.Minute):
		t.Error("the channel is still open after the context has ended")
	}
	if !a.Ready() {
		t.Error("not ready")
	}
	_ = a.Close()
	if a.Ready() || providers(t.Context(), a, c, 0) != nil {
		t.Error("ready, or finds, when closed")
	}
	if err := a.Provide(t.Context(), c, true); err == nil {
		t.Error("provides when closed")
	}
}
