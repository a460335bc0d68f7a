package node

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/internal/mesh"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestManyOriginsThroughOneNeighbour announces 300 origins at once: all arrive, and nothing is dropped on the way.
func TestManyOriginsThroughOneNeighbour(t *testing.T) {
	t.Parallel()
	const origins = 300
	n := newNode(t)
	r := newRaw(t, n)
	byGroup := make(map[wire.GroupID]origin)
	var items []wire.Item
	for i := range origins {
		o := newOrigin(t, fmt.Sprint(i), 50)
		byGroup[o.item().Group] = o
		items = append(items, o.item())
	}
	r.answerWith(func(it wire.Item) *wire.Parts { return byGroup[it.Group].parts(t, it) })
	r.meshed(n)
	r.announce(n, items...)
	eventually(t, "all origins are known", func() bool {
		return statusOf(t, n).Origins == origins
	})
	if s := statusOf(t, n); len(s.Dropped)+len(s.Refused) > 0 {
		t.Errorf("dropped %v, refused %v", s.Dropped, s.Refused)
	}
}

// TestHostile sends what a bad peer may send. Each is refused, counted, and reported to pubsub; afterwards the node
// works.
func TestHostile(t *testing.T) {
	t.Parallel()
	nobodys := make([]byte, len(wire.GroupID{}))
	topic := Topic("venn")
	claim := binary.AppendUvarint(nil, 1<<40)
	publish := func(topic string, group, metadata, parts []byte) func(*testing.T, *Node, *raw) {
		return func(_ *testing.T, n *Node, r *raw) { r.publish(n, topic, group, metadata, parts) }
	}
	stream := func(id protocol.ID, b []byte) func(*testing.T, *Node, *raw) {
		return func(t *testing.T, n *Node, r *raw) {
			if got, err := r.exchange(n, id, b); err == nil && len(got) > 0 {
				t.Errorf("answered with %d bytes", len(got))
			}
		}
	}
	linkedStream := func(id protocol.ID, b []byte) func(*testing.T, *Node, *raw) {
		return func(t *testing.T, n *Node, r *raw) {
			r.meshed(n)
			stream(id, b)(t, n, r)
		}
	}
	reported := newScores()
	n := newNode(t, withPubsub(reported.option()))
	add(t, n, []byte("k"))
	for _, c := range []struct {
		name, reason string
		attack       func(*testing.T, *Node, *raw)
	}{
		{"topic never joined", "rpc topic", publish("other", nobodys, []byte{1}, nil)},
		{"garbage for parts", "rpc malformed", publish(topic, nobodys, nil, bytes.Repeat([]byte{0xff}, 100))},
		{"garbage for a catalogue", "rpc malformed", publish(topic, []byte("c"), bytes.Repeat([]byte{0xff}, 100), nil)},
		{"parts of 600 KiB", "rpc over the limit", publish(topic, nobodys, nil, make([]byte, 600<<10))},
		{"catalogue of 200 KiB", "rpc over the limit", publish(topic, []byte("c"), make([]byte, 200<<10), nil)},
		{"an RPC of 2 MiB", "rpc over the limit", publish(topic, nobodys, nil, make([]byte, 2<<20))},
		{"1 TiB claimed for an RPC", "rpc over the limit", stream(mesh.ProtocolID, claim)},
		{"garbage for an RPC", "rpc malformed", stream(mesh.ProtocolID, frame(bytes.Repeat([]byte{0xff}, 50)))},
		{"a record of another in a hello", "record", func(t *testing.T, n *Node, r *raw) {
			o, other := newOrigin(t, "o", 1), newOrigin(t, "other", 1)
			h := wire.Hello{Session: 1, Records: []wire.Record{{Peer: wire.PeerID(o.id), Envelope: other.record}}}
			if _, err := r.exchange(n, HelloID, frame(h.Append(nil))); err != nil {
				t.Error(err)
			}
		}},
		{"an epoch of our own that is none", "catalogue", func(_ *testing.T, n *Node, r *raw) {
			own := wire.NewGroup(wire.OriginTag(string(n.ID())), summary.Epoch{Generation: 1<<32 - 1, Sequence: 1})
			r.announce(n, wire.Item{Group: own, Have: 1})
		}},
		{"a summary of another network", "seed", asksOf(origin.elsewhere)},
		{"an epoch that is older than what was asked for", "replay", replays},
		{"a delta that leads nowhere", "delta", wrongDelta},
		{"parts nobody asked for", "unasked", func(t *testing.T, n *Node, r *raw) {
			o := newOrigin(t, "o", 100)
			it := o.item()
			it.Have, it.Want = 0, it.Have
			r.publish(n, topic, it.Group[:], nil, o.parts(t, it).Append(nil))
		}},
		{"header with a wrong signature", "header", asks(func(o origin, p *wire.Parts) {
			p.Envelope = bytes.Clone(p.Envelope)
			p.Envelope[len(p.Envelope)-1] ^= 1
		})},
		{"header signed by another", "header", asks(func(o origin, p *wire.Parts) {
			payload, _ := o.stream.Header().AppendBinary(nil)
			p.Envelope, _ = signed.HeaderSigner(o.other)(payload)
		})},
		{"record of another", "record", asks(func(o origin, p *wire.Parts) { p.Record = o.otherRecord })},
		{"parts that do not match the chain", "chain", asks(func(o origin, p *wire.Parts) {
			p.Run.Parts[0] = bytes.Clone(p.Run.Parts[0])
			p.Run.Parts[0][0] ^= 1
		})},
		{"garbage on hello", "/venn/hello/1.0.0 malformed", stream(HelloID, frame(bytes.Repeat([]byte{0xff}, 50)))},
		{"garbage on have", "/venn/have/1.0.0 malformed", stream(HaveID, frame(bytes.Repeat([]byte{0xff}, 50)))},
		{"garbage on query", "/venn/query/1.0.0 malformed", stream(QueryID, frame(bytes.Repeat([]byte{0xff}, 50)))},
		{"garbage on parts", "/venn/parts/1.0.0 malformed", stream(PartsID, frame(bytes.Repeat([]byte{0xff}, 50)))},
		{"garbage on tails", "/venn/tails/1.0.0 malformed", linkedStream(TailsID, frame(bytes.Repeat([]byte{0xff}, 50)))},
		{"1 TiB claimed on tails", "/venn/tails/1.0.0 over the limit", linkedStream(TailsID, claim)},
		{"1 TiB claimed on hello", "/venn/hello/1.0.0 over the limit", stream(HelloID, claim)},
		{"1 TiB claimed on have", "/venn/have/1.0.0 over the limit", stream(HaveID, claim)},
		{"1 TiB claimed on query", "/venn/query/1.0.0 over the limit", stream(QueryID, claim)},
		{"1 TiB claimed on parts", "/venn/parts/1.0.0 over the limit", stream(PartsID, claim)},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := refusals(t, n)[c.reason]
			r := newRaw(t, n)
			c.attack(t, n, r)
			eventually(t, "refused and counted as "+c.reason, func() bool { return refusals(t, n)[c.reason] > before })
			eventually(t, "reported to pubsub", func() bool { return reported.of(r.h.ID()) < 0 })
		})
	}
	t.Run("two summaries under one epoch", func(t *testing.T) {
		r := newRaw(t, n)
		twins(t, n, r)
		eventually(t, "counted", func() bool { return refusals(t, n)["twin"] > 0 })
		if reported.of(r.h.ID()) < 0 {
			t.Error("who passed it on was reported")
		}
	})
	works(t, n)
}

