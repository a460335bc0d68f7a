// Package interfaces corrects the addresses that a libp2p host announces to those that the machine has now. go-libp2p
// looks at the network interfaces once a minute. Until then, a host whose machine has moved announces its old address.
// With a Watch the addresses are right after 5 s, when go-libp2p makes its list again:
//
//	w := interfaces.New()
//	h, err := libp2p.New(libp2p.AddrsFactory(w.Factory(nil)))
//	w.Follow(h)
package interfaces

import (
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/config"
	"github.com/libp2p/go-libp2p/core/host"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

const (
	lookEvery = time.Second     // least time between two looks at the interfaces
	remember  = 2 * time.Minute // time for which a change of addresses is remembered; by then go-libp2p has seen it
)

// Watch tracks the addresses that the machine has recently got and lost. It is safe for concurrent use.
type Watch struct {
	list func() []netip.Addr // returns the addresses of all interfaces
	time func() time.Time

	mu      sync.Mutex
	host    host.Host // nil: not known yet
	looked  time.Time
	there   map[netip.Addr]bool
	changed map[netip.Addr]change
}

// change is the last change of an address.
type change struct {
	came bool // the machine got the address; false: it lost the address
	at   time.Time
}

// New returns a Watch. It assumes that the host knows the present addresses.
func New() *Watch { return newWatch(listed, time.Now) }

func newWatch(list func() []netip.Addr, now func() time.Time) *Watch {
	w := &Watch{list: list, time: now, there: make(map[netip.Addr]bool), changed: make(map[netip.Addr]change)}
	w.looked = now()
	for _, ip := range list() {
		w.there[ip] = true
	}
	return w
}

// listed returns the addresses of all interfaces, without link-local ones.
func listed() (out []netip.Addr) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok && !ip.IsLinkLocalUnicast() {
				out = append(out, ip.Unmap())
			}
		}
	}
	return out
}

// Follow sets the host. Its listeners determine the ports of new addresses. Before Follow is called, only lost
// addresses are corrected.
func (w *Watch) Follow(h host.Host) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.host = h
}

// Factory returns an address factory for the host. It corrects the addresses and passes them to next, unless that is
// nil.
func (w *Watch) Factory(next config.AddrsFactory) config.AddrsFactory {
	return func(own []ma.Multiaddr) []ma.Multiaddr {
		w.mu.Lock()
		h := w.host
		w.mu.Unlock()
		var listen []ma.Multiaddr
		if h != nil {
			listen = h.Network().ListenAddresses()
		}
		own = w.correct(own, listen)
		if next != nil {
			own = next(own)
		}
		return own
	}
}

// correct removes the addresses that the machine has lost, and adds those that it got, for the listeners on all
// addresses. It also adds the public addresses of the machine. go-libp2p leaves out those that three peers, whoever they
// are, say they cannot reach.
func (w *Watch) correct(own, listen []ma.Multiaddr) []ma.Multiaddr {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look()
	out := slices.DeleteFunc(slices.Clone(own), func(a ma.Multiaddr) bool {
		c, changed := w.changed[ipOf(a)]
		return changed && !c.came
	})
	for ip := range w.there {
		at, err := manet.FromIP(net.IP(ip.AsSlice()))
		if err != nil || !w.changed[ip].came && !manet.IsPublicAddr(at) {
			continue
		}
		resolved, err := manet.ResolveUnspecifiedAddresses(listen, []ma.Multiaddr{at})
		if err != nil {
			continue // no listener accepts this address
		}
		for _, a := range resolved {
			if ipOf(a) == ip && !slices.ContainsFunc(out, a.Equal) {
				out = append(out, a)
			}
		}
	}
	return out
}

// look reads the addresses of the interfaces, at most once in lookEvery. An empty list counts as a failure and changes
// nothing.
func (w *Watch) look() {
	now := w.time()
	if now.Sub(w.looked) < lookEvery {
		return
	}
	w.looked = now
	list := w.list()
	if len(list) == 0 {
		return
	}
	there := make(map[netip.Addr]bool, len(list))
	for _, ip := range list {
		there[ip] = true
		if !w.there[ip] {
			w.changed[ip] = change{true, now}
		}
	}
	for ip := range w.there {
		if !there[ip] {
			w.changed[ip] = change{false, now}
		}
	}
	w.there = there
	maps.DeleteFunc(w.changed, func(_ netip.Addr, c change) bool { return now.Sub(c.at) > remember })
}

// Lost returns the IP addresses of multiaddrs that no interface of the machine has now. It returns none if the
// interfaces cannot be read.
func Lost(addrs []ma.Multiaddr) []netip.Addr { return lost(addrs, listed()) }

func lost(addrs []ma.Multiaddr, there []netip.Addr) (out []netip.Addr) {
	if len(there) == 0 {
		return nil
	}
	for _, a := range addrs {
		if ip := ipOf(a); ip.IsValid() && !ip.IsUnspecified() && !slices.Contains(there, ip) && !slices.Contains(out, ip) {
			out = append(out, ip)
		}
	}
	return out
}

// At reports whether a multiaddr begins with one of the IP addresses. It is false for addresses through a relay.
func At(a ma.Multiaddr, ips []netip.Addr) bool {
	ip := ipOf(a)
	return ip.IsValid() && slices.Contains(ips, ip)
}

// ipOf returns the IP address that a multiaddr begins with. It is not valid if there is none, or if the address is
// through a relay.
func ipOf(a ma.Multiaddr) netip.Addr {
	if _, err := a.ValueForProtocol(ma.P_CIRCUIT); err == nil {
		return netip.Addr{}
	}
	ip, err := manet.ToIP(a)
	if err != nil {
		return netip.Addr{}
	}
	addr, _ := netip.AddrFromSlice(ip)
	return addr.Unmap()
}
