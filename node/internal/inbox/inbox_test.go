package inbox

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestChangesAreCombined(t *testing.T) {
	for _, c := range []struct {
		changes []Change
		want    Change
	}{
		{nil, Unchanged},
		{[]Change{Begun}, Begun},
		{[]Change{Begun, Ended}, Ended},
		{[]Change{Ended, Begun}, EndedAndBegun},
		{[]Change{Ended, Begun, Begun}, EndedAndBegun},
		{[]Change{Ended, Begun, Ended}, Ended},
	} {
		b := New()
		b.Charged("p", 3)
		for _, x := range c.changes {
			b.MeshChanged("p", x)
		}
		b.Charged("p", 4)
		var got PeerState
		b.Take(func(_ peer.ID, s PeerState) { got = s })
		if got.Mesh != c.want || got.Charged != 7 || got.Link != Unchanged {
			t.Errorf("%v: got %+v", c.changes, got)
		}
		b.Take(func(peer.ID, PeerState) { t.Error("taken twice") })
	}
}

func TestStatesComeInOrder(t *testing.T) {
	b := New()
	for _, p := range []peer.ID{"c", "a", "b"} {
		b.LinkChanged(p, Begun)
	}
	var got []peer.ID
	b.Take(func(p peer.ID, _ PeerState) { got = append(got, p) })
	if !slices.Equal(got, []peer.ID{"a", "b", "c"}) {
		t.Error(got)
	}
}

// offered is how many messages of some bytes a peer gets into the queue before one is refused.
func offered(b *Inbox, p peer.ID, bytes int) (n int) {
	for b.OfferMessage(Message{From: p, Bytes: bytes}) {
		n++
	}
	return n
}

func TestPartialsAreBounded(t *testing.T) {
	b := New()
	if got := offered(b, "p", 1<<20); got != 4 {
		t.Errorf("a peer alone has %d MiB waiting, want half of 8", got)
	}
	b.Next()
	if got := offered(b, "p", 1<<20); got != 1 {
		t.Errorf("there is room for one again, but %d are taken", got)
	}
	if messages, bytes := b.Waiting(); messages != 4 || bytes != 4<<20 {
		t.Errorf("%d messages of %d bytes wait", messages, bytes)
	}
	if got := offered(New(), "p", 0); got != MaxMessages/2 {
		t.Errorf("a peer alone has %d messages waiting, want half of %d", got, MaxMessages)
	}
}

// TestFairQueue: peers that send as much as they can leave room for one that sends little. If it counts as one of
// them, they do not.
func TestFairQueue(t *testing.T) {
	for from, room := range map[peer.ID]bool{"honest": true, "flood": false} {
		for _, bytes := range []int{1, 1 << 16} {
			b := New()
			for _, p := range []peer.ID{"flood", "another", "a third"} {
				offered(b, p, bytes)
			}
			if got := b.OfferMessage(Message{From: from, Bytes: bytes}); got != room {
				t.Errorf("messages of %d bytes: one of %q is taken: %v", bytes, from, got)
			}
		}
	}
}

// TestTakenPartialsAreForgotten: what the queue keeps of peers goes with their messages.
func TestTakenPartialsAreForgotten(t *testing.T) {
	b := New()
	for _, p := range []peer.ID{"a", "b", "a"} {
		b.OfferMessage(Message{From: p, Bytes: 10})
	}
	for range 3 {
		<-b.Messages
		if _, ok := b.Next(); !ok {
			t.Error("none waits")
		}
	}
	if _, ok := b.Next(); ok || len(b.Messages) != 0 || b.Remembered() != 0 || len(b.turns) != 0 || b.messages != 0 || b.bytes != 0 {
		t.Errorf("left: %v, %v, %d messages, %d bytes", b.queues, b.turns, b.messages, b.bytes)
	}
}

// TestTurns: the messages of one peer wait for those of another no longer than that has them in turns, however many that
// are. Those of each peer come in their order.
func TestTurns(t *testing.T) {
	const few = 10
	b := New()
	flood := 0
	for flood < MaxMessages/2 && b.OfferMessage(Message{From: "flood", Bytes: flood}) {
		flood++
	}
	for i := range few {
		if !b.OfferMessage(Message{From: "honest", Bytes: i}) {
			t.Fatal("no room")
		}
	}
	came := make(map[peer.ID]int)
	for came["honest"] < few {
		<-b.Messages
		p, _ := b.Next()
		if p.Bytes != came[p.From] {
			t.Fatalf("message %d of %s comes as its %dth", p.Bytes, p.From, came[p.From])
		}
		came[p.From]++
	}
	if came["flood"] != few {
		t.Errorf("%d messages of an honest peer wait for %d of %d others", few, came["flood"], flood)
	}
}

// TestEndedContext: a caller whose context has ended hands over nothing, even where the loop waits.
func TestEndedContext(t *testing.T) {
	b := New()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	go func() {
		for range b.Commands {
			t.Error("a command came")
		}
	}()
	defer close(b.Commands)
	for range 100 {
		if err := b.Command(ended, t.Context(), "x"); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		runtime.Gosched() // to where the loop waits
	}
	closed := errors.New("closed")
	node, end := context.WithCancelCause(t.Context())
	end(closed)
	if err := b.Command(ended, node, "x"); !errors.Is(err, closed) {
		t.Errorf("%v, want that the node is closed", err)
	}
}
