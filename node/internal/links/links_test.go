package links

import (
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestConnectionsOfLeastWorthGoFirst(t *testing.T) {
	c := New(6)
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	open := func(p peer.ID, second int) peer.ID {
		evict, _ := c.Opened(p, at(second))
		return evict
	}
	for i, p := range []peer.ID{"neighbour", "mesh", "link", "old", "new", "busy"} {
		if got := open(p, i); got != "" {
			t.Fatalf("%s evicts %s", p, got)
		}
	}
	for _, p := range []peer.ID{"neighbour", "mesh", "link"} {
		c.Link(p)
	}
	c.Need("neighbour", true)
	c.Meshed("mesh", true)
	done := c.Use("busy")
	for _, want := range []peer.ID{"old", "new", "link", "mesh"} {
		if got := open("x"+want, 100); got != want {
			t.Fatalf("evicted %q, want %q", got, want)
		}
		c.Closed(want)
		c.Use("x" + want)
	}
	if got := open("last", 100); got != "last" {
		t.Errorf("evicted %q, want the newcomer: all others are in use", got)
	}
	c.Closed("last")
	done()
	if got := open("last", 100); got != "busy" {
		t.Errorf("evicted %q, want the one no longer in use", got)
	}
	if got := c.Stale(at(100).Add(idleLife)); len(got) != 0 {
		t.Errorf("stale %v", got)
	}
	if got := c.Stale(at(101).Add(idleLife)); !slices.Equal(got, []peer.ID{"last"}) {
		t.Errorf("stale %v", got)
	}
}

func TestDialsLeaveRoom(t *testing.T) {
	c := New(5) // one of them spare
	for _, p := range []peer.ID{"a", "b", "c", "e"} {
		c.Opened(p, time.Now())
		c.Link(p)
		c.Need(p, true)
	}
	if _, ok := c.Dial("d", true, time.Now()); ok {
		t.Error("a dial without room although nobody may go")
	}
	c.Need("b", false)
	if evict, ok := c.Dial("d", true, time.Now()); !ok || evict != "b" {
		t.Errorf("evicted %q, %v", evict, ok)
	}
	c.Closed("b")
	c.Opened("d", time.Now())
	c.Dialed("d")
	if !c.Passing("d") || c.Passing("a") || c.Linked("d") {
		t.Error("a connection that was dialled to confirm is not known as one")
	}
	if !c.Link("d") || c.Passing("d") || c.Link("nobody") {
		t.Error("making a link of it")
	}
}

// A connection just made is left to the use that it was made for, but not for long.
func TestFreshConnectionsStay(t *testing.T) {
	c, now := New(5), time.Now()
	for _, p := range []peer.ID{"a", "b", "c", "d"} {
		c.Opened(p, now)
	}
	if evict, ok := c.Admit("e", now.Add(freshLife-1)); ok {
		t.Errorf("a fresh connection makes room: %q", evict)
	}
	c.Use("b")()
	if evict, ok := c.Admit("e", now.Add(freshLife-1)); !ok || evict != "b" {
		t.Errorf("evicted %q, %v; want the one that has been used", evict, ok)
	}
	if evict, ok := c.Admit("f", now.Add(freshLife)); !ok || evict != "a" {
		t.Errorf("evicted %q, %v; want one that nobody came to use", evict, ok)
	}
}
