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
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/overlay/wire"
)

// version is a host on which a node of this version passes for one of another. It rewrites what is sent on streams, and
// the hellos that come, and does not serve some protocols.
type version struct {
	host.Host
	unserved []protocol.ID
	rewrite  func(protocol.ID, []byte) []byte
	heard    func(hello []byte) []byte // nil: they stay as they are
	tails    *tailStreams
}

// tailStreams counts the streams for tails that hosts open, or fail to open.
type tailStreams struct {
	mu sync.Mutex
	n  map[[2]peer.ID]int // from, to
}

func (o *tailStreams) add(from, to peer.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == nil {
		o.n = make(map[[2]peer.ID]int)
	}
	o.n[[2]peer.ID{from, to}]++
}

func (o *tailStreams) count(from, to *Node) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.n[[2]peer.ID{from.ID(), to.ID()}]
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
	if slices.Contains(ids, wire.ProtocolIn("venn", TailsID)) {
		h.tails.add(h.ID(), p)
	}
	s, err := h.Host.NewStream(ctx, p, ids...)
	if err != nil {
		return nil, err
	}
	return h.wrap(s, s.Protocol()), nil
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
func older(h host.Host, count *tailStreams) host.Host {
	return version{h, []protocol.ID{PeersID, JoinID, TailsID}, func(id protocol.ID, b []byte) []byte {
		if id != wire.ProtocolIn("venn", HelloID) {
			return b
		}
		return changed(b, func(hello *wire.Hello) { hello.Tails, hello.Depth, hello.Network, hello.Again = false, 0, 0, false })
	}, noTails, count}
}

// before says that it takes tails by pubsub (fields 10 and 14), and knows of no others.
func before(h host.Host, count *tailStreams) host.Host {
	return version{h, []protocol.ID{TailsID}, func(id protocol.ID, b []byte) []byte {
		if id != wire.ProtocolIn("venn", HelloID) {
			return b
		}
		return append(noTails(b), 10<<3, 1, 14<<3, 1)
	}, noTails, count}
}

// later has a field more in every message, number 1,000, and serves a protocol that this version does not know.
func later(h host.Host, count *tailStreams) host.Host {
	h.SetStreamHandler("/venn/hello/2.0.0", func(s network.Stream) { _ = s.Reset() })
	return version{h, nil, func(_ protocol.ID, b []byte) []byte {
		if len(b) == 0 {
			return b
		}
		return append(slices.Clone(b), 0xc0, 0x3e, 0x01)
	}, nil, count}
}

// TestCrossingVersions: peers of the version before, of this and of the next find each other's keys, new ones too, and
// none refuses what another says. Only those that take tails on streams are sent any: as a message to a feeder is one of
// tails, no other feeds.
func TestCrossingVersions(t *testing.T) {
	var tails tailStreams
	nodes := map[string]*Node{
		"older": nodeOn(t, older(newHost(t), &tails)), "before": nodeOn(t, before(newHost(t), &tails)),
		"this": nodeOn(t, version{Host: newHost(t), tails: &tails}), "later": nodeOn(t, later(newHost(t), &tails)),
	}
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
	takes := func(name string) bool { return name == "this" || name == "later" }
	for _, by := range names {
		for _, of := range names {
			eventually(t, by+" sends tails to "+of, func() bool {
				return by == of || !takes(by) || !takes(of) || tails.count(nodes[by], nodes[of]) > 0
			})
		}
	}
	for _, by := range names {
		for _, of := range names {
			if n := tails.count(nodes[by], nodes[of]); n > 0 && (!takes(by) || !takes(of)) {
				t.Errorf("%s opened %d streams of tails to %s", by, n, of)
			}
		}
	}
}
