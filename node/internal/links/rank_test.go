package links_test

import (
	"fmt"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node/internal/links"
)

// TestByTCP: TCP goes before QUIC, near and far, and relays come last. Who has no TCP waits for none.
func TestByTCP(t *testing.T) {
	t.Parallel()
	const relayed = "/ip4/9.9.9.9/tcp/4101/p2p/12D3KooWJZFsnFcv3zjH144rjhuzGtFrY99fFE36htFNH3RAEC4h/p2p-circuit"
	for _, c := range []struct {
		addrs  []string
		delays []time.Duration // in milliseconds
	}{
		{[]string{"/ip4/10.1.0.1/udp/4101/quic-v1", "/ip4/10.1.0.1/tcp/4101"}, []time.Duration{250, 0}},
		{[]string{"/ip4/93.184.216.34/udp/4101/quic-v1", "/ip4/93.184.216.34/tcp/4101", relayed}, []time.Duration{250, 0, 500}},
		{[]string{"/ip4/93.184.216.34/udp/4101/quic-v1"}, []time.Duration{0}},
		{[]string{relayed, "/ip4/93.184.216.34/udp/4101/quic-v1"}, []time.Duration{250, 0}},
	} {
		var addrs []ma.Multiaddr
		want := make(map[string]time.Duration)
		for i, a := range c.addrs {
			addrs = append(addrs, ma.StringCast(a))
			want[a] = c.delays[i] * time.Millisecond
		}
		ranked := links.ByTCP(addrs)
		if len(ranked) != len(addrs) {
			t.Fatalf("%d of %d addresses", len(ranked), len(addrs))
		}
		for _, r := range ranked {
			if r.Delay != want[r.Addr.String()] {
				t.Errorf("%s waits %v, want %v", r.Addr, r.Delay, want[r.Addr.String()])
			}
		}
	}
}

// TestFewOfEachKind: of the hundreds of addresses that a peer may name, eight of a kind are dialled.
func TestFewOfEachKind(t *testing.T) {
	t.Parallel()
	var addrs []ma.Multiaddr
	for i := range 100 {
		for _, by := range []string{"tcp/1", "udp/1/quic-v1", "tcp/1/p2p/12D3KooWJZFsnFcv3zjH144rjhuzGtFrY99fFE36htFNH3RAEC4h/p2p-circuit"} {
			addrs = append(addrs, ma.StringCast(fmt.Sprintf("/ip4/1.2.3.%d/%s", i, by)))
		}
	}
	kinds := make(map[string]int)
	for _, r := range links.ByTCP(addrs) {
		_, rest := ma.SplitFirst(r.Addr)
		kinds[rest.String()]++
	}
	for kind, n := range kinds {
		if n != 8 {
			t.Errorf("%d of %s, want 8", n, kind)
		}
	}
	if len(kinds) != 3 {
		t.Errorf("%d kinds", len(kinds))
	}
}
