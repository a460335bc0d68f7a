package httpapi

import (
	"net"
	"slices"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Reach describes how other peers can dial this one.
type Reach struct {
	How       string   `json:"how"`              // public, mapped, relayed, local, unknown or not
	Addresses []string `json:"addresses"`        // addresses that peers learn
	Advice    string   `json:"advice,omitempty"` // what to do so that peers elsewhere can reach this one
}

// The ways in which other peers reach this one.
const (
	reachPublic  = "public"  // at an address of this machine
	reachMapped  = "mapped"  // at an address of a router that forwards a port
	reachRelayed = "relayed" // through a relay
	reachLocal   = "local"   // from the same network only: it has no public address
	reachUnknown = "unknown" // no other peer has tried yet
	reachNot     = "not"     // other peers tried in vain
)

var reachAdvice = map[string]string{
	reachLocal:   "peers elsewhere cannot come: name a relay (nat.relays), or forward a port and name its address (addresses.announce_also)",
	reachUnknown: "no peer has tried yet; connect to one elsewhere",
	reachNot:     "forward a port on the router and name its address (addresses.announce_also), or name a relay (nat.relays)",
}

// autonat is implemented by a libp2p host that knows at which of its addresses others have reached it.
type autonat interface {
	ConfirmedAddrs() (reachable, unreachable, unknown []ma.Multiaddr)
	Reachability() network.Reachability
}

// reach tells how other peers reach a host, as far as the host knows.
func reach(h host.Host) Reach {
	a, ok := h.(autonat)
	if !ok {
		return reachOf(h.Addrs(), nil, nil, network.ReachabilityUnknown)
	}
	reachable, unreachable, _ := a.ConfirmedAddrs()
	return reachOf(h.Addrs(), reachable, unreachable, a.Reachability())
}

// reachOf tells how other peers reach a host. told are the addresses that peers learn. Of these, others have reached
// the reachable ones, and have tried the unreachable ones in vain. verdict is libp2p's own judgement.
func reachOf(told, reachable, unreachable []ma.Multiaddr, verdict network.Reachability) Reach {
	r := Reach{Addresses: []string{}}
	var public []ma.Multiaddr
	relayed := false
	for _, a := range told {
		r.Addresses = append(r.Addresses, a.String())
		if _, err := a.ValueForProtocol(ma.P_CIRCUIT); err == nil {
			relayed = true
		} else if manet.IsPublicAddr(a) {
			public = append(public, a)
		}
	}
	if len(reachable) == 0 && verdict == network.ReachabilityPublic {
		reachable = public
	}
	switch {
	case slices.ContainsFunc(reachable, ownInterface):
		r.How = reachPublic
	case len(reachable) > 0:
		r.How = reachMapped
	case relayed:
		r.How = reachRelayed
	case len(public) == 0:
		r.How = reachLocal
	case len(unreachable) > 0 || verdict == network.ReachabilityPrivate:
		r.How = reachNot
	default:
		r.How = reachUnknown
	}
	r.Advice = reachAdvice[r.How]
	return r
}

// ownInterface reports whether the address belongs to this machine.
func ownInterface(a ma.Multiaddr) bool {
	ip, err := manet.ToIP(a)
	if err != nil {
		return false
	}
	own, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(own, func(n net.Addr) bool { in, ok := n.(*net.IPNet); return ok && in.IP.Equal(ip) })
}
