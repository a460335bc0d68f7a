package httpapi

import (
	"cmp"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Addresses returns the addresses of peer p as seen from here, each with /p2p/ID. The most likely to be dialled with
// success come first: loopback if p is on this machine, private addresses, public ones, relays, and loopback of
// another machine.
func Addresses(p, here peer.AddrInfo) []string {
	local := p.ID == here.ID || sameMachine(p.Addrs, here.Addrs)
	addrs := slices.Clone(p.Addrs)
	slices.SortStableFunc(addrs, func(a, b ma.Multiaddr) int {
		return cmp.Or(cmp.Compare(order(a, local), order(b, local)), a.Compare(b)) // ip4 before ip6, and TCP before UDP
	})
	out := make([]string, 0, len(addrs))
	for _, a := range addrs {
		if _, last := ma.SplitLast(a); last == nil || last.Protocol().Code != ma.P_P2P {
			a = a.Encapsulate(ma.StringCast("/p2p/" + p.ID.String()))
		}
		out = append(out, a.String())
	}
	return out
}

// order ranks an address: lower ranks come first. local tells whether the address is of a peer on this machine.
func order(a ma.Multiaddr, local bool) int {
	_, err := a.ValueForProtocol(ma.P_CIRCUIT)
	switch {
	case err == nil:
		return 3
	case manet.IsIPLoopback(a) && local:
		return 0
	case manet.IsIPLoopback(a):
		return 4
	case manet.IsPrivateAddr(a):
		return 1
	}
	return 2
}

// sameMachine reports whether two peers share an address other than loopback. It returns true if either peer has only
// loopback addresses.
func sameMachine(a, b []ma.Multiaddr) bool {
	there, other := make(map[string]bool), false
	for _, x := range a {
		if ip, err := manet.ToIP(x); err == nil && !ip.IsLoopback() {
			there[ip.String()] = true
		}
	}
	for _, x := range b {
		if ip, err := manet.ToIP(x); err == nil && !ip.IsLoopback() {
			if there[ip.String()] {
				return true
			}
			other = true
		}
	}
	return len(there) == 0 || !other
}
