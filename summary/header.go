package summary

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// version is the version of all formats of this package, the first byte of a header.
const version = 2

// maxOrigin is the most bytes of an origin's id.
const maxOrigin = 128

// Header is the part of a summary that its origin signs, as the bytes of AppendBinary. The receiver verifies the
// signature, and that the signer is the Origin that ParseHeader reads.
type Header struct {
	Seed     SeedTag           // names the seed of the fingerprints
	Origin   string            // the origin's peer id, raw bytes, 1 to 128
	Epoch    Epoch             // orders the summaries of the origin
	Lifetime time.Duration     // whole seconds, below 2^32, counted from the first receipt
	N        int               // number of distinct fingerprints
	Shape    Shape             // without zero values that stand for a default
	Chain    [sha256.Size]byte // h_0, the hash that binds all parts: equal for equal parts
}

// check returns an error that tells the first fault of h; nil if there is none.
func (h *Header) check() error {
	switch {
	case h.Origin == "":
		return fmt.Errorf("summary: header: no origin: %w", ErrMalformed)
	case len(h.Origin) > maxOrigin:
		return fmt.Errorf("summary: header: origin of %d bytes, at most %d: %w", len(h.Origin), maxOrigin, ErrLimit)
	case h.Lifetime < 0 || h.Lifetime%time.Second != 0 || h.Lifetime/time.Second > math.MaxUint32:
		return fmt.Errorf("summary: header: lifetime %v: %w", h.Lifetime, ErrLimit)
	}
	return h.Shape.check(h.N)
}

// AppendBinary appends the canonical form of h, at most 512 bytes. O(bytes).
func (h Header) AppendBinary(b []byte) ([]byte, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	b = append(b, version)
	b = append(b, h.Seed.Network[:]...)
	b = binary.BigEndian.AppendUint32(b, h.Seed.Number)
	b = append(b, byte(len(h.Origin)))
	b = append(b, h.Origin...)
	b = binary.BigEndian.AppendUint32(b, h.Epoch.Generation)
	b = binary.BigEndian.AppendUint32(b, h.Epoch.Sequence)
	b = binary.BigEndian.AppendUint32(b, uint32(h.Lifetime/time.Second))
	b = binary.BigEndian.AppendUint32(b, uint32(h.N))
	b = binary.BigEndian.AppendUint32(b, uint32(h.Shape.Keys))
	b = binary.BigEndian.AppendUint32(b, uint32(h.Shape.SampleBytes))
	b = append(b, h.Shape.SampleLevel, byte(len(h.Shape.Levels)))
	b = append(b, h.Shape.Levels...)
	return append(b, h.Chain[:]...), nil
}

// ParseHeader is the inverse of AppendBinary. It accepts only bytes that AppendBinary writes: ErrVersion, ErrMalformed
// or ErrLimit otherwise. It allocates only the origin and the levels. O(bytes).
func ParseHeader(b []byte) (Header, error) {
	const fixed = 1 + 8 + 4 + 1 + 6*4 + 2 + sha256.Size
	if len(b) > 0 && b[0] != version {
		return Header{}, fmt.Errorf("summary: header: version %d, not %d: %w", b[0], version, ErrVersion)
	}
	if len(b) < fixed {
		return Header{}, fmt.Errorf("summary: header of %d bytes: %w", len(b), ErrMalformed)
	}
	origin := int(b[13])
	if len(b) < fixed+origin {
		return Header{}, fmt.Errorf("summary: header of %d bytes, origin of %d: %w", len(b), origin, ErrMalformed)
	}
	f := b[14+origin:] // the fields after the origin
	levels := int(f[25])
	if len(b) != fixed+origin+levels {
		return Header{}, fmt.Errorf("summary: header of %d bytes, not %d: %w", len(b), fixed+origin+levels, ErrMalformed)
	}
	if levels > maxBlocks || origin > maxOrigin {
		return Header{}, fmt.Errorf("summary: header: origin of %d bytes, %d blocks: %w", origin, levels, ErrLimit)
	}
	h := Header{
		Seed:     SeedTag{Network: [8]byte(b[1:9]), Number: binary.BigEndian.Uint32(b[9:])},
		Origin:   string(b[14 : 14+origin]),
		Epoch:    Epoch{binary.BigEndian.Uint32(f), binary.BigEndian.Uint32(f[4:])},
		Lifetime: time.Duration(binary.BigEndian.Uint32(f[8:])) * time.Second,
		N:        int(binary.BigEndian.Uint32(f[12:])),
		Shape: Shape{
			Keys:        int(binary.BigEndian.Uint32(f[16:])),
			SampleBytes: int(binary.BigEndian.Uint32(f[20:])),
			SampleLevel: f[24],
			Levels:      append([]uint8(nil), f[26:26+levels]...),
		},
		Chain: digest(f[26+levels:]),
	}
	if err := h.check(); err != nil {
		return Header{}, err
	}
	return h, nil
}
