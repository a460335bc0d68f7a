package mesh

import (
	"context"
	"errors"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// negotiating is a host whose streams take a while to open.
type negotiating struct {
	host.Host
	during func() // called meanwhile
	opened []*resetStream
}

type resetStream struct {
	network.Stream
	reset bool
}

func (s *resetStream) Reset() error {
	s.reset = true
	return nil
}

func (h *negotiating) NewStream(context.Context, peer.ID, ...protocol.ID) (network.Stream, error) {
	h.during()
	s := new(resetStream)
	h.opened = append(h.opened, s)
	return s, nil
}

// TestClosingMeanwhile: a stream that is negotiated while the mesh begins to close is reset. Later none is opened.
func TestClosingMeanwhile(t *testing.T) {
	m := new(Mesh)
	h := &negotiating{during: func() { m.closing.Store(true) }}
	for range 2 {
		s, err := watchedHost{h, m}.NewStream(t.Context(), "p", ProtocolID)
		if !errors.Is(err, errClosing) || s != nil || len(h.opened) != 1 || !h.opened[0].reset {
			t.Errorf("%v, %v, %d opened", s, err, len(h.opened))
		}
	}
}
