package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/node/join"
	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary/bloom"
)

var (
	// ErrNoJoins says that a peer takes no part in joins.
	ErrNoJoins = errors.New("node: peer takes no part in joins (its content.joins is off, or it has no WithJoins)")
	// ErrNoList says that the node's key store cannot list its keys.
	ErrNoList = errors.New("node: the key store cannot list keys")
)

// WithJoins has the node take part in the joins of others. A peer that asks for a join can learn all keys, which a
// summary does not give away. The store must be a keystore.Lists. Default: the node takes part only in its own joins.
func WithJoins() Option {
	return func(c *config) error { c.joins = true; return nil }
}

// joinTime is the longest time for which a node serves one join.
const joinTime = 10 * time.Minute

const (
	maxJoin = 1 << 30 // bytes of keys that one peer may send

	maxJoinKeys = 1 << 25 // most keys that a peer may claim; the filters are planned for the number claimed
	maxJoinNew  = 1 << 16 // most keys that a peer may claim beyond twice the number in its summary
)

// Join finds the keys that all of some peers hold, exactly, in increasing order: the chained Bloom join of package
// join, over streams. The node's own id among the peers stands for its own keys. The peers' sets are not moved, only
// filters of them and the keys that probably are in all. These bytes are outside the budget for summaries. The errors:
// ErrUnknown for a peer that is not connected and not known by its summary, ErrNoJoins, ErrNoList,
// join.ErrNoSources without peers, ErrClosed, ctx's.
func (n *Node) Join(ctx context.Context, peers ...peer.ID) ([][]byte, join.Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	sources := make([]join.Source, len(peers))
	for i, p := range peers {
		s, err := n.joinSource(ctx, p)
		if err != nil {
			return nil, join.Report{}, fmt.Errorf("%s: %w", p, err)
		}
		sources[i] = s
	}
	keys, report, err := join.Join(ctx, sources, bloom.Params{Hasher: bloom.Hasher{K0: rand.Uint64(), K1: rand.Uint64()}})
	if n.ctx.Err() != nil {
		err = context.Cause(n.ctx)
	}
	return keys, report, err
}

// joinSource returns the set of a peer's keys, for a join.
func (n *Node) joinSource(ctx context.Context, p peer.ID) (join.Source, error) {
	if p == n.ID() {
		return n.listed(ctx)
	}
	if err := n.reachKnown(ctx, p); err != nil {
		return nil, err
	}
	most := maxJoinKeys
	if held, err := n.SummaryOf(ctx, p); err == nil {
		most = min(most, 2*held.Header().N+maxJoinNew)
	}
	return &remoteSet{n: n, peer: p, most: most}, nil
}

// remoteSet is the set of another peer's keys, as a source of a join.
type remoteSet struct {
	n    *Node
	peer peer.ID
	most int // most keys that the peer may claim
	size wire.JoinSize
}

// Size implements join.Source.
func (s *remoteSet) Size(ctx context.Context) (wire.JoinSize, error) {
	err := s.ask(ctx, wire.JoinRequest{}, nil, func(p wire.JoinPiece) error {
		lies := p.Set.Bytes < p.Set.Keys || p.Set.Bytes/join.KeyBytes(wire.MaxKey) > p.Set.Keys
		if lies || p.Set.Keys > s.most {
			return fmt.Errorf("%w: %d keys of %d bytes claimed, at most %d keys can be", wire.ErrLimit, p.Set.Keys, p.Set.Bytes, s.most)
		}
		s.size = p.Set
		return nil
	})
	return s.size, err
}

// Filter implements join.Source.
func (s *remoteSet) Filter(ctx context.Context, p bloom.Params) (message []byte, err error) {
	err = s.ask(ctx, wire.JoinRequest{Params: p}, nil, func(p wire.JoinPiece) error {
		if message = append(message, p.Filter...); len(message) > wire.MaxJoinFilter {
			return fmt.Errorf("%w: filter of more than %d bytes", wire.ErrLimit, wire.MaxJoinFilter)
		}
		return nil
	})
	return message, err
}

// Matching implements join.Source.
func (s *remoteSet) Matching(ctx context.Context, p bloom.Params, message []byte, f func(key []byte) error) error {
	codec, err := bloom.NewCodec(p)
	if err != nil {
		return err
	}
	filter, err := codec.Decode(message, nil)
	if err != nil {
		return err
	}
	most, keys, bytes := min(s.size.Bytes, maxJoin), 0, 0
	return s.ask(ctx, wire.JoinRequest{Params: p, Filter: len(message)}, message, func(p wire.JoinPiece) error {
		for _, k := range p.Keys {
			keys, bytes = keys+1, bytes+join.KeyBytes(len(k))
			if bytes > most || keys > s.size.Keys {
				return fmt.Errorf("%w: more than %d keys or %d bytes", wire.ErrLimit, s.size.Keys, most)
			}
			if !filter.Contains(k) {
				return fmt.Errorf("%w: a key that is not in the filter", wire.ErrMalformed)
			}
			if err := f(k); err != nil {
				return err
			}
		}
		return nil
	})
}

