package node

import (
	"bytes"
	"encoding/binary"
	"testing"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"google.golang.org/protobuf/proto"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// newField is a field that this version does not know, number 1,000.
var newField = []byte{0xc0, 0x3e, 0x01}

// TestLater: what only a later version knows is skipped, or answered with nothing or a final answer without names. It
// blames nobody, however often it comes.
func TestLater(t *testing.T) {
	t.Parallel()
	topic, o := Topic("venn"), newOrigin(t, "o", 100)
	publish := func(group, metadata, parts []byte) func(*Node, *raw) {
		return func(n *Node, r *raw) { r.publish(n, topic, group, metadata, parts) }
	}
	ask := func(id protocol.ID, message, want []byte) func(*Node, *raw) {
		return func(n *Node, r *raw) {
			if got, err := r.exchange(n, id, frame(message)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is answered with % x, %v, want % x", id, got, err, want)
			}
		}
	}
	final := frame(wire.Answer{Final: true}.Append(nil))
	query := wire.Query{Kind: 200, Nonce: 1, Origin: "origin", Key: []byte("k"), Want: 1, Within: 1e9}
	modes := query
	modes.Kind, modes.Mode = 1, 200
	item := wire.Tails{{Group: o.item().Group, Number: 1, Tails: [][]byte{laterTail()}}}.Append(nil)
	n := newNode(t)
	add(t, n, []byte("k"))
	for _, c := range []struct {
		name  string
		whole bool // the message counts as one of a later version
		send  func(*Node, *raw)
	}{
		{"a group", true, publish([]byte("gg"), nil, []byte{1})},
		{"parts in the catalogue's group", true, publish([]byte(wire.CatalogueGroup), nil, []byte{1})},
		{"parts with metadata", true, publish(make([]byte, len(wire.GroupID{})), []byte{1}, []byte{1})},
		{"a form of parts", true, publish(make([]byte, len(wire.GroupID{})), nil, newField)},
		{"a form of a catalogue", false, publish([]byte(wire.CatalogueGroup), newField, nil)},
		{"a form of hello", false, ask(HelloID, newField, nil)},
		{"a form of have", true, ask(HaveID, newField, nil)},
		{"a form of query", true, ask(QueryID, newField, nil)},
		{"a kind of query", false, ask(QueryID, query.Append(nil), final)},
		{"a mode of query", false, ask(QueryID, modes.Append(nil), final)},
		{"a form of a request for parts", true, ask(PartsID, newField, nil)},
		{"a form of tails", false, func(n *Node, r *raw) { r.meshed(n); ask(TailsID, newField, nil)(n, r) }},
		{"a version of tails", false, func(n *Node, r *raw) {
			ask(HelloID, wire.Hello{Session: 1, Tails: true}.Append(nil), nil)(n, r)
			r.serve(t, n, o)
			learned(t, n, o)
			ask(TailsID, item, nil)(n, r)
			follows(t, n, r)
		}},
		{"a version of headers", false, func(n *Node, r *raw) {
			o := newOrigin(t, "o", 100)
			r.answerWith(func(it wire.Item) *wire.Parts {
				p := o.parts(t, it)
				payload, _ := o.stream.Header().AppendBinary(nil)
				p.Envelope, _ = signed.HeaderSigner(o.key)(payload)
				p.Envelope[1+p.Envelope[0]]++ // the version comes behind the key
				return p
			})
			r.meshed(n)
			r.announce(n, o.item())
			eventually(t, "parts were asked for", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return r.sentBack > 0 })
			follows(t, n, r)
		}},
		{"a version of deltas", false, func(n *Node, r *raw) {
			o := newOrigin(t, "o", 100)
			r.serve(t, n, o)
			learned(t, n, o)
			next := o.again(t, "o", 101, summary.Epoch{Generation: 1, Sequence: 2})
			r.owes(t, n, next)
			r.push(t, n, next, 1, []byte{200, 1, 2})
			follows(t, n, r)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, before := newRaw(t, n), laters(t, n)
			c.send(n, r)
			eventually(t, "it has come", func() bool { return !c.whole || laters(t, n) > before })
			if id := r.h.ID(); n.barred(id) {
				t.Error("barred")
			}
		})
	}
	works(t, n)
	if got := refusals(t, n); len(got) > 0 {
		t.Errorf("refused %v", got)
	}
}

// follows sends a summary that can be read, and waits until it is learned: what came before it has been taken in then.
func follows(t *testing.T, n *Node, r *raw) {
	next := newOrigin(t, "next", 10)
	r.serve(t, n, next)
	learned(t, n, next)
}

// laters returns how many messages counted as those of a later version.
func laters(t *testing.T, n *Node) uint64 { return statusOf(t, n).Dropped["later"] }

// laterTail is the first tail of an epoch, of a later version.
func laterTail() []byte {
	tail := []byte{200, 1, 1, 0, 0}
	return append(append(binary.AppendUvarint(nil, uint64(len(tail))), tail...), make([]byte, 64)...)
}

// TestGroupsOfLaterVersions: messages of unknown form that each have a group of their own take the room of no others: all
// of them come through pubsub.
func TestGroupsOfLaterVersions(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	r := &raw{t: t, h: newHost(t), grafted: make(map[peer.ID]bool)}
	r.greet(n)
	topic, yes := Topic("venn"), true
	const messages = 12_000
	var b sliceWriter
	say := func(rpc *pb.RPC) { _ = wire.WriteFrame(&b, must(proto.Marshal(rpc))) }
	say(&pb.RPC{Control: &pb.ControlMessage{Extensions: &pb.ControlExtensions{PartialMessages: &yes}}})
	for i := range messages {
		g := binary.BigEndian.AppendUint64(make([]byte, 8), uint64(i))
		say(&pb.RPC{Partial: &pb.PartialMessagesExtension{TopicID: &topic, GroupID: g, PartialMessage: newField}})
	}
	s := must(r.h.NewStream(t.Context(), n.ID(), PubsubID))
	defer func() { _ = s.Reset() }()
	_ = must(s.Write(b))
	eventually(t, "all are read", func() bool { return laters(t, n) == messages })
}
