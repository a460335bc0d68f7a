package node

import (
	"context"
	"errors"
	"maps"
	"sync"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/links"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/tails"
)

const (
	// goodbyeTime is how long Close may take to tell links that the node leaves, goodbyeFlush how long the last
	// messages may take to the connection.
	goodbyeTime  = 200 * time.Millisecond
	goodbyeFlush = 20 * time.Millisecond
	// fewLinks is the number of links up to which each counts as a neighbour's does. With more, most end because others
	// need the room, and a peer that leaves has neighbours enough to notice.
	fewLinks = 8
	// lostTime is how long a peer whose connection was lost has to take another.
	lostTime = 2 * time.Second
	// lostLooks is how often it is looked again whether a new connection lasts.
	lostLooks = 3
)

// leave tells the links that the node closes.
type leave struct {
	linked bool // whether there were any
	done   chan struct{}
}

// goodbye has the loop tell all links that the node leaves, and waits a little for the word to go out.
func (n *Node) goodbye() {
	ctx, cancel := context.WithTimeout(n.ctx, goodbyeTime)
	defer cancel()
	c := &leave{done: make(chan struct{})}
	if n.in.Command(ctx, n.ctx, c) != nil || n.await(c.done) != nil || !c.linked {
		return
	}
	for n.pipes.Waiting() > 0 && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(goodbyeFlush)
}

func (l *loop) leave(c *leave) {
	l.step(tails.Leaving{})
	c.linked = len(l.links) > 0
	close(c.done)
}

// lost looks whether a peer whose connection has ended, not by us, can still be reached. One that has said goodbye
// cannot.
func (l *loop) lost(p peer.ID) {
	if l.n.closing.was(p) {
		return
	}
	if l.core.Tails.Left(overlay.PeerID(p)) {
		l.step(tails.Unreachable{Peer: overlay.PeerID(p)})
		return
	}
	l.n.parted.note(p, time.Now())
	r, ok := l.core.Overlay.Record(overlay.PeerID(p))
	if !ok {
		return
	}
	l.n.tasks.Run(func() {
		ctx, cancel := context.WithTimeout(l.n.ctx, lostTime)
		defer cancel()
		look := func() error {
			links.Forgive(l.n.host, p)
			return l.n.reach(ctx, r, true)
		}
		pause(ctx, links.Turn(l.n.host.ID(), p)) // the peer may look for this node, too
		if gone(ctx, look) && l.n.ctx.Err() == nil {
			l.n.in.Result(l.n.ctx, tails.Unreachable{Peer: r.Peer})
		}
	})
}

// gone says whether a peer takes no connection that lasts: reach makes one, or finds that there is one. It ends soon
// after ctx has.
func gone(ctx context.Context, reach func() error) bool {
	for looks := 0; ; looks++ { // a host that closes may take one more connection, and end it
		err := reach()
		over := ctx.Err() != nil
		switch {
		case errors.Is(err, syscall.ECONNREFUSED):
			return true
		case over: // without room for a dial it was not looked for
			return err != nil && !errors.Is(err, errFull)
		case err == nil && looks >= lostLooks:
			return false
		}
		pause(ctx, lostTime/(lostLooks+2))
	}
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// closing are the peers whose connection this node has closed itself of late.
type closing struct {
	mu    sync.Mutex
	since map[peer.ID]time.Time
}

// closingTime is how long after it was closed a connection may end.
const closingTime = 10 * time.Second

func (c *closing) note(p peer.ID, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since == nil {
		c.since = make(map[peer.ID]time.Time)
	}
	maps.DeleteFunc(c.since, func(_ peer.ID, at time.Time) bool { return now.Sub(at) > closingTime })
	c.since[p] = now
}

// was says whether the connection that has ended was closed by this node.
func (c *closing) was(p peer.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.since[p]
	delete(c.since, p)
	return ok && time.Since(at) <= closingTime
}
