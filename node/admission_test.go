package node

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/host/autonat"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/protocol/autonatv2"
	circuit "github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	ma "github.com/multiformats/go-multiaddr"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/venn-p2p/venn/node/internal/limits"
	"github.com/venn-p2p/venn/node/internal/links"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary/bloom"
)

// hostIn returns a host in an address group of loopback.
func hostIn(t *testing.T, group int) host.Host {
	t.Helper()
	return hostOf(t, libp2p.ListenAddrStrings(fmt.Sprintf("/ip4/127.0.%d.1/tcp/0", group)), libp2p.DisableRelay())
}

// misbehaviour is what a stranger may do to a node within limits of its own: once, again and again.
type misbehaviour struct {
	on protocol.ID
	do func(ctx context.Context, h host.Host, n peer.ID, i uint64)
}

var misbehaviours = []misbehaviour{
	{HaveID, func(ctx context.Context, h host.Host, n peer.ID, _ uint64) { // idle
		if s, err := h.NewStream(ctx, n, wire.ProtocolIn("venn", HaveID)); err == nil {
			_, _ = s.Write([]byte{5})
		}
	}},
	{HaveID, func(ctx context.Context, h host.Host, n peer.ID, i uint64) { // the dearest questions, at full rate
		keys := make([][]byte, wire.MaxHaveKeys)
		for k := range keys {
			keys[k] = fmt.Append(nil, "lacking ", i, k)
		}
		send(ctx, h, n, HaveID, wire.HaveRequest{Keys: keys}.Append(nil))
	}},
	{HelloID, func(ctx context.Context, h host.Host, n peer.ID, _ uint64) { // the same valid hello
		send(ctx, h, n, HelloID, wire.Hello{Origins: 1}.Append(nil))
	}},
	{QueryID, func(ctx context.Context, h host.Host, n peer.ID, i uint64) { // garbage, and searches in turn
		q := wire.Query{Kind: wire.Search, Mode: wire.All, Key: fmt.Append(nil, "lacking ", i), Origin: wire.PeerID(h.ID()), Nonce: i, Budget: 128, Hops: 2, Within: time.Minute}
		msg := []byte{0xff, 0xff, 0xff}
		if i%2 == 0 {
			msg = q.Append(nil)
		}
		send(ctx, h, n, QueryID, msg)
	}},
	{QueryID, func(ctx context.Context, h host.Host, n peer.ID, _ uint64) { // the same search
		q := wire.Query{Kind: wire.Search, Mode: wire.All, Key: []byte("lacking"), Origin: wire.PeerID(h.ID()), Nonce: 1, Budget: 128, Hops: 2, Within: time.Minute}
		send(ctx, h, n, QueryID, q.Append(nil))
	}},
	{HaveID, func(ctx context.Context, h host.Host, n peer.ID, _ uint64) { // slow
		s, err := h.NewStream(ctx, n, wire.ProtocolIn("venn", HaveID))
		if err != nil {
			return
		}
		for _, b := range append([]byte{9}, wire.HaveRequest{Keys: [][]byte{[]byte("lacking")}}.Append(nil)...) {
			_, _ = s.Write([]byte{b})
			pause(ctx, 50*time.Millisecond)
		}
		_ = s.Reset()
	}},
	{HelloID, func(ctx context.Context, h host.Host, n peer.ID, i uint64) { // dial bait: others at an address that is silent
		key, _, err := crypto.GenerateEd25519Key(rand.NewChaCha8([32]byte{byte(i), byte(i >> 8), byte(i >> 16)}))
		if err != nil {
			return
		}
		id, _ := peer.IDFromPrivateKey(key)
		at := ma.StringCast(fmt.Sprintf("/ip4/127.1.%d.%d/tcp/9", byte(i>>8), byte(i)))
		b, err := signed.Sign(&peer.PeerRecord{PeerID: id, Addrs: []ma.Multiaddr{at}, Seq: 1}, key)
		if err != nil {
			return
		}
		send(ctx, h, n, HelloID, wire.Hello{Origins: 1, Records: []wire.Record{{Peer: wire.PeerID(id), Envelope: b}}}.Append(nil))
	}},
	{PeersID, func(ctx context.Context, h host.Host, n peer.ID, _ uint64) {
		send(ctx, h, n, PeersID, wire.Inquiry{Near: true}.Append(nil))
	}},
	{TailsID, func(ctx context.Context, h host.Host, n peer.ID, _ uint64) { // streams that last
		if s, err := h.NewStream(ctx, n, wire.ProtocolIn("venn", TailsID)); err == nil {
			_, _ = s.Write([]byte{5})
		}
	}},
	{PartsID, func(ctx context.Context, h host.Host, n peer.ID, i uint64) { // of groups that there are not
		send(ctx, h, n, PartsID, wire.PartsRequest{Group: wire.GroupID{byte(i), byte(i >> 8)}, End: 9}.Append(nil))
	}},
	{JoinID, func(ctx context.Context, h host.Host, n peer.ID, _ uint64) { // that does not go on
		send(ctx, h, n, JoinID, wire.JoinRequest{Params: bloom.Params{BlockBits: 64, Blocks: 1, Hashes: 1}, Filter: 100}.Append(nil))
	}},
	{PubsubID, func(ctx context.Context, h host.Host, n peer.ID, _ uint64) { // RPCs without content
		s, err := h.NewStream(ctx, n, PubsubID)
		if err != nil {
			return
		}
		_ = s.SetDeadline(time.Now().Add(time.Second))
		_, _ = s.Write(make([]byte, 1<<16)) // each of a length of 0
		_ = s.Close()
	}},
	{PubsubID, func(ctx context.Context, h host.Host, n peer.ID, i uint64) { // messages by a key that takes long to verify
		s, err := h.NewStream(ctx, n, PubsubID)
		if err != nil {
			return
		}
		_ = s.SetDeadline(time.Now().Add(time.Second))
		topic, rpc := Topic("venn"), &pb.RPC{}
		for m := range uint64(9) {
			rpc.Publish = append(rpc.Publish, &pb.Message{From: dear.from, Key: dear.key, Signature: dear.signature, Topic: &topic, Seqno: binary.BigEndian.AppendUint64(nil, 9*i+m)})
		}
		_, _ = s.Write(protowire.AppendBytes(nil, must(proto.Marshal(rpc))))
		_ = s.Close()
	}},
}

