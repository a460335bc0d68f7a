package interfaces

import (
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	ma "github.com/multiformats/go-multiaddr"
)

// machine is the addresses of a machine, on a clock.
type machine struct {
	mu  sync.Mutex // a host looks when it likes
	ips []netip.Addr
	now time.Time
}

func newMachine(ips ...string) *machine {
	m := &machine{now: time.Unix(1e9, 0)}
	m.has(ips...)
	return m
}

func (m *machine) has(ips ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ips = nil
	for _, ip := range ips {
		m.ips = append(m.ips, netip.MustParseAddr(ip))
	}
}

func (m *machine) passes(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

func (m *machine) watch() *Watch {
	addresses := func() []netip.Addr {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.ips
	}
	clock := func() time.Time {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.now
	}
	return newWatch(addresses, clock)
}

func addrs(texts ...string) (out []ma.Multiaddr) {
	for _, t := range texts {
		out = append(out, ma.StringCast(t))
	}
	return out
}

func same(t *testing.T, what string, got, want []ma.Multiaddr) {
	t.Helper()
	if !slices.EqualFunc(got, want, ma.Multiaddr.Equal) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestCorrect: until the host knows, an address that is gone is left out and a new one is given.
func TestCorrect(t *testing.T) {
	m := newMachine("127.0.0.1", "10.0.0.1")
	w := m.watch()
	listen := addrs("/ip4/0.0.0.0/tcp/4001", "/ip6/::/tcp/4001")
	host := addrs("/ip4/127.0.0.1/tcp/4001", "/ip4/10.0.0.1/tcp/4001", "/ip4/203.0.113.1/tcp/4001",
		"/ip4/10.0.0.1/tcp/1/p2p/12D3KooWGGky7SpYvzTSJwwPQ7W8J6f1fwNkZmBXkgHmzN6mAMyg/p2p-circuit")
	same(t, "no change", w.correct(host, listen), host)
	m.has("127.0.0.1", "10.0.0.2")
	same(t, "a second look within the second", w.correct(host, listen), host)
	m.passes(lookEvery)
	moved := []ma.Multiaddr{host[0], host[2], host[3], ma.StringCast("/ip4/10.0.0.2/tcp/4001")}
	same(t, "moved", w.correct(host, listen), moved)
	same(t, "the host knows", w.correct(moved, listen), moved)
	same(t, "listeners not known", w.correct(host, nil), []ma.Multiaddr{host[0], host[2], host[3]})
	m.has()
	m.passes(lookEvery)
	same(t, "a look that fails", w.correct(host, listen), moved)
	m.has("127.0.0.1", "10.0.0.1")
	m.passes(lookEvery)
	same(t, "back again", w.correct(host, listen), host)
	m.passes(remember + lookEvery)
	w.correct(host, listen)
	if len(w.changed) > 0 {
		t.Errorf("%d addresses remembered", len(w.changed))
	}
}

// TestFactory: the addresses of a host go through the watch, and then through the caller's own factory.
func TestFactory(t *testing.T) {
	m := newMachine("127.0.0.1")
	w := m.watch()
	announced := ma.StringCast("/ip4/203.0.113.1/tcp/1")
	h, err := libp2p.New(libp2p.NoListenAddrs, libp2p.AddrsFactory(w.Factory(func(own []ma.Multiaddr) []ma.Multiaddr { return append(own, announced) })))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	w.Follow(h)
	if err := h.Network().Listen(ma.StringCast("/ip4/0.0.0.0/tcp/0")); err != nil {
		t.Fatal(err)
	}
	m.has("127.0.0.1", "10.11.12.13")
	m.passes(lookEvery)
	got := h.Addrs()
	if !slices.ContainsFunc(got, announced.Equal) || !slices.ContainsFunc(got, func(a ma.Multiaddr) bool { return ipOf(a) == m.ips[1] }) {
		t.Errorf("addresses %v", got)
	}
}

// TestLost: those addresses are lost that no interface has, and no others.
func TestLost(t *testing.T) {
	there := newMachine("127.0.0.1", "10.0.0.1", "fd00::1").ips
	removed := addrs("/ip4/10.0.0.1/tcp/1", "/ip4/10.0.0.2/tcp/1", "/ip4/10.0.0.2/udp/1/quic-v1", "/ip6/fd00::1/tcp/1", "/ip6/fd00::2/tcp/1",
		"/ip4/0.0.0.0/tcp/1", "/dns4/example.org/tcp/1")
	got := lost(removed, there)
	if want := newMachine("10.0.0.2", "fd00::2").ips; !slices.Equal(got, want) {
		t.Errorf("lost %v, want %v", got, want)
	}
	if got := lost(removed, nil); got != nil {
		t.Errorf("lost %v where nothing could be looked up", got)
	}
	if !At(removed[1], newMachine("10.0.0.2").ips) || At(removed[0], got) || At(removed[6], got) {
		t.Error("At does not hold what Lost says")
	}
}

// TestDenied: a public address of the machine is announced though go-libp2p leaves it out, by the word of others; any
// other address is not.
func TestDenied(t *testing.T) {
	w := newMachine("127.0.0.1", "10.0.0.1", "5.6.7.8").watch()
	own := addrs("/ip4/127.0.0.1/tcp/4001")
	same(t, "left out", w.correct(own, addrs("/ip4/0.0.0.0/tcp/4001")), append(own, addrs("/ip4/5.6.7.8/tcp/4001")...))
	same(t, "no listener there", w.correct(own, addrs("/ip4/10.0.0.1/tcp/4001")), own)
}
