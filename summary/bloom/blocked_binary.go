package bloom

import (
	"encoding/binary"
	"fmt"
)

// The binary form of a Blocked, all numbers little endian:
//
//	4 bytes  "vkb1"
//	4        number of hash functions
//	8        number of blocks
//	16       Hasher
//	…        the words of each block
//	4        CRC-32C of all before
const (
	blockedMagic  = "vkb1"
	blockedHeader = 4 + 4 + 8 + 16
)

// MarshalBinary returns the binary form; the error is always nil. It implements encoding.BinaryMarshaler. O(m).
func (f *Blocked) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, blockedHeader+f.SizeBytes()+crcBytes)
	b = append(b, blockedMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(f.hashes))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(f.lines)))
	b = binary.LittleEndian.AppendUint64(b, f.seed.K0)
	b = binary.LittleEndian.AppendUint64(b, f.seed.K1)
	for i := range f.lines {
		b = appendWords(b, f.lines[i][:])
	}
	return appendCRC(b, 0), nil
}

// UnmarshalBinary makes f the filter whose binary form is data, all of it. On an error, matched by ErrMalformed, f is
// unchanged. It allocates no more than len(data). It implements encoding.BinaryUnmarshaler. O(m).
func (f *Blocked) UnmarshalBinary(data []byte) error {
	body, err := checkEnvelope(data, blockedMagic, blockedHeader)
	if err != nil {
		return err
	}
	hashes, lines := binary.LittleEndian.Uint32(body[4:]), binary.LittleEndian.Uint64(body[8:])
	words := body[blockedHeader:]
	if hashes < 1 || hashes > maxLineHashes || lines < 1 || lines > maxBits/lineBits || lines*64 != uint64(len(words)) {
		return fmt.Errorf("%w: %d bytes for %d blocks, %d hash functions", ErrMalformed, len(words), lines, hashes)
	}
	got := Blocked{
		lines: make([][8]uint64, lines), hashes: int(hashes),
		seed: Hasher{binary.LittleEndian.Uint64(body[16:]), binary.LittleEndian.Uint64(body[24:])},
	}
	for i := range got.lines {
		readWords(got.lines[i][:], words[64*i:])
	}
	*f = got
	return nil
}
