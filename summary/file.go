package summary

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
)

// File is the content of a .venn file or a pipe, as FORMAT.md specifies: a summary, or a delta if Delta is not nil.
type File struct {
	Envelope []byte // signed header, at most 1024 bytes; of the new epoch if the file holds a delta
	Run      Run    // first parts of a summary; unused if the file holds a delta
	Delta    []byte // a relative run in binary form; nil in the file of a summary
}

// Errors about files.
var (
	// ErrKind is for bytes that do not begin as a file of this package does.
	ErrKind = errors.New("neither a summary nor a delta")
	// ErrSignature is for a header that is not signed by its origin.
	ErrSignature = errors.New("not signed by its origin")
)

// maxEnvelope is the most bytes of a signed header.
const maxEnvelope = 1024

// The beginning of a file: magic, the kind, the version.
const (
	fileMagic   = "venn"
	fileSummary = 'S'
	fileDelta   = 'D'
	fileVersion = 2
)

// AppendBinary appends the canonical form of f. O(bytes).
func (f File) AppendBinary(b []byte) []byte {
	kind := byte(fileSummary)
	if f.Delta != nil {
		kind = fileDelta
	}
	b = append(append(b, fileMagic...), kind, fileVersion)
	b = binary.AppendUvarint(b, uint64(len(f.Envelope)))
	b = append(b, f.Envelope...)
	if f.Delta != nil {
		return append(b, f.Delta...)
	}
	return f.Run.AppendBinary(b)
}

// ParseFile is the inverse of AppendBinary; the result shares memory with b, which may be a mapped file. It returns
// ErrKind, ErrVersion, ErrLimit or ErrMalformed. The parts are not verified: [Prefix.Extend] and
// [Prefix.ExtendRelative] do that against the header. The first six bytes are enough for ErrKind and ErrVersion.
// O(parts).
func ParseFile(b []byte) (File, error) {
	const head = len(fileMagic) + 2
	if len(b) < head || string(b[:len(fileMagic)]) != fileMagic || b[4] != fileSummary && b[4] != fileDelta {
		return File{}, fmt.Errorf("summary: file: %w", ErrKind)
	}
	if b[5] != fileVersion {
		return File{}, fmt.Errorf("summary: file of version %d, not %d: %w", b[5], fileVersion, ErrVersion)
	}
	size, rest, err := decodeSize(b[head:], maxEnvelope)
	if err != nil {
		return File{}, fmt.Errorf("summary: file: size of the envelope: %w", err)
	}
	if size > len(rest) {
		return File{}, fmt.Errorf("summary: file: envelope of %d bytes, %d left: %w", size, len(rest), ErrMalformed)
	}
	f := File{Envelope: rest[:size:size]}
	if rest = rest[size:]; b[4] == fileDelta {
		f.Delta = rest
		return f, nil
	}
	if f.Run, err = ParseRun(rest); err != nil {
		return File{}, err
	}
	if f.Run.First != 0 {
		return File{}, fmt.Errorf("summary: file that begins with part %d: %w", f.Run.First, ErrMalformed)
	}
	return f, nil
}

// keyType begins an Ed25519 key in libp2p's protocol buffer.
const keyType = "\x08\x01\x12\x20"

// Header verifies the signature of the origin and returns the header in the envelope. It knows only Ed25519 keys, which
// peers have by default: a key of another kind is ErrSignature. Other errors are those of ParseSigned. It verifies one
// signature.
func (f File) Header() (Header, error) {
	h, key, message, signature, err := ParseSigned(f.Envelope)
	if err != nil {
		return Header{}, err
	}
	key, isEd25519 := bytes.CutPrefix(key, []byte(keyType))
	switch {
	case !isEd25519 || len(key) != ed25519.PublicKeySize:
		return Header{}, fmt.Errorf("summary: signed header: no Ed25519 key: %w", ErrSignature)
	case !ed25519.Verify(key, message, signature):
		return Header{}, fmt.Errorf("summary: signed header: another signature: %w", ErrSignature)
	}
	return h, nil
}
