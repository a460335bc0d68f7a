package tails

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// MaxTailChange is the most fingerprints of a tail, added and removed: each takes more than a byte.
const MaxTailChange = wire.MaxTail

// Tail holds the fingerprints that a collection gained and lost between two moments of an epoch. It leads from state
// From to state Number. State 0 is the epoch's summary itself. A tail with an earlier From replaces those between; a
// tail whose From is the last state continues it. Fingerprints are whole, so a removal never denies another key, and an
// added key has a position in every block. Immutable.
type Tail struct {
	number, from   uint32
	added, removed []summary.Fingerprint // sorted, distinct, with none in common
	signed         []byte                // nil: not signed
}

// NewTail makes the tail from state from to state number, a later one. The fingerprints may come in any order and more
// than once. It panics if a fingerprint is in both lists or has more than summary.FingerprintBits bits, if number is
// not after from, and above MaxTailChange fingerprints.
func NewTail(number, from uint32, added, removed []summary.Fingerprint) *Tail {
	t := &Tail{number: number, from: from, added: sorted(added), removed: sorted(removed)}
	if err := t.check(); err != nil {
		panic(err)
	}
	return t
}

// sorted returns a copy of fps in order, without duplicates; nil for none.
func sorted(fps []summary.Fingerprint) []summary.Fingerprint {
	if len(fps) == 0 {
		return nil
	}
	out := slices.Clone(fps)
	slices.Sort(out)
	return slices.Compact(out)
}

// check returns an error if t, whose lists are sorted, is not valid.
func (t *Tail) check() error {
	if t.number <= t.from {
		return fmt.Errorf("tails: tail %d after %d: %w", t.number, t.from, summary.ErrMalformed)
	}
	if n := len(t.added) + len(t.removed); n > MaxTailChange {
		return fmt.Errorf("tails: tail of %d fingerprints, at most %d: %w", n, MaxTailChange, summary.ErrLimit)
	}
	for _, list := range [][]summary.Fingerprint{t.added, t.removed} {
		if n := len(list); n > 0 && list[n-1]>>summary.FingerprintBits != 0 {
			return fmt.Errorf("tails: tail: fingerprint %#x of more than %d bits: %w", uint64(list[n-1]), summary.FingerprintBits, summary.ErrLimit)
		}
	}
	for _, f := range t.removed {
		if has(t.added, f) {
			return fmt.Errorf("tails: tail: %#x both added and removed: %w", uint64(f), summary.ErrMalformed)
		}
	}
	return nil
}

// Number returns the state that t leads to, at least 1.
func (t *Tail) Number() uint32 { return t.number }

// From returns the state that t starts from, below Number; 0 is the epoch's summary.
func (t *Tail) From() uint32 { return t.from }

// Len returns the number of fingerprints, added and removed.
func (t *Tail) Len() int { return len(t.added) + len(t.removed) }

// Added yields the fingerprints added, in ascending order.
func (t *Tail) Added() iter.Seq[summary.Fingerprint] { return slices.Values(t.added) }

// Removed yields the fingerprints removed, in ascending order.
func (t *Tail) Removed() iter.Seq[summary.Fingerprint] { return slices.Values(t.removed) }

// version is the first byte of a tail.
const version = 2

// appendBinary appends the canonical form of t: about 49.5 - log2(m) bits for each of m fingerprints in a list.
func (t *Tail) appendBinary(b []byte) []byte {
	b = append(b, version)
	b = binary.AppendUvarint(b, uint64(t.number))
	b = binary.AppendUvarint(b, uint64(t.number-t.from))
	for _, list := range [][]summary.Fingerprint{t.added, t.removed} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		b = summary.AppendFingerprints(b, list)
	}
	return b
}

// parseTail is the inverse of appendBinary: it accepts only bytes that appendBinary writes, and returns
// summary.ErrVersion, ErrMalformed or ErrLimit otherwise. It allocates at most 25 times the size of b, at most MaxTail.
func parseTail(b []byte) (*Tail, error) {
	number, from, rest, err := parseNumbers(b)
	if err != nil {
		return nil, err
	}
	t := &Tail{number: number, from: from}
	if t.added, rest, err = decodeFingerprints(rest); err != nil {
		return nil, err
	}
	if t.removed, rest, err = decodeFingerprints(rest); err != nil {
		return nil, err
	}
	if len(rest) != 0 {
		return nil, fmt.Errorf("tails: tail: %d bytes too many: %w", len(rest), summary.ErrMalformed)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	return t, nil
}

// parseNumbers reads the states that a tail leads to and starts from.
func parseNumbers(b []byte) (number, from uint32, rest []byte, err error) {
	if len(b) > 0 && b[0] != version {
		return 0, 0, nil, fmt.Errorf("tails: tail: version %d, not %d: %w", b[0], version, summary.ErrVersion)
	}
	if len(b) == 0 || len(b) > wire.MaxTail {
		return 0, 0, nil, fmt.Errorf("tails: tail of %d bytes: %w", len(b), summary.ErrLimit)
	}
	to, rest, err := decodeUint(b[1:], math.MaxUint32)
	if err != nil {
		return 0, 0, nil, fmt.Errorf("tails: number of tail: %w", err)
	}
	step, rest, err := decodeUint(rest, to)
	if err != nil {
		return 0, 0, nil, fmt.Errorf("tails: what the tail continues: %w", err)
	}
	return uint32(to), uint32(to - step), rest, nil
}

// decodeFingerprints reads the number of fingerprints of a list, and the list.
func decodeFingerprints(src []byte) (list []summary.Fingerprint, rest []byte, err error) {
	count, src, err := decodeUint(src, MaxTailChange)
	if err != nil {
		return nil, nil, fmt.Errorf("tails: size of a tail's list: %w", err)
	}
	list, rest, err = summary.DecodeFingerprints(src, int(count))
	if err != nil {
		return nil, nil, fmt.Errorf("tails: list of a tail: %w", err)
	}
	return list, rest, nil
}

// decodeUint reads a varint in the shortest form: ErrMalformed for another, ErrLimit above the limit.
func decodeUint(src []byte, limit uint64) (v uint64, rest []byte, err error) {
	v, used := binary.Uvarint(src)
	switch {
	case used <= 0 || used > 1 && src[used-1] == 0:
		return 0, nil, summary.ErrMalformed
	case v > limit:
		return 0, nil, summary.ErrLimit
	}
	return v, src[used:], nil
}

// has reports whether f is in a sorted list.
func has(list []summary.Fingerprint, f summary.Fingerprint) bool {
	_, there := slices.BinarySearch(list, f)
	return there
}
