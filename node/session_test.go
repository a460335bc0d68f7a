package node

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// TestRestartedBeforeItsEnd: a peer starts again while others have still its former connections, as after a kill behind
// a line that was cut. What they exchanged with it ends, and so do these connections.
func TestRestartedBeforeItsEnd(t *testing.T) {
	other, before := newNode(t), newNode(t)
	closed := subscribe(t, other, new(EvtLinkClosed))
	greeted := subscribe(t, other, new(EvtLinkOpened))
	connect(t, before, other)
	id := before.ID()
	eventually(t, "a link", func() bool { return slices.Contains(waiting(greeted), any(EvtLinkOpened{id})) })
	old := other.host.Network().ConnsToPeer(id)

	again := nodeOn(t, hostLike(t, before.host))
	add(t, again, []byte("later"))
	connect(t, again, other)
	eventually(t, "the link ends", func() bool { return slices.Contains(waiting(closed), any(EvtLinkClosed{id})) })
	eventually(t, "it begins again", func() bool { return slices.Contains(waiting(greeted), any(EvtLinkOpened{id})) })
	eventually(t, "the connections from before end", func() bool {
		return !slices.ContainsFunc(old, func(c network.Conn) bool { return !c.IsClosed() })
	})
	eventually(t, "its key is found", func() bool {
		return slices.Equal(find(t, other, []byte("later"), QueryOptions{}), []peer.ID{id})
	})
}

// TestLinkBegunAgain: one end of a link loses it and begins another, of which the other end hears by hello alone. Both go
// on from the beginning, and hear of each other's changes.
func TestLinkBegunAgain(t *testing.T) {
	a, b := newNode(t), newNode(t)
	add(t, a, []byte("before"))
	connect(t, a, b)
	knows := func(key string) func() bool {
		return func() bool {
			return inLoop(t, b, func(l *loop) bool { return l.core.Matches(wire.PeerID(a.ID()), b.hasher.Fingerprint([]byte(key))) })
		}
	}
	eventually(t, "a summary", knows("before"))
	closed := subscribe(t, b, new(EvtLinkClosed))
	for i := range 3 {
		var hello wire.Hello
		look(t, a, func(l *loop) {
			hello = wire.Hello{Session: l.linked(b.ID()).session, Tails: true}
			if l.unlink(b.ID()); i < 2 {
				_ = l.link(b.ID(), true, false)
			}
		})
		if i == 2 { // the other end says hello as on any link
			look(t, b, func(l *loop) { l.sayHello(a.ID(), hello) })
		}
		began := time.Now()
		eventually(t, "the link begins again", func() bool { return slices.Contains(waiting(closed), any(EvtLinkClosed{a.ID()})) })
		if took := time.Since(began); took > 20*time.Second { // as one that is idle
			t.Errorf("case %d: the other end began again after %v", i, took)
		}
		key := fmt.Sprint("after ", i)
		add(t, a, []byte(key))
		eventually(t, key, knows(key))
	}
}

// TestFailureOlderThanLink: what was asked of a peer before it was linked fails later, and says nothing of the peer.
func TestFailureOlderThanLink(t *testing.T) {
	a, b := newNode(t), newNode(t)
	p := wire.PeerID(b.ID())
	before := a.now()
	connect(t, a, b)
	eventually(t, "a link", func() bool {
		return inLoop(t, a, func(l *loop) bool { return l.linked(b.ID()).session != 0 })
	})
	for _, late := range []bool{true, false} {
		look(t, a, func(l *loop) {
			begun := before
			if !late {
				begun = a.now()
			}
			l.asks[b.ID()] = nil
			l.confirmed(confirmed{peer: b.ID(), begun: begun, asked: []event.Ask{{To: wire.Record{Peer: p}, Question: wire.HaveRequest{Keys: [][]byte{[]byte("k")}}, Search: 1}}, err: errDial})
			if l.core.Routing.Suspected(p) == late {
				t.Errorf("asked before the link %v: suspected %v", late, !late)
			}
		})
	}
}
