package daemon

import (
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
)

func newHost(t testing.TB) host.Host {
	t.Helper()
	h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay(), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func TestServing(t *testing.T) {
	a, b, c := newHost(t), newHost(t), newHost(t)
	other := newHost(t).ID()
	asker := newServing(a, nil)
	newServing(b, []string{"/ip4/192.0.2.1/tcp/4001/p2p/" + other.String(), "/ip4/192.0.2.1/udp/4001/quic-v1/p2p/" + other.String()})
	for _, h := range []host.Host{b, c} {
		connect(t, a, h)
	}
	eventually(t, "it is known who serves b's content", func() bool { // a busy machine may take too long once
		got := asker.servers(t.Context(), peer.AddrInfo{ID: b.ID()})
		t.Log(got)
		return len(got) == 1 && got[0].ID == other && len(got[0].Addrs) == 2
	})
	for _, p := range []peer.ID{a.ID(), c.ID(), other} { // nobody else; another protocol; no connection
		if got := asker.servers(t.Context(), peer.AddrInfo{ID: p}); len(got) != 1 || got[0].ID != p {
			t.Errorf("the content of %v is served by %v", p, got)
		}
	}
}

func FuzzParseServers(f *testing.F) {
	id := "/p2p/12D3KooWQRVvCjvCuzHQAdsN9rdqrs1YwaHtM4j9mS2VPSjf5FD2"
	for _, text := range []string{"", "\n", "/ip4/1.2.3.4/tcp/1" + id, id + "\n" + id, "/ip4/1.2.3.4/tcp/1", strings.Repeat("/dns4/a"+id+"\n", 400)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseServers(strings.NewReader(text))
		if err != nil {
			return
		}
		if len(all) > maxServers || len(text) > maxServing && len(all) > 0 {
			t.Fatalf("%d peers of %d bytes", len(all), len(text))
		}
		for _, p := range all {
			if p.ID.Validate() != nil {
				t.Fatalf("no peer id in %q", text)
			}
		}
	})
}
