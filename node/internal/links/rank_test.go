package links_test

import (
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
