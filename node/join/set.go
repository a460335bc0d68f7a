package join

import (
	"fmt"

	"github.com/venn-p2p/venn/summary/bloom"
)

// Set is a Source in memory: its keys, in any order.
type Set [][]byte

// Size implements Source.
func (s Set) Size() (Size, error) {
	size := Size{Keys: len(s)}
	for _, key := range s {
		size.Bytes += KeyBytes(len(key))
	}
	return size, nil
}

// Filter implements Source.
func (s Set) Filter(p bloom.Params) ([]byte, error) {
	codec, err := bloom.NewCodec(p)
	if err != nil {
		return nil, err
	}
	f, err := bloom.New(p)
	if err != nil {
		return nil, err
	}
	for _, key := range s {
		f.Add(key)
	}
	return codec.Append(nil, f)
}

// Matching implements Source.
func (s Set) Matching(p bloom.Params, message []byte) ([][]byte, error) {
	codec, err := bloom.NewCodec(p)
	if err != nil {
		return nil, err
	}
	f, err := codec.Decode(message)
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	var keys [][]byte
	for _, key := range s {
		if f.Contains(key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}
