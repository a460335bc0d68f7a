package mesh

import (
	"context"
	"errors"
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
	has    [3][]protocol.ID
	try    int
	tried  func(try int) // called while a stream is negotiated; may be nil
	opened []*namedStream
}

type namedStream struct {
	network.Stream
	id    protocol.ID
	reset bool
}

func (s *namedStream) Protocol() protocol.ID { return s.id }

func (s *namedStream) Reset() error {
	s.reset = true
	return nil
}

func (h *beginning) NewStream(_ context.Context, _ peer.ID, ids ...protocol.ID) (network.Stream, error) {
	has := h.has[h.try]
	h.try++
	if h.tried != nil {
		h.tried(h.try)
	}
	for _, id := range ids {
		if slices.Contains(has, id) {
			s := &namedStream{id: id}
			h.opened = append(h.opened, s)
			return s, nil
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

// TestClosingMeanwhile: a stream that is negotiated while the mesh begins to close is reset.
func TestClosingMeanwhile(t *testing.T) {
	both := []protocol.ID{"new", "old"}
	for closing, has := range map[int][3][]protocol.ID{
		1: {both, both, both},
		2: {nil, {"old"}, both},
	} {
		m := new(Mesh)
		h := &beginning{has: has, tried: func(try int) { m.closing.Store(m.closing.Load() || try == closing) }}
		s, err := watchedHost{h, m}.NewStream(t.Context(), "p", both...)
		if !errors.Is(err, errClosing) || s != nil || h.try != closing || len(h.opened) != 1 || !h.opened[0].reset {
			t.Errorf("closing at try %d: %v, %v after %d tries", closing, s, err, h.try)
		}
		if _, err := (watchedHost{h, m}).NewStream(t.Context(), "p", both...); !errors.Is(err, errClosing) || h.try != closing {
			t.Errorf("closed at try %d: %v after %d tries", closing, err, h.try)
		}
	}
	// The stream of an older protocol is reset as well.
	m := new(Mesh)
	h := &beginning{has: [3][]protocol.ID{nil, {"old"}, both}, tried: func(try int) { m.closing.Store(try == 3) }}
	if _, err := (watchedHost{h, m}).NewStream(t.Context(), "p", both...); !errors.Is(err, errClosing) || !h.opened[0].reset || !h.opened[1].reset {
		t.Errorf("closing at try 3: %v", err)
	}
}