// init adds a thousand messages for each protocol that libp2p serves by itself: it cannot read them, or sends them back.
func init() {
	for _, id := range []protocol.ID{
		ping.ID, identify.ID, identify.IDPush, autonat.AutoNATProto, autonatv2.DialProtocol, autonatv2.DialBackProtocol,
		holepunch.Protocol, circuit.ProtoIDv2Hop, circuit.ProtoIDv2Stop,
	} {
		misbehaviours = append(misbehaviours, misbehaviour{id, func(ctx context.Context, h host.Host, n peer.ID, _ uint64) {
			s, err := h.NewStream(ctx, n, id)
			if err != nil {
				return
			}
			defer s.Reset()
			_ = s.SetDeadline(time.Now().Add(time.Second))
			msg := append([]byte{ping.PingSize - 1}, make([]byte, ping.PingSize-1)...)
			for i := 0; i < 1000 && err == nil; i++ {
				_, err = s.Write(msg)
			}
			_ = s.CloseWrite()
			_, _ = io.Copy(io.Discard, s)
		}})
	}
}

// dear is an author with a key of P-521, and a signature of something else.
var dear = func() (d struct{ from, key, signature []byte }) {
	k, _, err := crypto.ECDSAKeyPairFromKey(must(ecdsa.GenerateKey(elliptic.P521(), crand.Reader)))
	if err != nil {
		panic(err)
	}
	d.from, d.key = []byte(must(peer.IDFromPrivateKey(k))), must(crypto.MarshalPublicKey(k.GetPublic()))
	d.signature = must(k.Sign([]byte("else")))
	return d
}()

// services has a host serve all that libp2p can, as a public one does.
var services = []libp2p.Option{
	libp2p.ForceReachabilityPublic(), libp2p.EnableNATService(), libp2p.EnableAutoNATv2(), libp2p.EnableRelayService(),
}

// TestEveryProtocolIsAbused: what strangers do in TestStrangersLeaveHalf covers every protocol that the host of a node
// serves, with all that libp2p serves by itself for its options.
func TestEveryProtocolIsAbused(t *testing.T) {
	h := hostOf(t, Guarded, libp2p.ChainOptions(services...), HolePunching,
		libp2p.AddrsFactory(func([]ma.Multiaddr) []ma.Multiaddr { return []ma.Multiaddr{ma.StringCast("/ip4/8.8.8.8/tcp/1")} }))
	nodeOn(t, h, WithJoins())
	for _, later := range []protocol.ID{circuit.ProtoIDv2Hop, holepunch.Protocol} {
		eventually(t, string(later), func() bool { return slices.Contains(h.Mux().Protocols(), later) })
	}
	for _, id := range h.Mux().Protocols() {
		same := func(m misbehaviour) bool { return m.on == id || wire.ProtocolIn("venn", m.on) == id }
		if !slices.ContainsFunc(misbehaviours, same) {
			t.Errorf("nobody abuses %s", id)
		}
	}
}

