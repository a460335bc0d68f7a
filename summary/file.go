package summary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrFile is of bytes that do not begin as the kind of file asked for.
var ErrFile = errors.New("wrong kind of file")

// MaxFile is the most bytes that a file can have.
const MaxFile = MaxEnvelope + MaxParts*(maxPartBytes+4)

// FileKind is what a file holds, the fifth of its bytes.
type FileKind byte

// The kinds of files.
const (
	SummaryFile FileKind = 'S'
	DeltaFile   FileKind = 'D'
)

// String is "summary" or "delta".
func (k FileKind) String() string {
	switch k {
	case SummaryFile:
		return "summary"
	case DeltaFile:
		return "delta"
	}
	return fmt.Sprintf("file of kind %q", byte(k))
}

// fileMagic is how every file begins; its kind and Version follow.
const fileMagic = "venn"

// FileHead is how many bytes [KindOf] needs.
const FileHead = len(fileMagic) + 2

// KindOf is what a file that begins with b holds: ErrFile if it is none of ours, ErrVersion if it is of a later
// version.
func KindOf(b []byte) (FileKind, error) {
	if len(b) < FileHead || string(b[:len(fileMagic)]) != fileMagic {
		return 0, fmt.Errorf("summary: neither a summary nor a delta: %w", ErrFile)
	}
	kind, version := FileKind(b[4]), b[5]
	switch {
	case kind != SummaryFile && kind != DeltaFile:
		return 0, fmt.Errorf("summary: a %v: %w", kind, ErrFile)
	case version != Version:
		return 0, fmt.Errorf("summary: file of version %d: %w", version, ErrVersion)
	}
	return kind, nil
}

// File is a summary at rest: its signed header and the first parts. Whether they are genuine only [OpenHeader] and
// [Prefix.Extend] can tell.
type File struct {
	Envelope []byte // signed header
	Run      Run    // parts from 0 on
}

// AppendBinary appends the canonical form of f: the head, the size of the envelope, the envelope, the run.
func (f File) AppendBinary(b []byte) []byte {
	return f.Run.AppendBinary(appendFileHead(b, SummaryFile, f.Envelope))
}

// Sizes are the bytes of the file cut to its first 0, 1, … parts. O(parts).
func (f File) Sizes() []int {
	fixed := len(appendFileHead(nil, SummaryFile, f.Envelope)) + countBytes(f.Run.First) + len(Digest{})
	sizes := []int{fixed + countBytes(0)}
	bytes := 0
	for i, p := range f.Run.Parts {
		bytes += countBytes(len(p)) + len(p)
		sizes = append(sizes, fixed+countBytes(i+1)+bytes)
	}
	return sizes
}

// Offsets are where in the file the bytes of each part begin. O(parts).
func (f File) Offsets() []int {
	at := len(appendFileHead(nil, SummaryFile, f.Envelope)) + countBytes(f.Run.First) + countBytes(len(f.Run.Parts))
	var offsets []int
	for _, p := range f.Run.Parts {
		at += countBytes(len(p))
		offsets = append(offsets, at)
		at += len(p)
	}
	return offsets
}

// ParseFile is the inverse of AppendBinary; the result shares memory with b. ErrFile, ErrVersion, ErrLimit or
// ErrMalformed.
func ParseFile(b []byte) (File, error) {
	envelope, rest, err := parseFileHead(b, SummaryFile)
	if err != nil {
		return File{}, err
	}
	r, err := ParseRun(rest)
	if err != nil {
		return File{}, err
	}
	if r.First != 0 {
		return File{}, fmt.Errorf("summary: file that begins with part %d: %w", r.First, ErrMalformed)
	}
	return File{envelope, r}, nil
}

// Delta is a delta at rest: the signed header of the new epoch, and what [EncodeDelta] wrote.
type Delta struct {
	Envelope []byte
	Changes  []byte
}

// AppendBinary appends the canonical form of d: the head, the size of the envelope, the envelope, the changes.
func (d Delta) AppendBinary(b []byte) []byte {
	return append(appendFileHead(b, DeltaFile, d.Envelope), d.Changes...)
}

// ParseDelta is the inverse of AppendBinary; the result shares memory with b. ErrFile, ErrVersion, ErrLimit or
// ErrMalformed. Only [ApplyDelta] can tell whether the changes are any.
func ParseDelta(b []byte) (Delta, error) {
	envelope, rest, err := parseFileHead(b, DeltaFile)
	if err != nil {
		return Delta{}, err
	}
	return Delta{envelope, rest}, nil
}

func appendFileHead(b []byte, kind FileKind, envelope []byte) []byte {
	b = append(b, fileMagic...)
	b = append(b, byte(kind), Version)
	b = binary.AppendUvarint(b, uint64(len(envelope)))
	return append(b, envelope...)
}

// parseFileHead is the envelope of a file of some kind, and what follows it.
func parseFileHead(b []byte, want FileKind) (envelope, rest []byte, err error) {
	kind, err := KindOf(b)
	if err != nil {
		return nil, nil, err
	}
	if kind != want {
		return nil, nil, fmt.Errorf("summary: a %v, not a %v: %w", kind, want, ErrFile)
	}
	size, rest, err := decodeSize(b[FileHead:], MaxEnvelope)
	if err != nil {
		return nil, nil, fmt.Errorf("summary: size of the envelope: %w", err)
	}
	if size > len(rest) {
		return nil, nil, fmt.Errorf("summary: envelope of %d bytes, %d left: %w", size, len(rest), ErrMalformed)
	}
	return rest[:size:size], rest[size:], nil
}

// Entropy is the least number of bits that can encode what p knows: for every block and level, m H(t/m) for t nodes
// known among m possible ones. It is 0 when nothing is known, and the entropy of the deepest levels when no part is
// missing.
func (p *Prefix) Entropy() float64 {
	bits := 0.0
	for _, t := range p.tries {
		nodes, places := map[int]float64{}, map[int]float64{}
		t.each(func(s *set, begin, end int) {
			nodes[s.depth] += float64(s.countCells(begin, end))
			places[s.depth] += math.Ldexp(float64(end-begin), s.depth)
		})
		for depth := range MaxLevel + 1 { // in order, so that the sum is the same each time
			bits += arrayEntropy(nodes[depth], places[depth])
		}
	}
	return bits
}

// arrayEntropy is m H(t/m), the entropy of an array of m bits with t ones.
func arrayEntropy(t, m float64) float64 {
	if t <= 0 || t >= m {
		return 0
	}
	return float64(t*math.Log2(m/t)) - float64((m-t)*math.Log1p(-t/m)/math.Ln2)
}
