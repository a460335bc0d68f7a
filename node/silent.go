package node

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	"github.com/multiformats/go-multistream"

	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// A peer that is killed ends no link: TCP notices at once, QUIC after 30 s. So a connection on which an answer is late
// is asked for any sign of life. If none comes within a few round trips, queries go on without the peer. If none comes
// in probeTime, the connection ends for all its users.

const (
	patientTrips  = 2                      // round trips that an answer, and then a sign of life, may take
	leastPatience = 300 * time.Millisecond // shortest patience: a busy machine may stand still for as long
	usualPatience = 500 * time.Millisecond // patience where the round trip is not known
)

// patience returns the time that a connected peer may take for the first byte of an answer, and then for a sign of
// life.
func (n *Node) patience(p peer.ID) time.Duration {
	rtt := n.host.Peerstore().LatencyEWMA(p)
	if rtt == 0 {
		return usualPatience
	}
	return min(max(patientTrips*rtt, leastPatience), probeTime/2)
}

// unresponsive has queries go on without a peer until it is heard.
func (n *Node) unresponsive(p peer.ID) {
	n.tasks.Run(func() { n.in.Result(n.ctx, routing.Unresponsive{Peer: wire.PeerID(p)}) })
}

// quiet checks whether a connection on which an answer is late is alive.
func (n *Node) quiet(c network.Conn) {
	p := c.RemotePeer()
	late := time.AfterFunc(n.patience(p), func() { n.unresponsive(p) })
	n.tasks.Run(func() {
		live := n.look(c)
		if told := !late.Stop(); told && live {
			n.in.Result(n.ctx, routing.Alive{Peer: wire.PeerID(p)})
		}
	})
}

// look probes a connection. It reports whether the connection is alive, and abandons it if not. Calls for one connection
// at the same time share one probe.
func (n *Node) look(c network.Conn) (live bool) {
	found, _, _ := n.looks.Do(c.ID(), func() (any, error) { return n.probe(c), nil })
	return found.(bool)
}

// probe does what look does. If another connection with the peer is left, the link begins again on it.
func (n *Node) probe(c network.Conn) (live bool) {
	switch lives := alive(n.ctx, c); {
	case c.IsClosed():
		return false
	case lives || n.ctx.Err() != nil:
		return true
	}
	n.abandon(c)
	if p := c.RemotePeer(); n.reached(p) {
		n.in.LinkChanged(p, inbox.EndedAndBegun)
	}
	return false
}

// alive reports whether anything comes back on a connection. A refusal of ping is an answer, too.
func alive(ctx context.Context, c network.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	s, err := c.NewStream(ctx)
	if err != nil {
		return !silent(err)
	}
	defer func() { _ = s.Reset() }()
	if s.SetProtocol(ping.ID) != nil || s.SetDeadline(time.Now().Add(probeTime)) != nil {
		return true // without a stream of our own, nothing is known
	}
	return !silent(multistream.SelectProtoOrFail(ping.ID, s))
}

// silent reports whether an error means that nothing came in time.
func silent(err error) bool {
	var e net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &e) && e.Timeout()
}

// abandon resets the node's streams on a dead connection, so that they are opened again on another. It closes the
// connection if nobody else has a stream on it.
func (n *Node) abandon(c network.Conn) {
	others := false
	for _, s := range c.GetStreams() {
		if n.own(string(s.Protocol())) {
			_ = s.Reset()
		} else if s.Protocol() != ping.ID {
			others = true
		}
	}
	n.log.Debug("connection is dead", "peer", c.RemotePeer(), "address", c.RemoteMultiaddr(), "others use it", others)
	if !others {
		_ = c.Close()
	}
}
