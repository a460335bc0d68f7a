package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/venn-p2p/venn/node/keystore"

	ds "github.com/ipfs/go-datastore"

	"github.com/venn-p2p/venn/summary"
)

// progressEvery is the number of keys between two calls of the function given to WithProgress.
const progressEvery = 100_000

// chunk is the size of the pieces in which a filter is saved, in bytes.
const chunk = 1 << 20

// saved describes the saved filter. While a store is open, and after a crash, chunks is 0, and keys is the number of
// keys when the store was opened.
type saved struct {
	tag    summary.SeedTag
	keys   uint64
	chunks uint32
}

func (v saved) encode() []byte {
	b := append([]byte(nil), v.tag.Network[:]...)
	b = binary.BigEndian.AppendUint32(b, v.tag.Number)
	b = binary.BigEndian.AppendUint64(b, v.keys)
	return binary.BigEndian.AppendUint32(b, v.chunks)
}

const savedBytes = 8 + 4 + 8 + 4

func decodeSaved(b []byte) (v saved, ok bool) {
	if len(b) != savedBytes {
		return v, false
	}
	copy(v.tag.Network[:], b)
	v.tag.Number = binary.BigEndian.Uint32(b[8:])
	v.keys = binary.BigEndian.Uint64(b[12:])
	v.chunks = binary.BigEndian.Uint32(b[20:])
	return v, true
}

func chunkName(i int) ds.Key { return ds.NewKey(filterPrefix + "/" + strconv.Itoa(i)) }

// save writes the filter. Once that is durable, it writes the mark that the saved filter is whole.
func (s *Store) save(ctx context.Context) error {
	b, err := s.mirror.MarshalBinary()
	if err != nil {
		return fmt.Errorf("store: save filter: %w", err)
	}
	if err := s.mayWrite(len(b)); err != nil {
		return err
	}
	v := saved{tag: s.tag, keys: uint64(s.Count())}
	for ; len(b) > 0; v.chunks++ {
		k := min(chunk, len(b))
		if err := s.ds.Put(ctx, chunkName(int(v.chunks)), b[:k]); err != nil {
			return fmt.Errorf("store: save filter: %w", err)
		}
		b = b[k:]
	}
	if err := s.sync(ctx, ds.NewKey(filterPrefix)); err != nil {
		return err
	}
	return s.put(ctx, savedName, v.encode())
}

// openFilter loads the saved filter, or else makes a filter from the keys. It first marks the saved filter as
// outdated, because the keys may change.
func (s *Store) openFilter(ctx context.Context) error {
	mark, err := s.ds.Get(ctx, savedName)
	if err != nil && !errors.Is(err, ds.ErrNotFound) {
		return fmt.Errorf("store: %w", err)
	}
	v, ok := decodeSaved(mark)
	if ok && v.chunks > 0 {
		s.saved = &v
		if v.tag == s.tag && s.load(ctx, v) {
			return nil
		}
	}
	return s.rebuild(ctx, int(min(v.keys, math.MaxInt32)))
}

// forgetSaved notes on disk that the saved filter no longer counts, as keys may change from now on. It is the last step
// of opening: if an earlier one is interrupted, the next start reads the filter again, not all keys.
func (s *Store) forgetSaved(ctx context.Context) error {
	if s.saved == nil {
		return nil
	}
	open := saved{tag: s.saved.tag, keys: s.saved.keys}
	if err := s.ds.Put(ctx, savedName, open.encode()); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return s.sync(ctx, savedName)
}

// load reads the saved filter and reports whether it is whole.
func (s *Store) load(ctx context.Context, v saved) bool {
	var b []byte
	for i := range int(v.chunks) {
		c, err := s.ds.Get(ctx, chunkName(i))
		if err != nil {
			return false
		}
		b = append(b, c...)
	}
	m := new(keystore.Mirror)
	if m.UnmarshalBinary(b) != nil || m.Len() != int(v.keys) {
		return false
	}
	s.mirror = m
	s.length.Store(int64(v.keys))
	return true
}

// rebuild makes the filter from the keys on disk. about is their approximate number, 0 if unknown.
func (s *Store) rebuild(ctx context.Context, about int) error {
	s.mirror = new(keystore.Mirror)
	tell := func(keys int) {
		if s.progress != nil && keys%progressEvery == 0 {
			s.progress(keys, about)
		}
	}
	if !s.made {
		tell(0)
	}
	for key, err := range s.Keys(ctx) {
		if err != nil {
			return err
		}
		if err := s.mirror.Add(s.hasher.Fingerprint(key)); err != nil {
			return fmt.Errorf("store: key %x: %w", key, err)
		}
		tell(int(s.length.Add(1)))
	}
	return nil
}
