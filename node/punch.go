package node

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node/internal/limits"
	"github.com/venn-p2p/venn/node/internal/links"
)

// HolePunching is libp2p.EnableHolePunching for hosts of nodes. Of the addresses that the other end of a relayed
// connection names for it, the host dials only as many as of a record, and only those by IP. It has forgotten then
// what the peer named by identify, up to 500 addresses, but dials what identify brings between that and the dial.
var HolePunching libp2p.Option = func(c *libp2p.Config) error {
	return c.Apply(libp2p.EnableHolePunching(holepunch.WithAddrFilter(few{c})))
}

// few filters the addresses of other ends to which holes are punched.
type few struct{ of *libp2p.Config } // of has the host's peerstore once there is a host

func (few) FilterLocal(_ peer.ID, own []ma.Multiaddr) []ma.Multiaddr { return own }

// FilterRemote forgets what the peer has named by identify: libp2p dials all that it knows of the peer.
func (f few) FilterRemote(p peer.ID, theirs []ma.Multiaddr) []ma.Multiaddr {
	links.Forget(f.of.Peerstore, p)
	theirs = byIP(theirs)
	return theirs[:min(len(theirs), limits.Limits{}.Defaulted().Addrs)]
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
