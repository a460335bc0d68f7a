package summary

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// Run is consecutive parts of a stream and the value of the chain after them. A message carries a run. The chain value
// at First, from the header or from earlier parts, verifies it.
type Run struct {
	First int      // number of the first part
	Parts [][]byte // the parts First to First+len(Parts)-1
	// Next is the hash that binds the parts after the last one of the run; zero after the last part of the stream.
	Next [sha256.Size]byte
}

// end returns the number of the first part after r.
func (r Run) end() int { return r.First + len(r.Parts) }

// EncodedBytes returns the size of the parts of r. O(parts).
func (r Run) EncodedBytes() int {
	n := 0
	for _, p := range r.Parts {
		n += len(p)
	}
	return n
}

// AppendBinary appends the canonical form of r: First, the number of parts, for each part its size and bytes, Next.
// Numbers are varints. O(bytes).
func (r Run) AppendBinary(b []byte) []byte {
	b = slices.Grow(b, 2*binary.MaxVarintLen32+r.EncodedBytes()+3*len(r.Parts)+len(r.Next))
	b = binary.AppendUvarint(b, uint64(r.First))
	b = binary.AppendUvarint(b, uint64(len(r.Parts)))
	for _, p := range r.Parts {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
	}
	return append(b, r.Next[:]...)
}

// ParseRun is the inverse of AppendBinary. The parts are slices of b. It refuses all bytes that AppendBinary would not
// have written, runs beyond 2^14 parts and parts of more than 64 KiB. It does not verify: [Prefix.Extend] does.
// O(parts).
func ParseRun(b []byte) (Run, error) {
	first, rest, err := decodeSize(b, maxParts)
	if err != nil {
		return Run{}, fmt.Errorf("summary: first part of run: %w", err)
	}
	count, rest, err := decodeSize(rest, maxParts-first)
	if err != nil {
		return Run{}, fmt.Errorf("summary: parts of run: %w", err)
	}
	if count > len(rest) { // a part takes at least one byte, for its size: this bounds the slice below
		return Run{}, fmt.Errorf("summary: run of %d parts in %d bytes: %w", count, len(rest), ErrMalformed)
	}
	r := Run{First: first, Parts: make([][]byte, count)}
	for i := range r.Parts {
		var size int
		if size, rest, err = decodeSize(rest, maxPartBytes); err != nil {
			return Run{}, fmt.Errorf("summary: part %d: %w", first+i, err)
		}
		if size > len(rest) {
			return Run{}, fmt.Errorf("summary: part %d of %d bytes, %d left: %w", first+i, size, len(rest), ErrMalformed)
		}
		r.Parts[i], rest = rest[:size:size], rest[size:]
	}
	if len(rest) != len(r.Next) {
		return Run{}, fmt.Errorf("summary: %d bytes after the parts, not %d: %w", len(rest), len(r.Next), ErrMalformed)
	}
	r.Next = digest(rest)
	return r, nil
}
