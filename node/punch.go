package node

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
)

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
