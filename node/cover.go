package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing/cover"
)

const (
	// MaxCoverKeys is the largest number of keys of one call of Cover.
	MaxCoverKeys = 1 << 16
	maxClaims    = 1 << 22 // most matches of all keys with all summaries
	coverKeys    = 64      // keys matched in one turn of the loop, which must not stand still for long
	coverMisses  = 4       // peers, for each one wanted, that may hold none of the keys that they claim
)

// ErrMatches means that the summaries held match too many of the keys: choosing among the matches would take too much
// memory.
var ErrMatches = errors.New("node: too many matches, ask for fewer keys at once")

// Cover is one of few peers that together hold many keys.
type Cover struct {
	Provider peer.AddrInfo
	Keys     []int // numbers of the keys that it has confirmed and that no earlier Cover has, ascending
}

// Cover looks for at most k peers that together hold as many of the keys as possible. It yields them in the order of
// the keys that they add (see package cover). Every key was confirmed. It goes by the summaries that the node holds:
// nothing is forwarded. An error comes last: ErrKey, ErrMatches, ErrClosed, ctx's. It costs two messages for each peer
// and batch of keys. It gives up when four peers for each one wanted hold none of the keys that they claim. With k
// below 1 it yields nobody; there may be MaxCoverKeys keys, each of 1 to wire.MaxKey bytes.
func (n *Node) Cover(ctx context.Context, keys [][]byte, k int) iter.Seq2[Cover, error] {
	return func(yield func(Cover, error) bool) {
		if err := cmp.Or(checkCover(keys), ctx.Err()); err != nil {
			yield(Cover{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(n.ctx, cancel)()
		claims, err := n.claims(ctx, keys)
		if err != nil {
			yield(Cover{}, err)
			return
		}
		c := cover.New(len(keys))
		for i, p := range claims {
			c.Add(i, p.keys)
		}
		k = min(k, len(claims))
		for misses := coverMisses * k; k > 0 && misses > 0 && c.Left() > 0; {
			i, asked, ok := c.Next()
			if !ok {
				return
			}
			held := n.confirmAll(ctx, claims[i], keys, asked)
			switch {
			case n.ctx.Err() != nil:
				yield(Cover{}, context.Cause(n.ctx))
				return
			case ctx.Err() != nil:
				yield(Cover{}, ctx.Err())
				return
			case len(held) == 0: // unreachable, or its summary was wrong
				misses--
				continue
			}
			for _, key := range held {
				c.Covered(key)
			}
			if k--; !yield(Cover{n.addrInfo(claims[i].record), held}, nil) {
				return
			}
		}
	}
}

func checkCover(keys [][]byte) error {
	if len(keys) > MaxCoverKeys {
		return fmt.Errorf("%w: %d keys at once, want at most %d", ErrKey, len(keys), MaxCoverKeys)
	}
	return checkKeys(keys)
}

// claimant is a peer with the keys that its summary claims.
type claimant struct {
	record wire.Record
	trust  float64
	keys   []cover.Claim
}

// claims returns the peers whose summaries match some keys, each with these keys, in the order of their first matches.
// The error is ErrMatches if there are more than maxClaims matches.
func (n *Node) claims(ctx context.Context, keys [][]byte) (out []claimant, err error) {
	index, total := map[wire.PeerID]int{}, 0
	for from := 0; from < len(keys); from += coverKeys {
		err := n.view(ctx, func(l *loop) {
			for i, key := range keys[from:min(from+coverKeys, len(keys))] {
				for _, c := range l.core.Routing.Claims(key) {
					at, known := index[c.Record.Peer]
					if !known {
						at = len(out)
						index[c.Record.Peer] = at
						out = append(out, claimant{record: c.Record, trust: c.Trust})
					}
					out[at].keys = append(out[at].keys, cover.Claim{Key: from + i, Probability: c.Likely * out[at].trust})
					total++
				}
			}
		})
		switch {
		case err != nil:
			return nil, err
		case total > maxClaims:
			return nil, fmt.Errorf("%w: more than %d for the first %d of %d keys", ErrMatches, maxClaims, from+coverKeys, len(keys))
		}
	}
	return out, nil
}

// confirmAll asks a peer for keys that it claims and returns the numbers of the ones that it holds. It stops at the
// first message without an answer.
func (n *Node) confirmAll(ctx context.Context, to claimant, keys [][]byte, claimed []cover.Claim) (held []int) {
	batch := make([][]byte, len(claimed))
	for i, c := range claimed {
		batch[i] = keys[c.Key]
	}
	misses := 0
	has, _, _ := n.have(ctx, to.record, wire.HaveRequest{Keys: batch}, forQuery)
	for i, h := range has {
		if c := claimed[i]; h {
			held = append(held, c.Key)
		} else if c.Probability >= overlay.SureMatch*to.trust {
			misses++
		}
	}
	n.in.Result(n.ctx, event.Outcome{Peer: to.record.Peer, Hits: len(held), Misses: misses})
	return held
}
