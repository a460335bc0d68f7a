package bloom

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// The binary form of a Filter, all numbers little endian:
//
//	4 bytes   "vbf2"
//	1         0: the hash functions
//	4         Blocks
//	4         Hashes
//	8         BlockBits
//	16        Hasher
//	3         0: the words begin at a multiple of eight
//	⌈m/64⌉·8  the words; unused bits of the last one are 0
//	4         CRC-32C of all before
const (
	filterMagic = "vbf2"
	headerBytes = 4 + paramsBytes + 3
	paramsBytes = 1 + 4 + 4 + 8 + 16
	crcBytes    = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendParams(b []byte, p Params) []byte {
	b = append(b, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Blocks))
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Hashes))
	b = binary.LittleEndian.AppendUint64(b, p.BlockBits)
	b = binary.LittleEndian.AppendUint64(b, p.Hasher.K0)
	return binary.LittleEndian.AppendUint64(b, p.Hasher.K1)
}

// readParams reads paramsBytes bytes and checks all parameters.
func readParams(b []byte) (Params, error) {
	if b[0] != 0 {
		return Params{}, fmt.Errorf("%w: hash functions of kind %d", ErrMalformed, b[0])
	}
	p := Params{
		Blocks:    int(binary.LittleEndian.Uint32(b[1:])),
		Hashes:    int(binary.LittleEndian.Uint32(b[5:])),
		BlockBits: binary.LittleEndian.Uint64(b[9:]),
		Hasher:    Hasher{binary.LittleEndian.Uint64(b[17:]), binary.LittleEndian.Uint64(b[25:])},
	}
	if err := p.Check(); err != nil {
		return Params{}, fmt.Errorf("%w: parameters: %w", ErrMalformed, err)
	}
	return p, nil
}

func appendHead(b []byte, p Params) []byte {
	return append(appendParams(append(b, filterMagic...), p), 0, 0, 0)
}

// readHead reads headerBytes bytes.
func readHead(b []byte) (Params, error) {
	if string(b[:4]) != filterMagic {
		return Params{}, fmt.Errorf("%w: begins with %q, not %q", ErrMalformed, b[:4], filterMagic)
	}
	if b[headerBytes-3]|b[headerBytes-2]|b[headerBytes-1] != 0 {
		return Params{}, fmt.Errorf("%w: header padded with ones", ErrMalformed)
	}
	return readParams(b[4:])
}

func appendWords(b []byte, words []uint64) []byte {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// readWords fills words from the start of b, which is long enough.
func readWords(words []uint64, b []byte) {
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// wordsIn returns the words in b.
func wordsIn(b []byte) []uint64 {
	words := make([]uint64, len(b)/8)
	readWords(words, b)
	return words
}

// checkPadding refuses bits set after the first n.
func checkPadding(words []uint64, n uint64) error {
	if words[len(words)-1]&^lowMask(n) != 0 {
		return fmt.Errorf("%w: bits set past the end, bit %d", ErrMalformed, n)
	}
	return nil
}

func appendCRC(b []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// MarshalBinary returns the binary form; the error is always nil. It implements encoding.BinaryMarshaler. O(m).
func (f *View) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, headerBytes+f.SizeBytes()+crcBytes)
	return appendCRC(appendWords(appendHead(b, f.params), f.words), 0), nil
}

// UnmarshalBinary makes f the filter whose binary form is data, all of it. On an error, matched by ErrMalformed, f is
// unchanged. It allocates no more than len(data) and the table of hash functions, at most 16 KiB. It implements
// encoding.BinaryUnmarshaler. O(m).
func (f *Filter) UnmarshalBinary(data []byte) error {
	if _, err := checkEnvelope(data, filterMagic, headerBytes); err != nil {
		return err
	}
	v, err := openView(data, wordsIn)
	if err == nil {
		*f = Filter{*v}
	}
	return err
}

// checkEnvelope checks length, magic and checksum, and returns data without the checksum.
func checkEnvelope(data []byte, magic string, header int) ([]byte, error) {
	if len(data) < header+crcBytes {
		return nil, fmt.Errorf("%w: %d bytes are too few", ErrMalformed, len(data))
	}
	if string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: begins with %q, not %q", ErrMalformed, data[:len(magic)], magic)
	}
	body, sum := data[:len(data)-crcBytes], data[len(data)-crcBytes:]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(sum) {
		return nil, fmt.Errorf("%w: checksum differs", ErrMalformed)
	}
	return body, nil
}
