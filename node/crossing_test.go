package node

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/wire"
)

// version is a host on which a node of this version passes for one of another. It rewrites what is sent on streams, and
// does not serve some protocols.
type version struct {
	host.Host
	unserved []protocol.ID
	rewrite  func(protocol.ID, []byte) []byte
}

func (h version) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	if !slices.Contains(h.unserved, id) {
		h.Host.SetStreamHandler(id, func(s network.Stream) { handle(h.wrap(s, id)) })
	}
}

func (h version) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	s, err := h.Host.NewStream(ctx, p, ids...)
	if err != nil {
		return nil, err
	}
	return h.wrap(s, s.Protocol()), nil
}

// wrap rewrites the messages of the node's own streams, not pubsub's.
func (h version) wrap(s network.Stream, id protocol.ID) network.Stream {
	if !strings.HasPrefix(string(id), "/venn/") || strings.Contains(string(id), "meshsub") {
		return s
	}
	return versionStream{s, func(b []byte) []byte { return h.rewrite(id, b) }}
}

// versionStream rewrites each message that is written: the node writes one in one call.
type versionStream struct {
	network.Stream
	rewrite func([]byte) []byte
}

func (s versionStream) Write(b []byte) (int, error) {
	msg, err := wire.ReadFrame(bytes.NewReader(b), len(b), nil)
	if err != nil {
		return 0, fmt.Errorf("no message is written in one call: %w", err)
	}
	if err := wire.WriteFrame(s.Stream, s.rewrite(msg)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// older says nothing of tails, names nobody when asked for peers, and takes no part in joins.
func older(h host.Host) host.Host {
	return version{h, []protocol.ID{PeersID, JoinID}, func(id protocol.ID, b []byte) []byte {
		if id != HelloID {
			return b
		}
		hello, err := wire.ParseHello(b)
		if err != nil {
			return b
		}
		hello.Tails, hello.ShortTails, hello.Depth, hello.Network, hello.Again = false, false, 0, 0, false
		return wire.AppendHello(nil, hello)
	}}
}

// before takes tails, but no groups in short in them.
func before(h host.Host) host.Host {
	return version{h, nil, func(id protocol.ID, b []byte) []byte {
		hello, err := wire.ParseHello(b)
		if id != HelloID || err != nil {
			return b
		}
		hello.ShortTails = false
		return wire.AppendHello(nil, hello)
	}}
}

// later has a field more in every message, number 1,000, and serves a protocol that this version does not know.
func later(h host.Host) host.Host {
	h.SetStreamHandler("/venn/hello/2.0.0", func(s network.Stream) { _ = s.Reset() })
	return version{h, nil, func(_ protocol.ID, b []byte) []byte {
		if len(b) == 0 {
			return b
		}
		return append(slices.Clone(b), 0xc0, 0x3e, 0x01)
	}}
}

// TestCrossingVersions: peers of the version before, of this and of the next find each other's keys, new ones too, and
// none refuses what another says.
func TestCrossingVersions(t *testing.T) {
	nodes := map[string]*Node{"older": nodeOn(t, older(newHost(t))), "before": nodeOn(t, before(newHost(t))), "this": newNode(t), "later": nodeOn(t, later(newHost(t)))}
	names := []string{"older", "before", "this", "later"}
	for i, name := range names {
		add(t, nodes[name], []byte("of "+name))
		for _, other := range names[:i] {
			connect(t, nodes[name], nodes[other])
		}
	}
	all := func(prefix string) {
		for _, by := range names {
			for _, of := range names {
				if by == of {
					continue
				}
				eventually(t, fmt.Sprintf("%s finds %s%s", by, prefix, of), func() bool {
					return slices.Equal(find(t, nodes[by], []byte(prefix+of), QueryOptions{Timeout: 5 * time.Second}), []peer.ID{nodes[of].ID()})
				})
			}
		}
	}
	for _, by := range names {
		for _, of := range names {
			eventually(t, by+" has the summary of "+of, func() bool { return by == of || knows(nodes[by], nodes[of]) })
		}
	}
	all("of ")
	for _, name := range names {
		add(t, nodes[name], []byte("new of "+name))
	}
	all("new of ")
	for name, n := range nodes {
		eventually(t, name+" has three links", func() bool { s, err := n.Status(t.Context()); return err == nil && s.Links == 3 })
		if got := refusals(t, n); len(got) > 0 {
			t.Errorf("%s refused %v", name, got)
		}
	}
}
