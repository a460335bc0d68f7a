package mesh

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/venn-p2p/venn/node/internal/counters"
	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/overlay/wire"
)

// newMesh returns a mesh that is not started, and a function that says what is sent to the peers whose turn it is.
func newMesh() (m *Mesh, sent func(subscribed bool) []string) {
	m = New(Config{Topic: "topic", Counters: counters.New(20), Inbox: inbox.New(), Link: func(peer.ID) bool { return false }, Barred: nobody, Admit: table(1, true)})
	m.cfg.Linked = func(peer.ID) bool { return true }
	return m, func(subscribed bool) (sent []string) {
		for {
			select {
			case <-m.wake:
			default:
				return sent
			}
			p, ok := m.next()
			if !ok {
				continue
			}
			for to, a := range m.announce(p)(map[peer.ID]struct{}{}, func(peer.ID) bool { return subscribed }) {
				sent = append(sent, fmt.Sprintf("%s:%.10s", string(to), a.EncodedPartsMetadata))
			}
		}
	}
}

func (m *Mesh) dropped(queue string) uint64 {
	_, dropped := m.cfg.Counters.Maps()
	return dropped[queue]
}

// TestLate: the newest catalogues wait for a peer that is not subscribed, no matter how many there are. They are sent
// once, in order, when pubsub has a stream to the peer and knows of its subscription.
func TestLate(t *testing.T) {
	m, sent := newMesh()
	var want []string
	for i := range 1000 {
		m.SendCatalogue("p", fmt.Append(nil, i))
		if sent := sent(false); sent != nil {
			t.Fatal("sent to a peer that is not subscribed", sent)
		}
		if i >= 1000-mostKept {
			want = append(want, fmt.Sprint("p:", i))
		}
	}
	if m.Catalogues() != mostKept || m.dropped("catalogues") != 1000-mostKept || m.Remembered() != 1 || m.Waiting() != 0 {
		t.Errorf("%d wait, %d drops counted, %d remembered", m.Catalogues(), m.dropped("catalogues"), m.Remembered())
	}
	if sent := sent(true); sent != nil {
		t.Fatal("tried again, though nothing has changed", sent)
	}
	subscribes := &pubsub.RPC{RPC: pb.RPC{Subscriptions: []*pb.RPC_SubOpts{{}}}}
	if err := m.inspect("p", subscribes); err != nil {
		t.Fatal(err)
	}
	if sent := sent(true); sent != nil {
		t.Fatal("sent without a stream", sent)
	}
	(&tracer{m}).OnNewOutboundStream("p", ProtocolID)
	if sent := sent(true); !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	m.SendCatalogue("p", []byte("next"))
	if sent := sent(true); len(sent) != 1 || m.Catalogues() != 0 {
		t.Errorf("sent %q, %d wait", sent, m.Catalogues())
	}

	for range 5 {
		m.SendCatalogue("p", make([]byte, wire.MaxCatalogue))
	}
	if sent := sent(true); len(sent) != 4 {
		t.Errorf("%d large ones waited, want 4", len(sent))
	}
	m.SendCatalogue("p", []byte("0"))
	m.Unlinked("p")
	if sent := sent(true); sent != nil || m.Catalogues() != 0 {
		t.Errorf("kept after the end of the link: %q", sent)
	}
}

