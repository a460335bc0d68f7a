package threats

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/node/nodelab"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary/bloom"
)

// linkAttacks are attacks by peers that have a link with a node, or a stream to it.
var linkAttacks = []attack{
	{
		name: "a question while the key store hangs", where: Hosts, measured: "1 if the node goes on with everything else", target: atLeast(1),
		defence: "the key store is asked outside the loop", run: hanging, slow: true,
	},
	{
		name: "a false size in a join", where: Hosts, measured: "MiB that the other end makes the node take", target: atMost(1),
		defence: "the size claimed is held against the summary", run: falseSize, slow: true,
	},
	{
		name: "keys in a join that nobody asked for", where: Hosts, measured: "MiB that the other end makes the node take", target: atMost(1),
		defence: "each key must be in the filter that was sent", run: falseKeys, slow: true,
	},
}

// stuck is a key store that hangs when it is asked for the key "hang" for the from-th time, and from then on.
type stuck struct {
	keystore.Keys
	asked   atomic.Int64
	from    int64         // number of the question at which it first hangs
	hangs   chan struct{} // closed when it first hangs
	release chan struct{}
}

func (k *stuck) Has(key []byte) (bool, error) {
	if string(key) == "hang" {
		asked := k.asked.Add(1)
		if asked == k.from {
			close(k.hangs)
		}
		if asked >= k.from {
			<-k.release
		}
	}
	return k.Keys.Has(key)
}

// inLoop makes a core ask a key store itself, in the loop.
func inLoop(keys keystore.Keys) func(*core.Config) {
	return func(c *core.Config) {
		c.Routing.Has = func(key []byte) bool {
			has, err := keys.Has(key)
			return has && err == nil
		}
	}
}

// hanging measures whether a node goes on while its key store hangs in a search for a linked peer: 1 or 0.
func hanging(ctx context.Context, defended bool) float64 {
	var c cast
	defer c.close()
	keys := &stuck{Keys: new(keystore.Memory), from: 1, hangs: make(chan struct{}), release: make(chan struct{})}
	within := time.Minute // long, for a busy machine; the store hangs all that time
	if !defended {
		within, keys.from = 2*time.Second, 2 // the first question comes before the one in the loop
	}
	n := c.node(node.WithKeys(keys), nodelab.Without(unless(defended, nodelab.Limits{Core: inLoop(keys)})))
	h := c.linked(ctx, n)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(keys.release)
	wg.Go(func() {
		q := wire.Query{Kind: wire.Search, Nonce: 1, Origin: wire.PeerID(h.ID()), Key: []byte("hang"), Want: 1, Budget: 10, Within: 20 * time.Second, Hops: 1}
		_, _ = tell(ctx, h, n.ID(), node.QueryID, q.Append(nil))
	})
	select {
	case <-keys.hangs:
	case <-time.After(20 * time.Second):
		check(errors.New("the key store is not asked"))
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err := n.Status(ctx) // the loop answers
	return truth(err == nil)
}

const mostJunk = 16 // MiB of junk that the other end of a join sends at most

// falseSize returns the MiB that a node reads in a join with a peer that claims 2^30 keys and sends junk.
func falseSize(ctx context.Context, defended bool) float64 {
	var c cast
	defer c.close()
	n := c.node(nodelab.Without(unless(defended, nodelab.Limits{Claim: nodelab.Unbounded})))
	return c.joinWith(ctx, n, wire.JoinSize{Keys: 1 << 30, Bytes: 1 << 36}, func(s network.Stream, _ wire.JoinRequest, taken *atomic.Int64) {
		piece := wire.JoinPiece{Filter: make([]byte, wire.MaxBatch)}.Append(nil)
		for taken.Load() < mostJunk<<20 && wire.WriteFrame(s, piece) == nil {
			taken.Add(wire.MaxBatch)
		}
	})
}

// falseKeys returns the MiB that a node reads in a join with a peer that sends keys outside the node's filter.
func falseKeys(ctx context.Context, defended bool) float64 {
	var c cast
	defer c.close()
	n := c.node(nodelab.Without(unless(defended, nodelab.Limits{Stray: nodelab.Unbounded})))
	return c.joinWith(ctx, n, wire.JoinSize{Keys: 1 << 16, Bytes: 1 << 26}, func(s network.Stream, r wire.JoinRequest, taken *atomic.Int64) {
		if r.Filter == 0 {
			_ = wire.WriteFrame(s, wire.JoinPiece{Filter: filterOf(r.Params), Final: true}.Append(nil))
			return
		}
		var keys [][]byte
		for i := range 16 {
			keys = append(keys, bytes.Repeat([]byte{byte(i), 1}, 500))
		}
		piece := wire.JoinPiece{Keys: keys}.Append(nil)
		for taken.Load() < mostJunk<<20 && wire.WriteFrame(s, piece) == nil {
			taken.Add(int64(len(piece)))
		}
	})
}

// filterOf returns a filter with one key, encoded; nil if the parameters are invalid.
func filterOf(p bloom.Params) []byte {
	f, err := bloom.New(p)
	if err != nil {
		return nil
	}
	f.Add([]byte("another"))
	codec, err := bloom.NewCodec(p)
	if err != nil {
		return nil
	}
	message, err := codec.Append(nil, f, nil)
	if err != nil {
		return nil
	}
	return message
}

// joinWith joins a node with a peer that claims a size and then calls answer, which sends its filter or keys. It
// returns the MiB that answer sent, as counted in answer's last argument.
func (c *cast) joinWith(ctx context.Context, n *node.Node, size wire.JoinSize, answer func(network.Stream, wire.JoinRequest, *atomic.Int64)) float64 {
	must(n.Add(ctx, []byte("k")))
	evil := c.host()
	var taken atomic.Int64
	evil.SetStreamHandler(wire.ProtocolIn("venn", node.JoinID), func(s network.Stream) {
		defer func() { _ = s.Close() }()
		_ = s.SetDeadline(time.Now().Add(5 * time.Second))
		b, err := wire.ReadFrame(s, wire.MaxJoinRequest, nil)
		if err != nil {
			return
		}
		r, err := wire.ParseJoinRequest(b)
		if err != nil {
			return
		}
		if r.Params.Blocks == 0 {
			_ = wire.WriteFrame(s, wire.JoinPiece{Set: size, Final: true}.Append(nil))
			return
		}
		for b := 0; r.Filter > b; {
			piece, err := wire.ReadFrame(s, wire.MaxJoinPiece, nil)
			if err != nil {
				return
			}
			p, err := wire.ParseJoinPiece(piece)
			if err != nil || len(p.Filter) == 0 {
				return
			}
			b += len(p.Filter)
		}
		answer(s, r, &taken)
	})
	check(evil.Connect(ctx, *host.InfoFromHost(n.Host())))
	if _, _, err := n.Join(ctx, n.ID(), evil.ID()); err == nil {
		check(errors.New("the join succeeds"))
	}
	return float64(taken.Load()) / (1 << 20)
}
