package node

import (
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestChangesAreCombined(t *testing.T) {
	for _, c := range []struct {
		changes []change
		want    change
	}{
		{nil, unchanged},
		{[]change{begun}, begun},
		{[]change{begun, ended}, ended},
		{[]change{ended, begun}, endedAndBegun},
		{[]change{ended, begun, begun}, endedAndBegun},
		{[]change{ended, begun, ended}, ended},
	} {
		b := newInbox()
		b.charged("p", 3)
		for _, x := range c.changes {
			b.meshChanged("p", x)
		}
		b.charged("p", 4)
		var got peerState
		b.take(func(_ peer.ID, s peerState) { got = s })
		if got.mesh != c.want || got.charged != 7 || got.link != unchanged {
			t.Errorf("%v: got %+v", c.changes, got)
		}
		b.take(func(peer.ID, peerState) { t.Error("taken twice") })
	}
}

func TestStatesComeInOrder(t *testing.T) {
	b := newInbox()
	for _, p := range []peer.ID{"c", "a", "b"} {
		b.linkChanged(p, begun)
	}
	var got []peer.ID
	b.take(func(p peer.ID, _ peerState) { got = append(got, p) })
	if !slices.Equal(got, []peer.ID{"a", "b", "c"}) {
		t.Error(got)
	}
}

func TestPartialsAreBounded(t *testing.T) {
	b := newInbox()
	for i := range 8 {
		if !b.offerPartial(partial{bytes: 1 << 20}) {
			t.Fatalf("MiB number %d is refused", i)
		}
	}
	if b.offerPartial(partial{bytes: 1}) {
		t.Error("a byte more than 8 MiB is taken")
	}
	b.took(<-b.partials)
	if !b.offerPartial(partial{bytes: 1 << 20}) {
		t.Error("there is room again, but nothing is taken")
	}
}

func TestConnectionsOfLeastWorthGoFirst(t *testing.T) {
	c := newConns(6)
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	open := func(p peer.ID, second int) peer.ID {
		evict, _ := c.opened(p, at(second))
		return evict
	}
	for i, p := range []peer.ID{"neighbour", "mesh", "link", "old", "new", "busy"} {
		if got := open(p, i); got != "" {
			t.Fatalf("%s evicts %s", p, got)
		}
	}
	for _, p := range []peer.ID{"neighbour", "mesh", "link"} {
		c.link(p)
	}
	c.need("neighbour", true)
	c.meshed("mesh", true)
	done := c.use("busy")
	for _, want := range []peer.ID{"old", "new", "link", "mesh"} {
		if got := open("x"+want, 100); got != want {
			t.Fatalf("evicted %q, want %q", got, want)
		}
		c.closed(want)
		c.use("x" + want)
	}
	if got := open("last", 100); got != "last" {
		t.Errorf("evicted %q, want the newcomer: all others are in use", got)
	}
	c.closed("last")
	done()
	if got := open("last", 100); got != "busy" {
		t.Errorf("evicted %q, want the one no longer in use", got)
	}
	if got := c.stale(at(100).Add(idleLife)); len(got) != 0 {
		t.Errorf("stale %v", got)
	}
	if got := c.stale(at(101).Add(idleLife)); !slices.Equal(got, []peer.ID{"last"}) {
		t.Errorf("stale %v", got)
	}
}

func TestDialsLeaveRoom(t *testing.T) {
	c := newConns(5) // one of them spare
	for _, p := range []peer.ID{"a", "b", "c", "e"} {
		c.opened(p, time.Now())
		c.link(p)
		c.need(p, true)
	}
	if _, ok := c.dial("d", true, time.Now()); ok {
		t.Error("a dial without room although nobody may go")
	}
	c.need("b", false)
	if evict, ok := c.dial("d", true, time.Now()); !ok || evict != "b" {
		t.Errorf("evicted %q, %v", evict, ok)
	}
	c.closed("b")
	c.opened("d", time.Now())
	c.dialed("d")
	if !c.passing("d") || c.passing("a") || c.linked("d") {
		t.Error("a connection that was dialled to confirm is not known as one")
	}
	if !c.link("d") || c.passing("d") || c.link("nobody") {
		t.Error("making a link of it")
	}
}

// A connection just made is left to the use that it was made for, but not for long.
func TestFreshConnectionsStay(t *testing.T) {
	c, now := newConns(5), time.Now()
	for _, p := range []peer.ID{"a", "b", "c", "d"} {
		c.opened(p, now)
	}
	if evict, ok := c.admit("e", now.Add(freshLife-1)); ok {
		t.Errorf("a fresh connection makes room: %q", evict)
	}
	c.use("b")()
	if evict, ok := c.admit("e", now.Add(freshLife-1)); !ok || evict != "b" {
		t.Errorf("evicted %q, %v; want the one that has been used", evict, ok)
	}
	if evict, ok := c.admit("f", now.Add(freshLife)); !ok || evict != "a" {
		t.Errorf("evicted %q, %v; want one that nobody came to use", evict, ok)
	}
}

func TestHeaderCache(t *testing.T) {
	c := NewHeaderCache(4)
	calls := 0
	open := func(b []byte) (string, error) { calls++; return string(b), nil }
	for range 3 {
		for _, k := range []string{"a", "b"} {
			if got, err := cached(c, 10, []byte(k), open); got != k || err != nil {
				t.Fatal(got, err)
			}
		}
	}
	if calls != 2 {
		t.Errorf("%d calls for 2 envelopes", calls)
	}
	for i := range 100 {
		_, _ = cached(c, 10, []byte{byte(i)}, open)
	}
	if n := len(c.now) + len(c.old); n > 4 {
		t.Errorf("%d kept, at most 4", n)
	}
	calls = 0
	_, _ = cached(c, 2, []byte("too long"), open)
	_, _ = cached(c, 2, []byte("too long"), open)
	if calls != 2 {
		t.Error("an envelope over the limit is kept")
	}
}
