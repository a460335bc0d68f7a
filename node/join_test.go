package node

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/join"
	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary/bloom"
)

func TestJoin(t *testing.T) {
	t.Parallel()
	var nodes [3]*Node
	for i := range nodes {
		nodes[i] = newNode(t, WithJoins())
		add(t, nodes[i], keysOf("of all", 300)...)
		add(t, nodes[i], keysOf(nodes[i].ID().String(), 20_000)...)
	}
	add(t, nodes[0], []byte("of two"))
	add(t, nodes[1], []byte("of two"))
	connect(t, nodes[0], nodes[1])
	connect(t, nodes[1], nodes[2])
	eventually(t, "the first knows the third", func() bool { return knows(nodes[0], nodes[2]) })
	want := keysOf("of all", 300)
	for _, c := range []struct {
		peers []peer.ID
		want  [][]byte
	}{
		{[]peer.ID{nodes[0].ID(), nodes[1].ID(), nodes[2].ID()}, want},
		{[]peer.ID{nodes[1].ID(), nodes[2].ID()}, want},
		{[]peer.ID{nodes[0].ID(), nodes[1].ID()}, append(slices.Clone(want), []byte("of two"))},
	} {
		got, report, err := nodes[0].Join(t.Context(), c.peers...)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(c.want, bytes.Compare)
		if !slices.EqualFunc(got, c.want, bytes.Equal) {
			t.Errorf("%d keys of %d peers, want %d", len(got), len(c.peers), len(c.want))
		}
		if report.Moved() == 0 || report.Moved() > report.Shipping/4 {
			t.Errorf("%d bytes moved, the sets have %d", report.Moved(), report.Shipping)
		}
	}
}

func TestJoinRefused(t *testing.T) {
	a, b := newNode(t), newNode(t)
	if _, _, err := a.Join(t.Context(), b.ID()); !errors.Is(err, ErrUnknown) {
		t.Errorf("with a stranger: %v", err)
	}
	connect(t, a, b)
	if _, _, err := a.Join(t.Context(), b.ID()); !errors.Is(err, ErrNoJoins) {
		t.Errorf("with a peer that takes no part: %v", err)
	}
	bare := newNode(t, WithKeys(struct{ keystore.Keys }{&keystore.Memory{}}))
	if _, _, err := bare.Join(t.Context(), bare.ID()); !errors.Is(err, ErrNoList) {
		t.Errorf("with keys that cannot be listed: %v", err)
	}
}

// TestHostileJoin sends what no peer should: it is refused, counted, and the node goes on.
func TestHostileJoin(t *testing.T) {
	n := newNode(t, WithJoins())
	add(t, n, []byte("k"))
	r := newRaw(t, n)
	p := bloom.Params{BlockBits: 64, Blocks: 1, Hashes: 1}
	request := func(r wire.JoinRequest) []byte { return frame(r.Append(nil)) }
	piece := func(p wire.JoinPiece) []byte { return frame(p.Append(nil)) }
	for name, b := range map[string][]byte{
		"a filter too long":       append(request(wire.JoinRequest{Params: p, Filter: 2}), piece(wire.JoinPiece{Filter: make([]byte, 3)})...),
		"a filter that is none":   append(request(wire.JoinRequest{Params: p, Filter: 2}), piece(wire.JoinPiece{Filter: make([]byte, 2)})...),
		"no filter":               append(request(wire.JoinRequest{Params: p, Filter: 2}), piece(wire.JoinPiece{Final: true})...),
		"a filter of no hashes":   frame([]byte{8, 64}),
		"a filter of 2^30 bits":   request(wire.JoinRequest{Params: bloom.Params{BlockBits: 1 << 30, Blocks: 1, Hashes: 1}}),
		"bytes that mean nothing": frame([]byte{0xff}),
	} {
		if got, err := r.exchange(n, JoinID, b); err == nil && len(got) > 0 {
			t.Errorf("%s: answered with %d bytes", name, len(got))
		}
	}
	if s, err := n.Status(t.Context()); err != nil || len(s.Refused) == 0 {
		t.Errorf("refused %v, %v", s.Refused, err)
	}
	if got, err := r.exchange(n, JoinID, request(wire.JoinRequest{})); err != nil || len(got) == 0 {
		t.Errorf("afterwards: %x, %v", got, err)
	}
}

