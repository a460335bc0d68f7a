// Package interfaces corrects the addresses that a libp2p host tells to the ones that the machine has now. go-libp2p
// looks at the network interfaces once a minute; until then a host whose machine has moved tells its old address. With
// a Watch the addresses are right after 5 s, when go-libp2p makes its list again:
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
	lookEvery = time.Second     // at the interfaces, at most
	remember  = 2 * time.Minute // for which a change of addresses is remembered: then go-libp2p has seen it too
)

// Watch knows which addresses the machine has got and lost recently. It is safe for concurrent use.
type Watch struct {
	list func() []netip.Addr // of all interfaces
	time func() time.Time

	mu      sync.Mutex
	host    host.Host // nil: not known yet
	looked  time.Time
	there   map[netip.Addr]bool
	changed map[netip.Addr]change
}

// change is the last change of an address.
type change struct {
	came bool // false: it went
	at   time.Time
}

// New returns a Watch that takes the present addresses as known to the host.
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

// Follow names the host whose listeners tell the ports of new addresses. Before it is called, only lost addresses are
// corrected.
func (w *Watch) Follow(h host.Host) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.host = h
}

// Factory returns an address factory for the host. It corrects the addresses and hands them to next; nil: there is no
// next.
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

// correct drops the addresses that the machine has lost. It adds its new ones, for listeners on all addresses.
func (w *Watch) correct(own, listen []ma.Multiaddr) []ma.Multiaddr {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look()
	out := slices.DeleteFunc(slices.Clone(own), func(a ma.Multiaddr) bool {
		c, changed := w.changed[ipOf(a)]
		return changed && !c.came
	})
	for ip, c := range w.changed {
		if !c.came {
			continue
		}
		at, err := manet.FromIP(net.IP(ip.AsSlice()))
		if err != nil {
			continue
		}
		resolved, err := manet.ResolveUnspecifiedAddresses(listen, []ma.Multiaddr{at})
		if err != nil {
			continue // no listener takes it
		}
		for _, a := range resolved {
			if ipOf(a) == ip && !slices.ContainsFunc(out, a.Equal) {
				out = append(out, a)
			}
		}
	}
	return out
}

// look looks at the interfaces, if the last look is long enough ago. An empty list counts as a failed look.
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

// Lost returns the IP addresses of multiaddrs that no interface of the machine has now. It returns none if the look
// fails.
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

// At reports whether a multiaddr begins with one of the IP addresses, and is not a relay's.
func At(a ma.Multiaddr, ips []netip.Addr) bool {
	ip := ipOf(a)
	return ip.IsValid() && slices.Contains(ips, ip)
}

// ipOf returns the IP address that a multiaddr begins with. It is not valid if there is none, or if it is a relay's.
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
