package daemon

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

func newHost(t testing.TB) host.Host {
	t.Helper()
	h := must(libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay(), libp2p.DisableMetrics()))
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func TestServing(t *testing.T) {
	a, b, c := newHost(t), newHost(t), newHost(t)
	other := newHost(t).ID()
	asker := newServing(a, func() []string { return nil })
	var read atomic.Int32
	server := newServing(b, func() []string {
		read.Add(1)
		return []string{"/ip4/192.0.2.1/tcp/4001/p2p/" + other.String(), "/ip4/192.0.2.1/udp/4001/quic-v1/p2p/" + other.String()}
	})
	for _, h := range []host.Host{b, c} {
		connect(t, a, h)
	}
	eventually(t, "it is known who serves b's content", func() bool { // a busy machine may take too long once
		got := asker.servers(t.Context(), peer.AddrInfo{ID: b.ID()})
		t.Log(got)
		return len(got) == 1 && got[0].ID == other && len(got[0].Addrs) == 2
	})
	read.Store(0)
	for range 100 {
		server.says(t.Context(), b.ID())
	}
	if n := read.Load(); n > 10 {
		t.Errorf("files are read for %d of 100 answers", n)
	}
	for _, p := range []peer.ID{a.ID(), c.ID(), other} { // nobody else; another protocol; no connection
		if got := asker.servers(t.Context(), peer.AddrInfo{ID: p}); len(got) != 1 || got[0].ID != p {
			t.Errorf("the content of %v is served by %v", p, got)
		}
	}
}

// TestSilentServing: a peer that does not say who serves its content is waited for once, and not by every lookup.
func TestSilentServing(t *testing.T) {
	a, b := newHost(t), newHost(t)
	asker := newServing(a, func() []string { return nil })
	var asked atomic.Int32
	b.SetStreamHandler(servingID, func(network.Stream) { asked.Add(1) })
	connect(t, a, b)
	for range 3 {
		if got := asker.servers(t.Context(), peer.AddrInfo{ID: b.ID()}); len(got) != 1 || got[0].ID != b.ID() {
			t.Errorf("its content is served by %v", got)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("it was waited for %d times", n)
	}
}

func FuzzParseServers(f *testing.F) {
	id := "/p2p/12D3KooWQRVvCjvCuzHQAdsN9rdqrs1YwaHtM4j9mS2VPSjf5FD2"
	for _, text := range []string{"", "\n", "/ip4/1.2.3.4/tcp/1" + id, id + "\n" + id, "/ip4/1.2.3.4/tcp/1", strings.Repeat("/dns4/a"+id+"\n", 400)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseServers(text)
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

// TestServedBy: the addresses that a followed source says now take the place of configured ones of the same peer, and
// what is said fits in an answer.
func TestServedBy(t *testing.T) {
	r, err := repo.Init(filepath.Join(t.TempDir(), "r"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(port int, id string) string { return fmt.Sprintf("/ip4/192.0.2.1/tcp/%d/p2p/%s", port, id) }
	const one, two = "12D3KooWQRVvCjvCuzHQAdsN9rdqrs1YwaHtM4j9mS2VPSjf5FD2", "12D3KooWHHzSeKaY8xuZVzkLbKFfvNgPPeKhFBGrMbNzbm5akpqu"
	configured := []string{at(1, one), at(2, one), at(3, two)}
	if got := servedBy(r, configured); !slices.Equal(got, configured) {
		t.Errorf("without sources: %q", got)
	}
	i, _, err := r.OpenImport(t.Context(), "a node")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = i.Close() }()
	noErr(t, i.Note(repo.Source{Name: "a node", Servers: []string{at(4, one)}}))
	if got, want := servedBy(r, configured), []string{at(4, one), at(3, two)}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var many []string
	for port := range 1000 {
		many = append(many, at(port, one))
	}
	if got, err := parseServers(strings.Join(servedBy(repo.Repo{}, many), "\n")); err != nil || len(got) != 1 {
		t.Errorf("%d peers, %v", len(got), err)
	}
}

// TestServersCanBeShown: who says that others serve its content writes nothing to a terminal.
func TestServersCanBeShown(t *testing.T) {
	const id = "12D3KooWQRVvCjvCuzHQAdsN9rdqrs1YwaHtM4j9mS2VPSjf5FD2"
	for name, fine := range map[string]bool{"host.example": true, "\x1b[2J": false, "\u202e": false, "\u009b": false} {
		got, err := parseServers("/dns4/" + name + "/tcp/4001/p2p/" + id)
		if (err == nil) != fine {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
}
