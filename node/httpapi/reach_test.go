package httpapi

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
)

// TestReach has a host's addresses, and what others have found out of them, and looks what is made of it.
func TestReach(t *testing.T) {
	const private, router, own = "/ip4/10.0.0.1/tcp/1", "/ip4/8.8.4.4/tcp/1", "/ip4/127.0.0.1/tcp/1"
	const relay = "/ip4/8.8.8.8/tcp/1/p2p/12D3KooWP5cwY99ACx247tR8cfHgCzbfhARYHYfni29Ect71VFWT/p2p-circuit"
	for _, c := range []struct {
		how                          string
		told, reachable, unreachable []string
		verdict                      network.Reachability
		advice                       bool
	}{
		{how: reachLocal, told: []string{private}, advice: true},
		{how: reachUnknown, told: []string{router}, advice: true},
		{how: reachNot, told: []string{router}, verdict: network.ReachabilityPrivate, advice: true},
		{how: reachNot, told: []string{router}, unreachable: []string{router}, advice: true},
		{how: reachRelayed, told: []string{private, relay}, verdict: network.ReachabilityPrivate},
		{how: reachMapped, told: []string{router}, reachable: []string{router}},
		{how: reachMapped, told: []string{router}, verdict: network.ReachabilityPublic},
		{how: reachPublic, told: []string{own}, reachable: []string{own}},
	} {
		got := reachOf(multiaddrs(c.told), multiaddrs(c.reachable), multiaddrs(c.unreachable), c.verdict)
		if got.How != c.how || (got.Advice != "") != c.advice || len(got.Addresses) != len(c.told) {
			t.Errorf("%+v, want %s", got, c.how)
		}
	}
}

func multiaddrs(texts []string) (out []ma.Multiaddr) {
	for _, text := range texts {
		out = append(out, ma.StringCast(text))
	}
	return out
}
