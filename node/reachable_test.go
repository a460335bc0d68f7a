package node

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node/internal/links"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
)

// publicly is a host that says it has a public address.
type publicly struct{ host.Host }

func (publicly) Addrs() []ma.Multiaddr { return []ma.Multiaddr{ma.StringCast("/ip4/8.8.4.4/tcp/1")} }

// TestChangedAddresses: others learn of a changed address soon.
func TestChangedAddresses(t *testing.T) {
	t.Parallel()
	var public atomic.Bool
	extra := ma.StringCast("/ip4/203.0.113.7/tcp/4001")
	h := hostWith(t, libp2p.ResourceManager(&network.NullResourceManager{}), libp2p.AddrsFactory(func(a []ma.Multiaddr) []ma.Multiaddr {
		if public.Load() {
			return append(slices.Clone(a), extra)
		}
		return a
	}))
	n, m := nodeOn(t, h), newNode(t)
	add(t, n, []byte("k"))
	connect(t, m, n)
	eventually(t, "known", func() bool { return knows(m, n) })
	public.Store(true)
	eventually(t, "the host has noticed", func() bool { return slices.ContainsFunc(h.Addrs(), extra.Equal) })
	noticed := time.Now()
	eventually(t, "others know the new address", func() bool {
		now, err := m.FindPeer(t.Context(), n.ID())
		return err == nil && slices.ContainsFunc(now.Addrs, extra.Equal)
	})
	t.Logf("%v after the host", time.Since(noticed))
}

// TestManyAddresses: a host of more addresses than fit in a record tells some of them, the most useful ones.
func TestManyAddresses(t *testing.T) {
	t.Parallel()
	var many []ma.Multiaddr
	for i := range 40 {
		many = append(many, ma.StringCast(fmt.Sprintf("/ip4/127.0.0.1/udp/%d/quic-v1/webtransport/certhash/uEiAkH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevQ/certhash/uEiAfbgiymPP2_nX7Dgir8B4QkksjHp2lVuJZz0F79Be9JA", 1000+i)))
	}
	useful := ma.StringCast("/ip4/8.8.8.8/tcp/4001")
	many = append(many, useful)
	h := hostWith(t, libp2p.ResourceManager(&network.NullResourceManager{}), libp2p.AddrsFactory(func([]ma.Multiaddr) []ma.Multiaddr { return many }))
	n := nodeOn(t, h)
	add(t, n, []byte("k"))
	eventually(t, "a summary", func() bool { return statusOf(t, n).Epoch.Sequence > 0 })
	b, err := signed.OwnRecord(h, n.key, nil)
	if err != nil || len(b) > wire.MaxRecord {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	r, err := signed.OpenRecord(b)
	if err != nil || len(r.Addrs) < 2 || !r.Addrs[0].Equal(useful) {
		t.Errorf("%v, %v", r.Addrs, err)
	}
}

// bare is a host with nothing but the options.
func bare(t testing.TB, opts ...libp2p.Option) host.Host {
	t.Helper()
	return hostOf(t, append(opts, libp2p.ResourceManager(&network.NullResourceManager{}), libp2p.DisableMetrics())...)
}

// TestRelayed: two peers that only a relay connects find each other's keys.
func TestRelayed(t *testing.T) {
	noiseFirst := libp2p.Security(noise.ID, noise.New)
	rh := bare(t, libp2p.ForceReachabilityPublic(), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	if _, err := relay.New(rh); err != nil {
		t.Fatal(err)
	}
	ri := infoOf(rh)
	hidden := bare(t, noiseFirst, links.Early(nil), libp2p.NoListenAddrs, libp2p.EnableRelay(), libp2p.ForceReachabilityPrivate(),
		libp2p.EnableAutoRelayWithStaticRelays([]peer.AddrInfo{ri}))
	seeker := bare(t, noiseFirst, links.Early(nil), libp2p.NoListenAddrs, libp2p.EnableRelay())
	dialTo(t, hidden, ri)
	circuit := ma.StringCast(rh.Addrs()[0].String() + "/p2p/" + rh.ID().String() + "/p2p-circuit")
	a, b := nodeOn(t, hidden), nodeOn(t, seeker)
	add(t, a, []byte("k"))
	eventually(t, "connected by the relay", func() bool {
		return b.Connect(t.Context(), peer.AddrInfo{ID: hidden.ID(), Addrs: []ma.Multiaddr{circuit}}) == nil
	})
	eventually(t, "linked", func() bool { return statusOf(t, b).Links == 1 })
	if got := seeker.Network().Connectedness(hidden.ID()); got != network.Limited {
		t.Errorf("connectedness %v", got)
	}
	if got := find(t, b, []byte("k"), QueryOptions{Timeout: 30 * time.Second}); !slices.Equal(got, []peer.ID{hidden.ID()}) {
		t.Errorf("found %v", got)
	}
}
