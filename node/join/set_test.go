package join

import (
	"context"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary/bloom"
)

// Set is a Source in memory: its keys, in any order.
type Set [][]byte

func (s Set) listing() Listing {
	return func(yield func([]byte, error) bool) {
		for _, key := range s {
			if !yield(key, nil) {
				return
			}
		}
	}
}

// Size implements Source.
func (s Set) Size(ctx context.Context) (wire.JoinSize, error) { return s.listing().Size(ctx) }

// Filter implements Source.
func (s Set) Filter(ctx context.Context, p bloom.Params) ([]byte, error) {
	return s.listing().Filter(ctx, p)
}

// Matching implements Source.
func (s Set) Matching(ctx context.Context, p bloom.Params, message []byte, f func(key []byte) error) error {
	return s.listing().Matching(ctx, p, message, f)
}