func refusals(t *testing.T, n *Node) map[string]uint64 { return statusOf(t, n).Refused }

// asks announces an origin and answers the node's ask with parts that spoil has changed.
func asks(spoil func(origin, *wire.Parts)) func(*testing.T, *Node, *raw) {
	return func(t *testing.T, n *Node, r *raw) {
		o := newOrigin(t, "o", 100)
		other := newOrigin(t, "other", 1)
		o.other, o.otherRecord = other.key, other.record
		r.answerWith(func(it wire.Item) *wire.Parts {
			p := o.parts(t, it)
			spoil(o, p)
			return p
		})
		r.meshed(n)
		r.announce(n, o.item())
	}
}

// asksOf announces another summary of an origin than it has, and answers with that.
func asksOf(other func(origin, *testing.T) origin) func(*testing.T, *Node, *raw) {
	return func(t *testing.T, n *Node, r *raw) {
		o := newOrigin(t, "o", 100)
		o = other(o, t)
		r.serve(t, n, o)
	}
}

// serve announces a summary and sends what is asked of it.
func (r *raw) serve(t *testing.T, n *Node, o origin) {
	r.answerWith(func(it wire.Item) *wire.Parts {
		if it.Group != o.item().Group {
			return nil
		}
		return o.parts(t, it)
	})
	r.meshed(n)
	r.announce(n, o.item())
}

