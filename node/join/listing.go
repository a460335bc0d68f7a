package join

import (
	"errors"
	"fmt"
	"iter"

	"github.com/venn-p2p/venn/summary/bloom"
)

// ErrFilter says that a message is no filter of the parameters agreed on.
var ErrFilter = errors.New("join: not a filter of these parameters")

// Listing is a Source that lists its keys again for each step and keeps none. An error that it yields ends the step.
type Listing iter.Seq2[[]byte, error]

// Size implements Source.
func (l Listing) Size() (size Size, err error) {
	for key, err := range l {
		if err != nil {
			return size, err
		}
		size.Keys++
		size.Bytes += KeyBytes(len(key))
	}
	return size, nil
}

// Filter implements Source.
func (l Listing) Filter(p bloom.Params) ([]byte, error) {
	codec, err := bloom.NewCodec(p)
	if err != nil {
		return nil, err
	}
	f, err := bloom.New(p)
	if err != nil {
		return nil, err
	}
	for key, err := range l {
		if err != nil {
			return nil, err
		}
		f.Add(key)
	}
	return codec.Append(nil, f, nil)
}

// Matching implements Source.
func (l Listing) Matching(p bloom.Params, message []byte) (keys [][]byte, err error) {
	err = l.EachMatching(p, message, func(key []byte) error { keys = append(keys, key); return nil })
	return keys, err
}

// EachMatching gives each key in the filter p of message to f, until f fails. Its errors: ErrFilter, those of the listing,
// that of f.
func (l Listing) EachMatching(p bloom.Params, message []byte, f func(key []byte) error) error {
	codec, err := bloom.NewCodec(p)
	if err != nil {
		return err
	}
	filter, err := codec.Decode(message, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFilter, err)
	}
	for key, err := range l {
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
