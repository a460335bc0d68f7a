package node

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/overlay/wire"
)

// next makes a node one of a version that does not exist yet: it speaks later versions of all protocols.
func next(c *config) error {
	c.later = make(map[protocol.ID][]protocol.ID)
	for _, id := range []protocol.ID{HelloID, HaveID, QueryID, PartsID, PeersID, TailsID, JoinID} {
		c.later[id] = []protocol.ID{id + ".next"}
	}
	return nil
}

// spoken is a host that counts the streams that it opens, by protocol. An attempt that fails counts if it named one
// protocol.
type spoken struct {
	host.Host
	mu sync.Mutex
	to map[peer.ID]map[protocol.ID]int
}

func newSpoken(t *testing.T) *spoken {
	return &spoken{Host: newHost(t), to: make(map[peer.ID]map[protocol.ID]int)}
}

func (h *spoken) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	s, err := h.Host.NewStream(ctx, p, ids...)
	switch {
	case err == nil:
		ids = []protocol.ID{s.Protocol()}
	case len(ids) > 1:
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.to[p] == nil {
		h.to[p] = make(map[protocol.ID]int)
	}
	h.to[p][ids[0]]++
	return s, err
}

// count returns the streams to a node by a protocol.
func (h *spoken) count(to *Node, id protocol.ID) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.to[to.ID()][wire.ProtocolIn("venn", id)]
}

// TestNextVersion: two nodes of the next version and two of this find each other's keys, and refuse nothing. Two of the
// next version speak its protocols to each other, and those of this version to the others.
func TestNextVersion(t *testing.T) {
	t.Parallel()
	var hosts [4]*spoken
	var nodes [4]*Node // the first two are of the next version
	for i := range nodes {
		hosts[i] = newSpoken(t)
		var opts []Option
		if i < 2 {
			opts = append(opts, next)
		}
		nodes[i] = nodeOn(t, hosts[i], opts...)
		add(t, nodes[i], fmt.Appendf(nil, "key %d", i))
		for j := range i {
			connect(t, nodes[i], nodes[j])
		}
	}
	for i, by := range nodes {
		for j, of := range nodes {
			if i == j {
				continue
			}
			eventually(t, fmt.Sprintf("%d has the summary of %d", i, j), func() bool { return knows(by, of) })
			if got := find(t, by, fmt.Appendf(nil, "key %d", j), QueryOptions{}); !slices.Equal(got, []peer.ID{of.ID()}) {
				t.Errorf("%d finds %v for the key of %d", i, got, j)
			}
			both := i < 2 && j < 2
			if n := hosts[i].count(of, HaveID+".next"); (n > 0) != both {
				t.Errorf("%d asked %d by the next version %d times", i, j, n)
			}
			if n := hosts[i].count(of, HaveID); (n > 0) == both {
				t.Errorf("%d asked %d by this version %d times", i, j, n)
			}
		}
		if got := refusals(t, by); len(got) > 0 {
			t.Errorf("%d refused %v", i, got)
		}
	}
}
