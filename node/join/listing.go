package join

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary/bloom"
)

// ErrFilter means that a message is not a filter of the agreed parameters.
var ErrFilter = errors.New("join: not a filter of these parameters")

// Listing is a Source that lists its keys afresh in each step and stores none. If it yields an error, the step ends
// with it.
type Listing iter.Seq2[[]byte, error]

// until returns the listing, which yields the error of ctx soon after ctx ends.
func (l Listing) until(ctx context.Context) Listing {
	return func(yield func([]byte, error) bool) {
		n := 0
		for key, err := range l {
			if n++; n%someKeys == 0 && err == nil && ctx.Err() != nil {
				err = ctx.Err()
			}
			if !yield(key, err) || err != nil {
				return
			}
		}
	}
}

// someKeys is the number of keys that a listing yields between two checks of its context.
const someKeys = 1024

// Size implements Source.
func (l Listing) Size(ctx context.Context) (size wire.JoinSize, err error) {
	for key, err := range l.until(ctx) {
		if err != nil {
			return size, err
		}
		size.Keys++
		size.Bytes += KeyBytes(len(key))
	}
	return size, nil
}

// Filter implements Source.
func (l Listing) Filter(ctx context.Context, p bloom.Params) ([]byte, error) {
	codec, err := bloom.NewCodec(p)
	if err != nil {
		return nil, err
	}
	f, err := bloom.New(p)
	if err != nil {
		return nil, err
	}
	for key, err := range l.until(ctx) {
		if err != nil {
			return nil, err
		}
		f.Add(key)
	}
	return codec.Append(nil, f, nil)
}

// Matching implements Source. The errors: ErrFilter, the listing's, f's.
func (l Listing) Matching(ctx context.Context, p bloom.Params, message []byte, f func(key []byte) error) error {
	codec, err := bloom.NewCodec(p)
	if err != nil {
		return err
	}
	filter, err := codec.Decode(message, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFilter, err)
	}
	for key, err := range l.until(ctx) {
		if err != nil {
			return err
		}
		if !filter.Contains(key) {
			continue
		}
		if err := f(key); err != nil {
			return err
		}
	}
	return nil
}
