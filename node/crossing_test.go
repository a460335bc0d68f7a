package node

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"

	"github.com/venn-p2p/venn/overlay/wire"
)

// version is a host on which a node of this version passes for one of another. It rewrites what is sent on streams, and
// the hellos that come, and does not serve some protocols.
type version struct {
	host.Host
	unserved []protocol.ID
	rewrite  func(protocol.ID, []byte) []byte
	heard    func(hello []byte) []byte // nil: they stay as they are
}

func (h version) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	if slices.ContainsFunc(h.unserved, func(u protocol.ID) bool { return wire.ProtocolIn("venn", u) == id }) {
		return
	}
	h.Host.SetStreamHandler(id, func(s network.Stream) {
		if id == wire.ProtocolIn("venn", HelloID) && h.heard != nil {
			s = &heardStream{Stream: s, rewrite: h.heard}
		}
		handle(h.wrap(s, id))
	})
}

func (h version) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	s, err := h.Host.NewStream(ctx, p, ids...)
	if err != nil {
		return nil, err
	}
	return h.wrap(s, s.Protocol()), nil
}

// Peerstore makes the node open all streams by NewStream, those of peers that identify knows nothing of, too.
func (h version) Peerstore() peerstore.Peerstore { return identified{h.Host.Peerstore()} }

// identified knows a protocol of every peer.
type identified struct{ peerstore.Peerstore }

func (p identified) GetProtocols(id peer.ID) ([]protocol.ID, error) {
	known, err := p.Peerstore.GetProtocols(id)
	return append(known, identify.ID), err
}

// wrap rewrites the messages of the node's own streams, not pubsub's.
func (h version) wrap(s network.Stream, id protocol.ID) network.Stream {
	if h.rewrite == nil || !strings.HasPrefix(string(id), "/venn/") || strings.Contains(string(id), "meshsub") {
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

// heardStream rewrites the first message that is read.
type heardStream struct {
	network.Stream
	rewrite func([]byte) []byte
	first   *bytes.Buffer // what is left of it; nil: it is not read yet
}

func (s *heardStream) Read(b []byte) (int, error) {
	if s.first == nil {
		msg, err := wire.ReadFrame(s.Stream, wire.MaxHello, nil)
		if err != nil {
			return 0, err
		}
		s.first = &bytes.Buffer{}
		if err := wire.WriteFrame(s.first, s.rewrite(msg)); err != nil {
			return 0, err
		}
	}
	if s.first.Len() > 0 {
		return s.first.Read(b)
	}
	return s.Stream.Read(b)
}

// changed returns a hello as change leaves it.
func changed(b []byte, change func(*wire.Hello)) []byte {
	hello, err := wire.ParseHello(b)
	if err != nil {
		return b
	}
	change(&hello)
	return hello.Append(nil)
}

// noTails leaves out the field of tails on streams. It was no field of the versions before.
func noTails(b []byte) []byte {
	return changed(b, func(hello *wire.Hello) { hello.Tails = false })
}

// older says nothing of tails, names nobody when asked for peers, and takes no part in joins.
func older(h host.Host) host.Host {
	return version{h, []protocol.ID{PeersID, JoinID, TailsID}, func(id protocol.ID, b []byte) []byte {
		if id != wire.ProtocolIn("venn", HelloID) {
			return b
		}
		return changed(b, func(hello *wire.Hello) { hello.Tails, hello.Depth, hello.Network, hello.Again = false, 0, 0, false })
	}, noTails}
}

// later has a field more in every message, number 1,000.
func later(h host.Host) host.Host {
	return version{h, nil, func(_ protocol.ID, b []byte) []byte {
		if len(b) == 0 {
			return b
		}
		return append(slices.Clone(b), 0xc0, 0x3e, 0x01)
	}, nil}
}

// TestCrossingVersions: peers of the version before, of this and of the next find each other's keys, new ones too, and
// none refuses what another says. Only those that take tails on streams are sent any: as a message to a feeder is one of
// tails, no other feeds.
func TestCrossingVersions(t *testing.T) {
	t.Parallel()
	names, hosts, nodes := []string{"older", "this", "later"}, make(map[string]*spoken), make(map[string]*Node)
	for i, as := range []func(host.Host) host.Host{older, func(h host.Host) host.Host { return version{Host: h} }, later} {
		hosts[names[i]] = newSpoken(t)
		nodes[names[i]] = nodeOn(t, as(hosts[names[i]]))
	}
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
		eventually(t, name+" has two links", func() bool { return statusOf(t, n).Links == 2 })
		if got := refusals(t, n); len(got) > 0 {
			t.Errorf("%s refused %v", name, got)
		}
	}
	takes := func(name string) bool { return name == "this" || name == "later" }
	for _, by := range names {
		for _, of := range names {
			eventually(t, by+" sends tails to "+of, func() bool {
				return by == of || !takes(by) || !takes(of) || hosts[by].count(nodes[of], TailsID) > 0
			})
		}
	}
	for _, by := range names {
		for _, of := range names {
			if n := hosts[by].count(nodes[of], TailsID); n > 0 && (!takes(by) || !takes(of)) {
				t.Errorf("%s opened %d streams of tails to %s", by, n, of)
			}
		}
	}
}

// next makes a node one of a version that does not exist yet: it reads a later format, and speaks later versions of all
// protocols.
func next(c *config) error {
	c.overlay.Format, c.later = wire.NewestFormat+1, make(map[protocol.ID][]protocol.ID)
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
// next version speak its protocols to each other, and those of this version to the others. Each knows in which format it
// may write to whom.
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
			want := wire.NewestFormat
			if both {
				want++
			}
			eventually(t, "hello was heard", func() bool { return reads(t, by, of) == want })
		}
		if got := refusals(t, by); len(got) > 0 {
			t.Errorf("%d refused %v", i, got)
		}
	}
}

// reads returns the newest format that one node may write to another.
func reads(t *testing.T, n, to *Node) wire.Format {
	return inLoop(t, n, func(l *loop) wire.Format { return l.core.Overlay.Reads(wire.PeerID(to.ID())) })
}
