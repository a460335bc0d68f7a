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
	Addresses []string `json:"addresses"`        // that peers learn
	Advice    string   `json:"advice,omitempty"` // for a peer that peers elsewhere cannot reach
}

// The ways in which a peer is reached, with advice about them.
const (
	reachPublic  = "public"  // at an address of its own machine
	reachMapped  = "mapped"  // at an address of a router, which forwards a port
	reachRelayed = "relayed" // through a relay
	reachLocal   = "local"   // from the same network only: it has no public address
	reachUnknown = "unknown" // nobody has tried yet
	reachNot     = "not"     // others tried in vain
)

var reachAdvice = map[string]string{
	reachLocal:   "peers elsewhere cannot come: name a relay (nat.relays), or forward a port and name its address (addresses.announce_also)",
	reachUnknown: "no peer has tried yet; connect to one elsewhere",
	reachNot:     "forward a port on the router and name its address (addresses.announce_also), or name a relay (nat.relays)",
}

// autonat is a libp2p host that knows which of its addresses others have reached.
type autonat interface {
	ConfirmedAddrs() (reachable, unreachable, unknown []ma.Multiaddr)
	Reachability() network.Reachability
}

// reach describes how a host is reached, as far as it knows.
func reach(h host.Host) Reach {
	a, ok := h.(autonat)
	if !ok {
		return reachOf(h.Addrs(), nil, nil, network.ReachabilityUnknown)
	}
	reachable, unreachable, _ := a.ConfirmedAddrs()
	return reachOf(h.Addrs(), reachable, unreachable, a.Reachability())
}

// reachOf judges how a host is reached. It takes the addresses told to peers; those among them that others reached, and
// tried in vain; and libp2p's verdict on the host.
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
