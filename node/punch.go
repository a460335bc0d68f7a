package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node/internal/limits"
)

// HolePunching is libp2p.EnableHolePunching for hosts of nodes. Of the addresses that the other end of a relayed
// connection names for it, the host dials a few by IP: as many as of a record. Of those that a peer says by identify, it
// keeps as few, and libp2p.Peerstore must come before HolePunching.
var HolePunching libp2p.Option = func(c *libp2p.Config) error {
	if err := keepFew(c); err != nil {
		return err
	}
	return c.Apply(libp2p.EnableHolePunching(holepunch.WithAddrFilter(fewHoles{})))
}

// fewHoles filters the addresses of other ends to which holes are punched.
type fewHoles struct{}

func (fewHoles) FilterLocal(_ peer.ID, own []ma.Multiaddr) []ma.Multiaddr     { return own }
func (fewHoles) FilterRemote(_ peer.ID, theirs []ma.Multiaddr) []ma.Multiaddr { return few(theirs) }

// few returns the first addresses by IP: eight, at most one of them by a relay.
func few(addrs []ma.Multiaddr) []ma.Multiaddr {
	relays := 0
	addrs = slices.DeleteFunc(byIP(addrs), func(a ma.Multiaddr) bool {
		if hasRelay(a) {
			relays++
		}
		return hasRelay(a) && relays > 1
	})
	return addrs[:min(len(addrs), limits.Limits{}.Defaulted().Addrs)]
}

// fewSaid is a peerstore that keeps a few of the addresses that a peer says by identify. So whoever dials a peer by its
// own word, such as libp2p to punch a hole, dials a few addresses. Identify adds them with ConnectedAddrTTL or
// RecentlyConnectedAddrTTL.
type fewSaid struct {
	peerstore.Peerstore
	peerstore.CertifiedAddrBook
}

// keepFew has a host keep a few of the addresses that a peer says by identify.
func keepFew(c *libp2p.Config) (err error) {
	if c.Peerstore == nil {
		if c.Peerstore, err = pstoremem.NewPeerstore(); err != nil {
			return fmt.Errorf("node: peerstore: %w", err)
		}
	}
	if book, ok := peerstore.GetCertifiedAddrBook(c.Peerstore); ok { // else libp2p refuses the peerstore
		c.Peerstore = fewSaid{c.Peerstore, book}
	}
	return nil
}

// AddAddrs adds addresses of a peer.
func (s fewSaid) AddAddrs(p peer.ID, addrs []ma.Multiaddr, ttl time.Duration) {
	if ttl == peerstore.ConnectedAddrTTL || ttl == peerstore.RecentlyConnectedAddrTTL {
		addrs = few(addrs)
	}
	s.Peerstore.AddAddrs(p, addrs, ttl)
}

// punchAfter is the time in which other ends learn, by identify, that the host takes part in hole punching.
const punchAfter = time.Second

// punches ends and renews relayed connections once the host takes part in hole punching, which it does when it knows an
// address of its own to offer. The other end of a relayed connection tries to make it direct only once, right when it
// begins. A connection that began earlier would stay relayed for ever.
func (n *Node) punches(ev event.EvtLocalProtocolsUpdated) {
	if !slices.Contains(ev.Added, holepunch.Protocol) {
		return
	}
	n.tasks.Run(func() {
		if pause(n.ctx, punchAfter); n.ctx.Err() != nil {
			return
		}
		for _, c := range n.host.Network().Conns() {
			p := c.RemotePeer()
			if relayed(c) && c.Stat().Direction == network.DirOutbound && n.links.Made(p) {
				n.tasks.Run(func() {
					n.hangUp(p)
					n.linkAgain(p)
				})
			}
		}
	})
}

// relayed reports whether a connection goes by a relay.
func relayed(c network.Conn) bool { return hasRelay(c.RemoteMultiaddr()) }
