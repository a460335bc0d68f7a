// Package files keeps summaries and deltas at rest, as summary/FORMAT.md specifies: what `venn summary` reads and
// writes. Parsing copies nothing: results share memory with what was read, which may be a mapped file.
package files

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/venn-p2p/venn/summary"
)

// ErrKind is of bytes that do not begin as the kind of file asked for.
var ErrKind = errors.New("wrong kind of file")

// MaxBytes is the most bytes that a file can have.
const MaxBytes = maxEnvelope + 1<<14*(64<<10+4)

// maxEnvelope is the most bytes of a signed header: wire.MaxEnvelope, without what that package depends on.
const maxEnvelope = 1024

// Kind is what a file holds, the fifth of its bytes.
type Kind byte

// The kinds of files.
const (
	SummaryKind Kind = 'S'
	DeltaKind   Kind = 'D'
)

// String is "summary" or "delta".
func (k Kind) String() string {
	switch k {
	case SummaryKind:
		return "summary"
	case DeltaKind:
		return "delta"
	}
	return fmt.Sprintf("file of kind %q", byte(k))
}

// magic is how every file begins; its kind and formVersion follow.
const (
	magic       = "venn"
	formVersion = 2
)

// Head is how many bytes [KindOf] needs.
const Head = len(magic) + 2

// KindOf is what a file that begins with b holds: ErrKind if it is none of ours, ErrVersion if it is of another
// version.
func KindOf(b []byte) (Kind, error) {
	if len(b) < Head || string(b[:len(magic)]) != magic {
		return 0, fmt.Errorf("files: neither a summary nor a delta: %w", ErrKind)
	}
	kind, version := Kind(b[4]), b[5]
	switch {
	case kind != SummaryKind && kind != DeltaKind:
		return 0, fmt.Errorf("files: a %v: %w", kind, ErrKind)
	case version != formVersion:
		return 0, fmt.Errorf("files: file of version %d, not %d: %w", version, formVersion, summary.ErrVersion)
	}
	return kind, nil
}

// Summary is a summary at rest: its signed header and the first parts. Whether they are genuine only
// [signed.OpenHeader] and [summary.Prefix.Extend] can tell.
type Summary struct {
	Envelope []byte      // signed header
	Run      summary.Run // parts from 0 on
}

// AppendBinary appends the canonical form of f: the head, the size of the envelope, the envelope, the run.
func (f Summary) AppendBinary(b []byte) []byte {
	return f.Run.AppendBinary(appendHead(b, SummaryKind, f.Envelope))
}

// Sizes are the bytes of the file cut to its first 0, 1, … parts. O(parts).
func (f Summary) Sizes() []int {
	fixed := len(appendHead(nil, SummaryKind, f.Envelope)) + countBytes(f.Run.First) + sha256.Size
	sizes := []int{fixed + countBytes(0)}
	bytes := 0
	for i, p := range f.Run.Parts {
		bytes += countBytes(len(p)) + len(p)
		sizes = append(sizes, fixed+countBytes(i+1)+bytes)
	}
	return sizes
}

// Offsets are where in the file the bytes of each part begin. O(parts).
func (f Summary) Offsets() []int {
	at := len(appendHead(nil, SummaryKind, f.Envelope)) + countBytes(f.Run.First) + countBytes(len(f.Run.Parts))
	var offsets []int
	for _, p := range f.Run.Parts {
		at += countBytes(len(p))
		offsets = append(offsets, at)
		at += len(p)
	}
	return offsets
}

// Parse is the inverse of AppendBinary; the result shares memory with b. ErrKind, ErrVersion, ErrLimit or
// ErrMalformed.
func Parse(b []byte) (Summary, error) {
	envelope, rest, err := parseHead(b, SummaryKind)
	if err != nil {
		return Summary{}, err
	}
	r, err := summary.ParseRun(rest)
	if err != nil {
		return Summary{}, err
	}
	if r.First != 0 {
		return Summary{}, fmt.Errorf("files: file that begins with part %d: %w", r.First, summary.ErrMalformed)
	}
	return Summary{envelope, r}, nil
}

// Delta is a delta at rest: the signed header of the new epoch, and what [summary.EncodeDelta] wrote.
type Delta struct {
	Envelope []byte
	Changes  []byte
}

// AppendBinary appends the canonical form of d: the head, the size of the envelope, the envelope, the changes.
func (d Delta) AppendBinary(b []byte) []byte {
	return append(appendHead(b, DeltaKind, d.Envelope), d.Changes...)
}

// ParseDelta is the inverse of AppendBinary; the result shares memory with b. ErrKind, ErrVersion, ErrLimit or
// ErrMalformed. Only [summary.ApplyDelta] can tell whether the changes are any.
func ParseDelta(b []byte) (Delta, error) {
	envelope, rest, err := parseHead(b, DeltaKind)
	if err != nil {
		return Delta{}, err
	}
	return Delta{envelope, rest}, nil
}

func appendHead(b []byte, kind Kind, envelope []byte) []byte {
	b = append(b, magic...)
	b = append(b, byte(kind), formVersion)
	b = binary.AppendUvarint(b, uint64(len(envelope)))
	return append(b, envelope...)
}

// parseHead is the envelope of a file of some kind, and what follows it.
func parseHead(b []byte, want Kind) (envelope, rest []byte, err error) {
	kind, err := KindOf(b)
	if err != nil {
		return nil, nil, err
	}
	if kind != want {
		return nil, nil, fmt.Errorf("files: a %v, not a %v: %w", kind, want, ErrKind)
	}
	size, rest, err := decodeSize(b[Head:], maxEnvelope)
	if err != nil {
		return nil, nil, fmt.Errorf("files: size of the envelope: %w", err)
	}
	if size > len(rest) {
		return nil, nil, fmt.Errorf("files: envelope of %d bytes, %d left: %w", size, len(rest), summary.ErrMalformed)
	}
	return rest[:size:size], rest[size:], nil
}

// decodeSize reads a varint in the shortest form.
func decodeSize(src []byte, limit int) (v int, rest []byte, err error) {
	u, used := binary.Uvarint(src)
	switch {
	case used <= 0 || used > 1 && src[used-1] == 0:
		return 0, nil, summary.ErrMalformed
	case u > uint64(limit):
		return 0, nil, summary.ErrLimit
	}
	return int(u), src[used:], nil
}

// countBytes is the size of v as a varint.
func countBytes(v int) int { return len(binary.AppendUvarint(nil, uint64(v))) }