// send sends a message on a stream of its own, and does not wait for an answer.
func send(ctx context.Context, h host.Host, n peer.ID, id protocol.ID, msg []byte) {
	s, err := h.NewStream(ctx, n, wire.ProtocolIn("venn", id))
	if err != nil {
		return
	}
	_ = s.SetDeadline(time.Now().Add(5 * time.Second))
	_ = wire.WriteFrame(s, msg)
	_ = s.CloseWrite()
	go func() {
		_, _ = s.Read(make([]byte, 1))
		_ = s.Reset()
	}()
}

// TestStrangersLeaveHalf: k identities, each within its own limits, leave an honest stranger and an honest link at least
// half of their finds. Half of the identities dial by TCP from k/8 address groups, half by QUIC from one address. They
// take 64 MiB at most, and ten seconds after they have gone all is as it was. k is 8 and 96, or VENN_STRANGERS. Without
// admission, and with libp2p's limits alone, the stranger gets less than half.
func TestStrangersLeaveHalf(t *testing.T) {
	if testing.Short() {
		t.Skip("counts what a processor at full load leaves")
	}
	cases := []struct {
		k    int
		work float64
	}{{8, 1}, {96, 1}, {96, 1e6}}
	if s := os.Getenv("VENN_STRANGERS"); s != "" {
		k, _ := strconv.Atoi(s)
		cases = cases[:1]
		cases[0].k = k
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%d work=%g", c.k, c.work), func(t *testing.T) {
			stranger, link := strangersShare(t, c.k, c.work)
			t.Logf("%.2f of an honest stranger's questions are answered, %.2f of a link's", stranger, link)
			if c.work == 1 && (stranger < .5 || link < .5) {
				t.Error("less than half")
			}
			if c.work != 1 && stranger > .5 {
				t.Error("the attack does nothing")
			}
		})
	}
}

// dialPaid connects a host with a node as soon as there is credit for the handshake. Libp2p would wait longer each time.
// A host that listens by TCP dials by TCP, from its address: by QUIC all hosts of a machine dial from one address.
func dialPaid(t *testing.T, h host.Host, n *Node) {
	isTCP := func(a ma.Multiaddr) bool { _, err := a.ValueForProtocol(ma.P_TCP); return err == nil }
	to, byTCP := info(n), slices.ContainsFunc(h.Addrs(), isTCP)
	to.Addrs = slices.DeleteFunc(to.Addrs, func(a ma.Multiaddr) bool { return isTCP(a) != byTCP })
	eventually(t, "credit for a handshake", func() bool {
		links.Forgive(h, n.ID())
		return h.Connect(t.Context(), to) == nil
	})
}

