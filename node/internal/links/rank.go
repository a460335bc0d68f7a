package links

import (
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
)

// ByTCP ranks the addresses of a peer for a dial: by TCP, then by other transports, then by relays. Each kind waits
// .25 s for the one before it. A kind has libp2p's order and delays.
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
		for _, a := range swarm.DefaultDialRanker(kind) {
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
