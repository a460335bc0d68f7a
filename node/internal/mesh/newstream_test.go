package mesh

import (
	"context"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"
)

// beginning is a host that sees a peer take on its protocols: those that it has by the first, second and third try.
type beginning struct {
	host.Host
	has [3][]protocol.ID
	try int
}

type namedStream struct {
	network.Stream
	id protocol.ID
}

func (s namedStream) Protocol() protocol.ID { return s.id }
func (s namedStream) Reset() error          { return nil }

func (h *beginning) NewStream(_ context.Context, _ peer.ID, ids ...protocol.ID) (network.Stream, error) {
	has := h.has[h.try]
	h.try++
	for _, id := range ids {
		if slices.Contains(has, id) {
			return namedStream{id: id}, nil
		}
	}
	return nil, multistream.ErrNotSupported[protocol.ID]{Protos: ids}
}

// TestNewestProtocol: a peer that has the newest protocol is spoken to by it, also if it had only just begun.
func TestNewestProtocol(t *testing.T) {
	both := []protocol.ID{"new", "old"}
	for _, c := range []struct {
		name string
		has  [3][]protocol.ID
		want protocol.ID // empty: an error
	}{
		{"has both", [3][]protocol.ID{both, both, both}, "new"},
		{"begins", [3][]protocol.ID{nil, both, both}, "new"},
		{"has just begun", [3][]protocol.ID{nil, {"old"}, both}, "new"},
		{"is older", [3][]protocol.ID{{"old"}, {"old"}, {"old"}}, "old"},
		{"has neither", [3][]protocol.ID{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := watchedHost{&beginning{has: c.has}, new(Mesh)}.NewStream(t.Context(), "p", both...)
			if got := c.want; err == nil && s.Protocol() != got || (err != nil) != (got == "") {
				t.Errorf("%v, %v, want %q", s, err, got)
			}
		})
	}
}
