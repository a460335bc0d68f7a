package node

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/internal/links"
	"github.com/venn-p2p/venn/node/internal/pipes"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	// goodbyeFlush is the time that the last messages of a node that closes may take to reach the connection.
	goodbyeFlush = 20 * time.Millisecond
	// lostTime is the time in which a peer whose connection was lost must accept a new one.
	lostTime = 2 * time.Second
	// lostLooks is the number of further checks that a new connection must pass.
	lostLooks = 3
)

// goodbye has the loop tell all linked peers that the node leaves, and waits a little until these messages are sent.
func (n *Node) goodbye() {
	ctx, cancel := context.WithTimeout(n.ctx, core.GoodbyeTime)
	defer cancel()
	var tell []*pipes.Pipe
	err := n.view(ctx, func(l *loop) {
		l.step(tails.Leaving{})
		for _, link := range l.links {
			tell = append(tell, link.pipe)
		}
	})
	if err != nil || len(tell) == 0 {
		return
	}
	for slices.ContainsFunc(tell, (*pipes.Pipe).Busy) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(goodbyeFlush)
}

// seek checks whether a peer whose link was lost can still be reached. If not, the core gets event.Unreachable.
func (l *loop) seek(s core.Seek) {
	l.n.tasks.Run(func() {
		if l.n.lookForLost(s.Record) && l.n.ctx.Err() == nil {
			l.n.in.Result(l.n.ctx, event.Unreachable{Peer: s.Record.Peer})
		}
	})
}

// lookForLost reports whether a peer whose link was lost is gone.
func (n *Node) lookForLost(r wire.Record) bool {
	ctx, cancel := context.WithTimeout(n.ctx, lostTime)
	defer cancel()
	p := peer.ID(r.Peer)
	pause(ctx, links.Turn(n.host.ID(), p)) // the peer may dial this node, too
	return gone(ctx, func() error {
		links.Forgive(n.host, p)
		return n.reach(ctx, r, forQuery)
	})
}

// gone reports whether a peer takes no connection that lasts. reach makes a connection, or finds one. gone returns soon
// after ctx ends.
func gone(ctx context.Context, reach func() error) bool {
	var err error
	looks := 0
	retry(ctx, every(lostTime/(lostLooks+2)), func() bool {
		err = reach()
		looks++ // a host that closes may take one more connection, and end it
		return errors.Is(err, syscall.ECONNREFUSED) || err == nil && looks > lostLooks
	})
	if ctx.Err() != nil && reach() == nil { // the peer has come back by itself
		return false
	}
	return err != nil && !errors.Is(err, errFull) // without room for a dial, the peer was not tried
}

const (
	closingTime = 10 * time.Second // longest time until a connection ends that this node has closed
	maxClosing  = 1 << 10          // most peers with such connections that are remembered
)
