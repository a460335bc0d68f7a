package links

import (
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
)

// crossTime is longer than a connection request travels. Within it, an end that waits gets the other end's dial.
const crossTime = 500 * time.Millisecond

// Crossed reports whether a dial failed because the other end dialled at the same moment. Both ends dial from the port
// on which they listen, so TCP makes one connection of the two dials. Each end takes itself for the client, and both
// handshakes fail.
func Crossed(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	for _, said := range []string{"noise: message is too short", "tls.clientHelloMsg", "unrecognized response"} {
		if strings.Contains(text, said) {
			return true
		}
	}
	return false
}

// Turn returns the time that a peer waits before it dials another that may dial it at the same moment. For one of the
// two peers it is 0.
func Turn(self, other peer.ID) time.Duration {
	if self < other {
		return 0
	}
	return crossTime
}

// Forgive lets a host dial a peer at once although a recent dial failed. Otherwise go-libp2p refuses to dial for 5 s
// or more.
func Forgive(h host.Host, p peer.ID) {
	if b := backoff(h); b != nil {
		b.Clear(p)
	}
}

// Forget lets a peerstore forget the addresses that a peer said by identify. Else a dial tries them, too, whatever they
// are.
func Forget(s peerstore.Peerstore, p peer.ID) {
	for _, ttl := range []time.Duration{peerstore.ConnectedAddrTTL, peerstore.RecentlyConnectedAddrTTL} {
		s.UpdateAddrs(p, ttl, 0)
	}
}

// Failed reports whether a recent dial of a peer's address has failed, other than by running out of time.
func Failed(h host.Host, p peer.ID, a ma.Multiaddr) bool {
	b := backoff(h)
	return b != nil && b.Backoff(p, a)
}

// backoff returns the host's memory of failed dials; nil: it has none.
func backoff(h host.Host) *swarm.DialBackoff {
	if s, ok := h.Network().(interface{ Backoff() *swarm.DialBackoff }); ok {
		return s.Backoff()
	}
	return nil
}