// strangersShare returns the shares of an honest stranger's questions and of an honest link's finds that succeed while
// k identities do all that they can.
func strangersShare(t *testing.T, k int, work float64) (stranger, link float64) {
	at := libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/udp/0/quic-v1")
	guard := libp2p.Option(Guarded)
	if work != 1 {
		guard = libp2p.FallbackDefaults // libp2p's limits, for those who come first
	}
	n := nodeOn(t, hostOf(t, guard, libp2p.ChainOptions(services...), libp2p.DisableRelay(), at), WithJoins(), WithLimits(limits.Limits{Work: work}))
	keys := keysOf("held", 20)
	add(t, n, keys...)
	friend, honest := newNode(t), hostIn(t, 200)
	connect(t, friend, n)
	eventually(t, "the link knows the keys", func() bool { return knows(friend, n) })
	bad := make([]host.Host, k)
	for i := range bad {
		by := []string{"tcp/0", "udp/0/quic-v1"}[i%2]
		bad[i] = hostOf(t, libp2p.ListenAddrStrings(fmt.Sprintf("/ip4/127.0.%d.1/%s", 1+i%max(1, k/8), by)), libp2p.DisableRelay())
		dialPaid(t, bad[i], n)
	}
	dialPaid(t, honest, n)
	ask := func() (stranger, link float64) { // shares that succeed
		const asks = 40
		var answered, found atomic.Int64
		var asking sync.WaitGroup
		var took [2][asks]time.Duration
		for i := range asks { // one of each a tenth of a second, whatever becomes of those before
			key, began := keys[i%len(keys)], time.Now()
			asking.Go(func() {
				if askHave(t.Context(), honest, n.ID(), key) {
					answered.Add(1)
				}
				took[0][i] = time.Since(began)
			})
			asking.Go(func() {
				defer func() { took[1][i] = time.Since(began) }()
				r, err := friend.Query(t.Context(), key, QueryOptions{Timeout: 2 * time.Second})
				if err != nil {
					return
				}
				if s, err := r.Stats(); err == nil && s.Found == 1 {
					found.Add(1)
				}
			})
			pause(t.Context(), 100*time.Millisecond)
		}
		asking.Wait()
		for i, who := range []string{"stranger's questions", "link's finds"} {
			slices.Sort(took[i][:])
			t.Logf("the %s took %v, at most %v", who, took[i][asks/2], took[i][asks-1])
		}
		return float64(answered.Load()) / asks, float64(found.Load()) / asks
	}
	if work == 1 {
		ask() // quiet, to compare times
	}
	before := int(heap())
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var done atomic.Uint64
	for i, h := range bad {
		wg.Go(func() {
			for ctx.Err() == nil {
				what := (i/4*2 + i%2) % len(misbehaviours)
				if i%4 > 1 {
					what = 0 // idle streams need the most identities
				}
				misbehaviours[what].do(ctx, h, n.ID(), done.Add(1))
				pause(ctx, time.Duration(k)*time.Millisecond) // a thousand in a second, however many they are
			}
		})
	}
	pause(ctx, time.Second)
	stranger, link = ask()
	more := int(heap()) - before
	t.Logf("%d MiB more", more>>20)
	if more > 64<<20 && work == 1 {
		t.Errorf("%d MiB more", more>>20)
	}
	cancel()
	wg.Wait()
	for _, h := range bad {
		_ = h.Close()
	}
	over := func() bool {
		return askHave(t.Context(), honest, n.ID(), keys[0]) && n.streams.Admit.Held() < 10 && int(heap()) < before+8<<20
	}
	for end := time.Now().Add(10 * time.Second); work == 1 && !over(); pause(t.Context(), 100*time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after 10 s %d streams, %d MiB more", n.streams.Admit.Held(), (int(heap())-before)>>20)
		}
	}
	return stranger, link
}

// TestAskingTooMuch: a stranger that asks for more than its share gets its share, and not nothing.
func TestAskingTooMuch(t *testing.T) {
	n := nodeOn(t, hostWith(t, libp2p.Muxer(yamux.ID, Muxer)), WithLimits(limits.Limits{Work: .05}))
	add(t, n, []byte("k"))
	eager, other := hostIn(t, 1), hostIn(t, 2)
	for _, h := range []host.Host{eager, other} {
		dialTo(t, h, info(n))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	keys := make([][]byte, wire.MaxHaveKeys)
	for i := range keys {
		keys[i] = fmt.Append(nil, "lacking ", i)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			send(ctx, other, n.ID(), HaveID, wire.HaveRequest{Keys: keys}.Append(nil))
			pause(ctx, 5*time.Millisecond)
		}
	})
	pause(ctx, 2*time.Second) // what the shares begin with is spent
	asked, answered := 0, 0
	for ; ctx.Err() == nil; asked++ {
		if askHave(ctx, eager, n.ID(), []byte("k")) {
			answered++
		}
	}
	wg.Wait()
	t.Logf("%d of %d questions are answered", answered, asked)
	if answered < asked*3/4 {
		t.Error("its share is spent on questions that are not answered")
	}
}

// askHave reports whether a peer answers that it holds a key, within two seconds.
func askHave(ctx context.Context, h host.Host, n peer.ID, key []byte) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	s, err := h.NewStream(ctx, n, wire.ProtocolIn("venn", HaveID))
	if err != nil {
		return false
	}
	defer s.Reset()
	_ = s.SetDeadline(time.Now().Add(2 * time.Second))
	if wire.WriteFrame(s, wire.HaveRequest{Keys: [][]byte{key}}.Append(nil)) != nil {
		return false
	}
	b, err := wire.ReadFrame(s, wire.MaxHaveAnswer, nil)
	if err != nil {
		return false
	}
	has, err := wire.ParseHaveAnswer(b, 1)
	return err == nil && has[0]
}
