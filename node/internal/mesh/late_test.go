package mesh

import (
	"fmt"
	"slices"
	"testing"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/counters"
	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/node/wire"
)

// TestLate: the newest catalogues wait for a peer that is not subscribed, no matter how many there are. They are sent
// once, in order, when pubsub has a stream to the peer and knows of its subscription.
func TestLate(t *testing.T) {
	linked := true
	m := New(Config{Topic: "topic", Counters: counters.New(), Inbox: inbox.New(), Link: func(peer.ID) {}, Linked: func(peer.ID) bool { return linked }})
	send := func(o outgoing, subscribed bool) (sent []string) {
		o.to, o.group = "p", wire.CatalogueGroup
		for _, a := range m.only(&o)(map[peer.ID]struct{}{}, func(peer.ID) bool { return subscribed }) {
			sent = append(sent, string(a.EncodedPartsMetadata))
		}
		return sent
	}
	catalogue := func(i int) outgoing { return outgoing{metadata: []byte(fmt.Sprint(i))} }
	var want []string
	for i := range 1000 {
		if sent := send(catalogue(i), false); sent != nil {
			t.Fatal("sent to a peer that is not subscribed", sent)
		}
		if i >= 1000-mostLate {
			want = append(want, fmt.Sprint(i))
		}
	}
	drops := func() uint64 {
		_, dropped := m.cfg.Counters.Maps()
		return dropped["not subscribed"]
	}
	if m.Waiting() != 0 || drops() != 1000 || m.Remembered() != 1 {
		t.Errorf("%d in the queue, %d drops counted, %d remembered", m.Waiting(), drops(), m.Remembered())
	}
	subscribes := &pubsub.RPC{RPC: pb.RPC{Subscriptions: []*pb.RPC_SubOpts{{}}}}
	if err := m.inspect("p", subscribes); err != nil || m.Waiting() != 1 {
		t.Fatalf("%d in the queue for a subscription, %v", m.Waiting(), err)
	}
	if sent := send(*<-m.outbox, true); sent != nil {
		t.Fatal("sent without a stream", sent)
	}
	(&tracer{m}).OnNewOutboundStream("p", ProtocolID)
	if m.Waiting() != 1 {
		t.Fatalf("%d in the queue for a stream", m.Waiting())
	}
	if sent := send(*<-m.outbox, true); !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	if sent := send(catalogue(1000), true); len(sent) != 1 || drops() != 1000 {
		t.Errorf("sent %q, %d drops", sent, drops())
	}

	send(outgoing{metadata: make([]byte, wire.MaxCatalogue)}, false)
	for range 4 {
		send(outgoing{metadata: make([]byte, wire.MaxCatalogue)}, false)
	}
	if sent := send(outgoing{}, true); len(sent) != 4 {
		t.Errorf("%d large ones waited, want 4", len(sent))
	}
	send(catalogue(0), false)
	m.Unlinked("p")
	linked = false
	send(catalogue(1), false)
	if sent := send(outgoing{}, true); sent != nil {
		t.Errorf("kept after the end of the link: %q", sent)
	}
}