// TestFalseJoins: the other end of a join claims more keys than it can have, and sends a filter without end, or it sends
// keys that the node's filter lacks. The node takes little of either. It takes all where as many keys may be claimed, and
// where the filter has those sent.
func TestFalseJoins(t *testing.T) {
	t.Parallel()
	const little, all = 1 << 20, 4 << 20
	n, liar := newNode(t), newHost(t)
	add(t, n, []byte("k"))
	var keys [][]byte
	for i := range byte(16) {
		keys = append(keys, bytes.Repeat([]byte{i, 1}, 500))
	}
	var taken atomic.Int64
	liar.SetStreamHandler(wire.ProtocolIn("venn", JoinID), func(s network.Stream) {
		defer s.Close()
		b, err := wire.ReadFrame(s, wire.MaxJoinRequest, nil)
		if err != nil {
			return
		}
		r, err := wire.ParseJoinRequest(b)
		piece := wire.JoinPiece{Set: wire.JoinSize{Keys: 1 << 30, Bytes: 1 << 36}, Final: true}
		switch {
		case err != nil:
			return
		case r.Filter > 0:
			piece = wire.JoinPiece{Keys: keys}
		case r.Params.Blocks > 0:
			piece = wire.JoinPiece{Filter: make([]byte, wire.MaxBatch)}
		}
		for b = piece.Append(nil); taken.Load() < all && wire.WriteFrame(s, b) == nil && !piece.Final; {
			taken.Add(int64(len(b)))
		}
	})
	dialTo(t, liar, info(n))
	p := bloom.Params{BlockBits: 1 << 10, Blocks: 1, Hashes: 4}
	filterOf := func(keys ...[]byte) []byte {
		f := must(bloom.New(p))
		for _, k := range keys {
			f.Add(k)
		}
		return must(must(bloom.NewCodec(p)).Append(nil, f, nil))
	}
	claims := func(most int) error {
		set := &remoteSet{n: n, peer: liar.ID(), most: most}
		if _, err := set.Size(t.Context()); err != nil {
			return err
		}
		_, err := set.Filter(t.Context(), p)
		return err
	}
	matches := func(filter []byte) error {
		set := &remoteSet{n: n, peer: liar.ID(), size: wire.JoinSize{Keys: 1 << 16, Bytes: 1 << 26}}
		return set.Matching(t.Context(), p, filter, func([]byte) error { return nil })
	}
	for _, c := range []struct {
		name  string
		do    func() error
		takes bool
	}{
		{"as many keys as can be", func() error { _, _, err := n.Join(t.Context(), n.ID(), liar.ID()); return err }, false},
		{"any number of keys", func() error { return claims(1 << 30) }, true},
		{"keys that the filter lacks", func() error { return matches(filterOf([]byte("k"))) }, false},
		{"keys that the filter has", func() error { return matches(filterOf(keys...)) }, true},
	} {
		taken.Store(0)
		if err := c.do(); err == nil || taken.Load() > little != c.takes {
			t.Errorf("%s: %d bytes are taken, %v", c.name, taken.Load(), err)
		}
	}
}

// TestJoinPrice: who asks for more work pays for it.
func TestJoinPrice(t *testing.T) {
	n := newNode(t, WithJoins())
	add(t, n, keysOf("k", 1000)...)
	price := func(p bloom.Params) time.Duration { return n.joinPrice(wire.JoinRequest{Params: p}) }
	sizes := []wire.JoinSize{{Keys: 1000, Bytes: 5000}, {Keys: 1000, Bytes: 5000}}
	usual := price(join.Plan(sizes, bloom.Hasher{}))
	for name, p := range map[string]bloom.Params{
		"many hashes": {Blocks: 1, BlockBits: 1 << 14, Hashes: 1024},
		"many blocks": {Blocks: 1024, BlockBits: 16, Hashes: 1},
		"many bits":   {Blocks: 1, BlockBits: wire.MaxJoinBits, Hashes: 1},
	} {
		if got := price(p); got < 25*usual {
			t.Errorf("%s: %v, a usual join costs %v", name, got, usual)
		}
	}
	if size := price(bloom.Params{}); usual > 2*size {
		t.Errorf("a usual join costs %v, its first question %v", usual, size)
	}
}

// TestSlowJoin: peers that begin joins and do not go on leave a place to another. If one network has both places, the
// other peer has one at once. If a few networks have them in turn, it has one when those before it had theirs.
func TestSlowJoin(t *testing.T) {
	t.Parallel()
	for _, networks := range []int{1, 4} {
		a, b := newNode(t, WithJoins()), newNode(t)
		add(t, a, keysOf("k", 10)...)
		connect(t, b, a)
		p := bloom.Params{BlockBits: 64, Blocks: 1, Hashes: 1}
		for i := range 4 * networks {
			slow := hostIn(t, 1+i%networks)
			dialTo(t, slow, info(a))
			for range 2 * joinsAtOnce {
				s := must(slow.NewStream(t.Context(), a.ID(), wire.ProtocolIn("venn", JoinID)))
				if err := wire.WriteFrame(s, wire.JoinRequest{Params: p, Filter: 100}.Append(nil)); err != nil {
					t.Fatal(err)
				}
			}
		}
		eventually(t, "all places are taken", func() bool { return a.joining.Held() == joinsAtOnce })
		within := joinTurn / 2
		if networks > 1 {
			if testing.Short() {
				return
			}
			within = time.Duration(networks/joinsAtOnce+1) * joinTurn
		}
		ctx, cancel := context.WithTimeout(t.Context(), within)
		if size, err := (&remoteSet{n: b, peer: a.ID(), most: 10}).Size(ctx); err != nil || size.Keys != 10 {
			t.Errorf("beside %d networks: %+v, %v", networks, size, err)
		}
		cancel()
	}
}