// TestTurns: peers are sent catalogues in the order in which they became due, each once, one a turn.
func TestTurns(t *testing.T) {
	m, sent := newMesh()
	for _, p := range []peer.ID{"c", "a", "b"} {
		(&tracer{m}).OnNewOutboundStream(p, ProtocolID)
	}
	for _, to := range []peer.ID{"c", "a", "c", "b", "gone"} {
		m.SendCatalogue(to, []byte("k"))
	}
	m.Unlinked("gone")
	if sent, want := sent(true), []string{"c:k", "c:k", "a:k", "b:k"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

// TestLostStream: what was sent on a stream that has ended is sent again on the next one, before what is newer. Nothing
// of it is kept once the link has ended.
func TestLostStream(t *testing.T) {
	m, sent := newMesh()
	stream := &tracer{m}
	stream.OnNewOutboundStream("p", ProtocolID)
	for _, c := range []string{"a", "b"} {
		m.SendCatalogue("p", []byte(c))
		if sent := sent(true); len(sent) != 1 {
			t.Fatal(sent)
		}
	}
	m.opened("p", false)
	m.SendCatalogue("p", []byte("c"))
	stream.OnNewOutboundStream("p", ProtocolID)
	if sent, want := sent(true), []string{"p:a", "p:b", "p:c"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	for range 10 {
		m.SendCatalogue("p", make([]byte, mostSentBytes/4))
		sent(true)
	}
	m.opened("p", false)
	if n := m.Catalogues(); n != 4 {
		t.Errorf("%d wait again, want 4", n)
	}
	for range mostKept - 4 {
		m.SendCatalogue("p", []byte("d"))
	}
	stream.OnNewOutboundStream("p", ProtocolID)
	for range m.announce("p")(map[peer.ID]struct{}{}, func(peer.ID) bool { return true }) {
		break // after the first
	}
	if n := m.Catalogues(); n != mostKept-1 {
		t.Errorf("%d wait after one was sent, want %d", n, mostKept-1)
	}
	m.SendCatalogue("p", []byte("e"))
	before := m.dropped("catalogues")
	m.streamEnded("p")
	if n, dropped := m.Catalogues(), m.dropped("catalogues")-before; n != mostKept || dropped != 1 {
		t.Errorf("%d wait, %d drops counted, want %d and 1", n, dropped, mostKept)
	}
	stream.OnNewOutboundStream("p", ProtocolID)
	sent(true)
	m.Unlinked("p")
	m.opened("p", false)
	if n, left := m.Catalogues(), m.Remembered(); n != 0 || left != 0 {
		t.Errorf("%d wait after the end of the link, something is kept of %d peers", n, left)
	}
}

// TestFullOutbox: a full outbox delays no catalogue, neither a new one nor those of a peer that subscribes just then.
func TestFullOutbox(t *testing.T) {
	m, sent := newMesh()
	m.SendCatalogue("late", []byte("early"))
	if sent := sent(false); sent != nil {
		t.Fatal(sent)
	}
	for m.dropped("outbox") == 0 {
		m.SendParts("p", wire.GroupID{}, []byte("parts"))
	}
	m.SendCatalogue("late", []byte("new"))
	(&tracer{m}).OnNewOutboundStream("late", ProtocolID)
	if sent, want := sent(true), []string{"late:early", "late:new"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

// TestFullPubsub: a catalogue that finds pubsub's own queue full is sent when there is room again, before what is newer.
// Nothing of it is kept once the link has ended.
func TestFullPubsub(t *testing.T) {
	m, sent := newMesh()
	stream := &tracer{m}
	stream.OnNewOutboundStream("p", ProtocolID)
	room := 1
	// drops gives pubsub what waits, and has it drop what is beyond its room.
	drops := func(after func()) (dropped int) {
		for p, ok := m.next(); ok; p, ok = m.next() {
			for _, a := range m.announce(p)(map[peer.ID]struct{}{}, func(peer.ID) bool { return true }) {
				if room--; room < 0 {
					dropped++
					after()
					stream.DropRPC(&pubsub.RPC{RPC: pb.RPC{Partial: &pb.PartialMessagesExtension{
						GroupID: []byte(wire.CatalogueGroup), PartsMetadata: a.EncodedPartsMetadata,
					}}}, p)
				}
			}
		}
		return dropped
	}
	long := strings.Repeat("l", mostSentBytes+1)
	for _, c := range []string{"a", long, "c"} {
		m.SendCatalogue("p", []byte(c))
	}
	if dropped := drops(func() {}); dropped != 1 || m.Catalogues() != 2 {
		t.Fatalf("%d dropped, %d wait, want 1 and 2", dropped, m.Catalogues())
	}
	if sent := sent(true); sent != nil {
		t.Fatal("tried again at once", sent)
	}
	m.Retry()
	if sent, want := sent(true), []string{"p:llllllllll", "p:c"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	m.Retry()
	if sent := sent(true); sent != nil {
		t.Error("sent twice", sent)
	}

	m.SendCatalogue("p", []byte("d"))
	drops(func() { m.Unlinked("p") })
	if n := m.Catalogues(); n != 0 {
		t.Errorf("%d wait after the end of the link", n)
	}
	m.SendCatalogue("p", []byte("e"))
	drops(func() {})
	stream.OnNewOutboundStream("p", ProtocolID) // with an empty queue
	if sent, want := sent(true), []string{"p:e"}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
}

// TestLaterGroups: a peer of a later version, which uses groups that this one does not know, is not blamed for that.
func TestLaterGroups(t *testing.T) {
	m, _ := newMesh()
	blamed := 0
	m.cfg.Refuse = func(peer.ID, string, error) { blamed++ }
	for _, c := range []struct {
		topic, group string
		blame        int
	}{{"topic", "t", 0}, {"other", "t", 1}} {
		blamed = 0
		rpc := &pubsub.RPC{RPC: pb.RPC{Partial: &pb.PartialMessagesExtension{TopicID: proto.String(c.topic), GroupID: []byte(c.group), PartsMetadata: []byte("new")}}}
		if err := m.inspect("p", rpc); err == nil || blamed != c.blame {
			t.Errorf("group %q of %s: %v, blamed %d times, want %d", c.group, c.topic, err, blamed, c.blame)
		}
	}
}

// TestPartialsAreOfLinks: a partial message makes a link of its sender's connection, garbage does not. Without room for
// the link, it does not come to the inbox.
func TestPartialsAreOfLinks(t *testing.T) {
	for _, room := range []bool{true, false} {
		m, _ := newMesh()
		linked := false
		m.cfg.Linked, m.cfg.Link = func(peer.ID) bool { return linked }, func(peer.ID) bool { linked = room; return room }
		m.cfg.Refuse = func(peer.ID, string, error) {}
		rpc := &pubsub.RPC{RPC: pb.RPC{Partial: &pb.PartialMessagesExtension{TopicID: proto.String("topic"), GroupID: []byte(wire.CatalogueGroup)}}}
		if err := m.inspect("p", rpc); err != nil || (rpc.Partial != nil) != room || (m.dropped("partials") == 0) != room {
			t.Errorf("room %t: %v, %v, %d dropped", room, err, rpc.Partial, m.dropped("partials"))
		}
		linked = false
		if rpc.Partial = (&pb.PartialMessagesExtension{TopicID: proto.String("another")}); m.inspect("p", rpc) == nil || linked {
			t.Errorf("room %t: garbage makes a link", room)
		}
	}
}

// TestLostStreamAsksNothingAgain: what was sent on a stream that has ended is said again, but not asked for again. It
// has come already, and nobody would have asked for it twice.
func TestLostStreamAsksNothingAgain(t *testing.T) {
	m, _ := newMesh()
	stream := &tracer{m}
	said := func() (items wire.Catalogue) {
		stream.OnNewOutboundStream("p", ProtocolID)
		for _, a := range m.announce("p")(map[peer.ID]struct{}{}, func(peer.ID) bool { return true }) {
			items, _ = wire.ParseCatalogue(a.EncodedPartsMetadata)
		}
		return items
	}
	one, two := wire.Item{Have: 3}, wire.Item{Have: 2, Want: 9, Given: wire.Given{Parts: 1}}
	m.SendCatalogue("p", wire.Catalogue{one, two}.Append(nil))
	if got := said(); !slices.Equal(got, wire.Catalogue{one, two}) {
		t.Fatal(got)
	}
	m.opened("p", false)
	if got, want := said(), (wire.Catalogue{one, {Have: 2}}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
