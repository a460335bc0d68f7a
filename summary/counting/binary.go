package counting

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// errMalformed begins every error about bytes that no filter of this package encodes to.
var errMalformed = errors.New("counting: malformed bytes")

const (
	dleftMagic  = "vdl2"
	dleftHeader = 20
)

// appendBinary appends the filter's binary form, seed included: it is for its owner's disk, not for others. The error
// is always nil. Layout, little-endian:
//
//	4 bytes  "vdl2"
//	5        d, log2 of the buckets, cells, r, c
//	3        0
//	8        seed
//	…        the cells, packed as in memory, with zero bits to the end of the last byte
//	4        CRC-32C of all before
func (t *DLeft) appendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = append(b, dleftMagic...)
	b = append(b, byte(t.subtables), byte(t.bucketBits), byte(t.cells), byte(t.remainderBits), byte(t.counterBits), 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, t.seed)
	return appendSum(append(b, t.bytes[:len(t.bytes)-padding]...), start), nil
}

// MarshalBinary returns the binary form; the error is always nil. It implements encoding.BinaryMarshaler. O(cells).
func (t *DLeft) MarshalBinary() ([]byte, error) {
	return t.appendBinary(make([]byte, 0, dleftHeader+t.SizeBytes()+crc32.Size))
}

// UnmarshalBinary replaces the filter by the one encoded in all of b. It allocates no more than about len(b), and
// checks that no fingerprint is there twice (one lookup each). Anything that Add and Remove could not have left is an
// error, and the filter is unchanged. O(cells).
//
// Params.Fixed is false afterwards, so Add may double the filter. One that must keep its form is made by NewDLeft with
// Fixed and given the members again, from All and Count of what was read.
func (t *DLeft) UnmarshalBinary(data []byte) error {
	b, err := checkSum(data)
	if err != nil {
		return err
	}
	p, err := parseDLeftHeader(b)
	if err != nil {
		return err
	}
	cells := b[dleftHeader:]
	if uint64(len(cells)) != p.tableBytes() {
		return fmt.Errorf("%w: %d bytes of cells, want %d", errMalformed, len(cells), p.tableBytes())
	}
	read := DLeft{table: newTable(p), perms: newPermutations(p), seed: p.Seed}
	copy(read.bytes, cells)
	if err := read.recount(); err != nil {
		return err
	}
	*t = read
	return nil
}

func parseDLeftHeader(b []byte) (Params, error) {
	if len(b) < dleftHeader || string(b[:4]) != dleftMagic {
		return Params{}, fmt.Errorf("%w: no d-left header", errMalformed)
	}
	if b[5] > 32 || b[9]|b[10]|b[11] != 0 {
		return Params{}, fmt.Errorf("%w: d-left header out of range", errMalformed)
	}
	p := Params{
		Subtables: int(b[4]), Buckets: 1 << b[5], Cells: int(b[6]), RemainderBits: int(b[7]), CounterBits: int(b[8]),
		Seed: binary.LittleEndian.Uint64(b[12:]),
	}
	if err := p.check(); err != nil {
		return Params{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return p, nil
}

// recount sets the counts from the cells and refuses what breaks the table's rules.
func (t *DLeft) recount() error {
	cells := t.buckets() * uint64(t.cells)
	if used := cells * uint64(t.cellBits) % 8; used != 0 && t.bytes[t.SizeBytes()-1]>>used != 0 {
		return fmt.Errorf("%w: bits after the last cell", errMalformed)
	}
	for b := range t.buckets() {
		free := false
		for cell := range t.cells {
			v := t.get(b, cell)
			if v == 0 {
				free = true
				continue
			}
			if free {
				return fmt.Errorf("%w: bucket %d: a cell taken after a free one", errMalformed, b)
			}
			f := t.fingerprint(int(b>>t.bucketBits), b, v)
			if first, at := t.find(f); first != b || at != cell {
				return fmt.Errorf("%w: bucket %d: fingerprint %#x is there twice", errMalformed, b, f)
			}
			t.distinct++
			t.members += t.count(v)
		}
	}
	return nil
}
