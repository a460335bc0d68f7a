package links

import (
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
)

// mostOfKind is the largest number of a peer's addresses of a kind that are dialled.
const mostOfKind = 8

// ByTCP ranks the addresses of a peer for a dial: by TCP, then by other transports, then by relays. Each kind waits
// .25 s for the one before it. A kind has libp2p's order and delays, and is dialled at eight addresses at most: by
// identify a peer names up to 500. Dials that punch holes have no ranks, and no such bound.
func ByTCP(addrs []ma.Multiaddr) (ranked []network.AddrDelay) {
	var kinds [3][]ma.Multiaddr
	for _, a := range addrs {
		kind := 1
		if has(a, ma.P_CIRCUIT) {
			kind = 2
		} else if has(a, ma.P_TCP) {
			kind = 0
		}
		kinds[kind] = append(kinds[kind], a)
	}
	var begin time.Duration
	for _, kind := range kinds {
		few := swarm.DefaultDialRanker(kind)
		for _, a := range few[:min(len(few), mostOfKind)] {
			a.Delay += begin
			ranked = append(ranked, a)
		}
		if len(kind) > 0 {
			begin += swarm.PublicTCPDelay
		}
	}
	return ranked
}

func has(a ma.Multiaddr, code int) bool {
	_, err := a.ValueForProtocol(code)
	return err == nil
}
