package frequency

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// errMalformed begins every error of UnmarshalBinary.
var errMalformed = errors.New("frequency: malformed bytes")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	magic  = "vcm2"
	header = 28
)

// appendBinary appends the binary form, seed included. Layout, little-endian: "vcm2"; width (4 bytes); depth and copies
// (2 bytes each); seed and total (8 bytes each). Then come the counters, 4 bytes each, row after row, and CRC-32C of
// all before. The error is always nil.
func (s *Sketch) appendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(s.p.Width))
	b = binary.LittleEndian.AppendUint16(b, uint16(s.p.Depth))
	b = binary.LittleEndian.AppendUint16(b, uint16(s.p.Copies))
	b = binary.LittleEndian.AppendUint64(b, s.p.Seed)
	b = binary.LittleEndian.AppendUint64(b, s.total)
	for _, c := range s.counts {
		b = binary.LittleEndian.AppendUint32(b, c)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli)), nil
}

// MarshalBinary returns the binary form; the error is always nil. It implements encoding.BinaryMarshaler. O(counters).
func (s *Sketch) MarshalBinary() ([]byte, error) {
	return s.appendBinary(make([]byte, 0, header+4*len(s.counts)+crc32.Size))
}

// UnmarshalBinary replaces the sketch by the one encoded in all of b. It allocates no more than about len(b); an error
// says what is wrong and leaves the sketch unchanged. O(counters).
func (s *Sketch) UnmarshalBinary(b []byte) error {
	if len(b) < header+crc32.Size || string(b[:4]) != magic {
		return fmt.Errorf("%w: no count-min header", errMalformed)
	}
	sum := binary.LittleEndian.Uint32(b[len(b)-crc32.Size:])
	if b = b[:len(b)-crc32.Size]; crc32.Checksum(b, castagnoli) != sum {
		return fmt.Errorf("%w: checksum differs", errMalformed)
	}
	p := Params{
		Width:  int(binary.LittleEndian.Uint32(b[4:])),
		Depth:  int(binary.LittleEndian.Uint16(b[8:])),
		Copies: int(binary.LittleEndian.Uint16(b[10:])),
		Seed:   binary.LittleEndian.Uint64(b[12:]),
	}
	total := binary.LittleEndian.Uint64(b[20:])
	b = b[header:]
	if err := p.check(); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	if want := 4 * p.Width * p.Depth * p.Copies; want != len(b) {
		return fmt.Errorf("%w: %d bytes of counters, want %d", errMalformed, len(b), want)
	}
	read, err := New(p)
	if err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	for i := range read.counts {
		read.counts[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	read.total = total
	*s = *read
	return nil
}