// learned waits until the node holds a part of an origin.
func learned(t *testing.T, n *Node, o origin) {
	t.Helper()
	eventually(t, "the origin is known", func() bool {
		held, err := n.SummaryOf(t.Context(), o.id)
		return err == nil && held.Parts() == o.stream.Parts()
	})
}

// owes announces a summary, and waits until the node asks for it. Nothing is answered.
func (r *raw) owes(t *testing.T, n *Node, o origin) {
	t.Helper()
	asked := make(chan bool, 1)
	r.answerWith(func(it wire.Item) *wire.Parts {
		if it.Group == o.item().Group {
			select {
			case asked <- true:
			default:
			}
		}
		return nil
	})
	r.announce(n, o.item())
	eventually(t, "it is asked for", func() bool { return len(asked) > 0 })
}

// push sends the first parts of a summary, or a delta.
func (r *raw) push(t *testing.T, n *Node, o origin, parts uint16, delta []byte) {
	it := o.item()
	it.Have, it.Want = 0, parts
	p := o.parts(t, it)
	if delta != nil {
		p.Run, p.Delta = summary.Run{}, delta
	}
	r.publish(n, Topic("venn"), it.Group[:], nil, p.Append(nil))
}

func replays(t *testing.T, n *Node, r *raw) {
	o := newOrigin(t, "o", 100)
	newer := o.again(t, "o", 100, summary.Epoch{Generation: 2, Sequence: 1})
	r.serve(t, n, newer)
	learned(t, n, newer)
	r.owes(t, n, o.again(t, "o", 100, summary.Epoch{Generation: 2, Sequence: 2}))
	r.push(t, n, o, 1, nil)
}

func twins(t *testing.T, n *Node, r *raw) {
	o := newOrigin(t, "o", 100)
	r.meshed(n)
	r.owes(t, n, o)
	r.push(t, n, o, 1, nil)
	eventually(t, "the origin is known", func() bool { _, err := n.SummaryOf(t.Context(), o.id); return err == nil })
	r.push(t, n, o.again(t, "other keys", 100, o.stream.Header().Epoch), 1, nil)
	eventually(t, "both are dropped", func() bool {
		_, err := n.SummaryOf(t.Context(), o.id)
		return err != nil
	})
}

// wrongDelta sends a delta of the sender's own: from another it could fit another summary of the same epoch.
func wrongDelta(t *testing.T, n *Node, r *raw) {
	o := originWith(t, r.h.Peerstore().PrivKey(r.h.ID()), "o", 100)
	r.serve(t, n, o)
	learned(t, n, o)
	next := o.again(t, "o", 101, summary.Epoch{Generation: 1, Sequence: 2})
	relative := must(next.stream.RunRelative(0, next.stream.Parts(), o.stream, o.stream.Parts()))
	delta := relative.Bytes
	delta[len(delta)-1] ^= 1
	r.owes(t, n, next)
	r.push(t, n, next, 1, delta)
}

// works checks that a node still answers, and learns from, an honest peer.
func works(t *testing.T, n *Node) {
	t.Helper()
	honest := newNode(t)
	add(t, honest, []byte("honest"))
	connect(t, honest, n)
	eventually(t, "an honest peer is known", func() bool { return knows(n, honest) && knows(honest, n) })
	if got := find(t, honest, []byte("k"), QueryOptions{}); len(got) != 1 || got[0] != n.ID() {
		t.Errorf("found %v", got)
	}
	if got := find(t, n, []byte("honest"), QueryOptions{}); len(got) != 1 || got[0] != honest.ID() {
		t.Errorf("found %v", got)
	}
}