// ask sends a request, with the message of a filter if there is one, and calls take with each piece of the answer.
func (s *remoteSet) ask(ctx context.Context, r wire.JoinRequest, message []byte, take func(wire.JoinPiece) error) error {
	opened := false
	err := s.n.put(ctx, s.peer, JoinID, r, func(st *streams.Stream) error {
		opened = true
		defer context.AfterFunc(ctx, func() { _ = st.Reset() })()
		if err := sendPieces(st, message); err != nil {
			return err
		}
		for {
			p, err := receivePiece(st)
			if err != nil {
				return fmt.Errorf("node: join with %s: %w", s.peer, cmp.Or(ctx.Err(), err))
			}
			if err := take(p); err != nil || p.Final {
				return err
			}
		}
	})
	if got, known := s.n.host.Peerstore().SupportsProtocols(s.peer, s.n.versions(JoinID)...); !opened && known == nil && len(got) == 0 {
		return fmt.Errorf("%w: %s", ErrNoJoins, s.peer)
	}
	return err
}

// sendPieces sends the message of a filter in pieces, the last one marked final. It sends nothing for an empty message.
func sendPieces(s *streams.Stream, message []byte) error {
	for len(message) > 0 {
		k := min(len(message), wire.MaxBatch)
		p := wire.JoinPiece{Filter: message[:k], Final: k == len(message)}
		if err := s.SendWithin(p.Append(nil), streams.TransferTime); err != nil {
			return err
		}
		message = message[k:]
	}
	return nil
}

func receivePiece(s *streams.Stream) (wire.JoinPiece, error) {
	b, err := s.Receive(wire.MaxJoinPiece, streams.TransferTime)
	if err != nil {
		return wire.JoinPiece{}, err
	}
	return wire.ParseJoinPiece(b)
}

// joinsAtOnce is the most joins served at a time: the filter of each takes up to wire.MaxJoinBits. A peer that has
// both places gives one up when another peer wants one, and each join does after joinTurn: the other end may be slow,
// or do nothing.
const joinsAtOnce, joinTurn = 2, 10 * time.Second

// joinPrice returns the price of a join: all keys are listed, each is hashed to its positions, and the filter is coded.
func (n *Node) joinPrice(r wire.JoinRequest) time.Duration {
	positions := time.Duration(r.Params.Blocks * r.Params.Hashes)
	return time.Duration(n.Len())*(admit.Listing+positions*admit.Position) + time.Duration(r.Params.Bits()/8)*admit.Coding
}

// serveJoin answers a request for a join when there is a place for it.
func (n *Node) serveJoin(s *streams.Stream, r wire.JoinRequest) error {
	ctx, cancel := context.WithTimeout(s.Context(), joinTime)
	defer cancel()
	place, err := admit.Wait(ctx, n.joining, s.Who(), cancel)
	if err != nil {
		return err
	}
	defer place.Release()
	defer time.AfterFunc(joinTurn, place.Yield).Stop()
	defer context.AfterFunc(ctx, func() { _ = s.Reset() })()
	set, err := n.listed(ctx)
	if err != nil {
		return err
	}
	switch {
	case r.Params == (bloom.Params{}):
		size, err := set.Size(ctx)
		if err != nil {
			return err
		}
		return s.Send(wire.JoinPiece{Set: size, Final: true}.Append(nil))
	case r.Filter == 0:
		message, err := set.Filter(ctx, r.Params)
		if err != nil {
			return err
		}
		return sendPieces(s, message)
	}
	return serveMatching(ctx, s, set, r)
}

// serveMatching reads a filter and sends the keys in it, as they are found.
func serveMatching(ctx context.Context, s *streams.Stream, set join.Listing, r wire.JoinRequest) error {
	message := make([]byte, 0, min(r.Filter, wire.MaxBatch))
	for len(message) < r.Filter {
		p, err := receivePiece(s)
		if err != nil {
			return err
		}
		if len(p.Filter) == 0 || len(message)+len(p.Filter) > r.Filter {
			return fmt.Errorf("%w: filter of other than the %d bytes announced", wire.ErrMalformed, r.Filter)
		}
		message = append(message, p.Filter...)
	}
	var batch [][]byte
	size := 0
	flush := func(final bool) error {
		p := wire.JoinPiece{Keys: batch, Final: final}
		batch, size = batch[:0], 0
		return s.SendWithin(p.Append(nil), streams.TransferTime)
	}
	err := set.Matching(ctx, r.Params, message, func(key []byte) error {
		if size += 3 + len(key); size > wire.MaxBatch {
			if err := flush(false); err != nil {
				return err
			}
			size = 3 + len(key)
		}
		batch = append(batch, key)
		return nil
	})
	if errors.Is(err, join.ErrFilter) {
		return fmt.Errorf("%w: %w", wire.ErrMalformed, err)
	}
	if err != nil {
		return err
	}
	return flush(true)
}

// listed returns the node's own keys as a set of a join.
func (n *Node) listed(ctx context.Context) (join.Listing, error) {
	keys, ok := n.keys.(keystore.Lists)
	if !ok {
		return nil, ErrNoList
	}
	return join.Listing(keys.Keys(ctx)), nil
}
