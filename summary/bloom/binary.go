package bloom

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// The binary form of a Filter, all numbers little endian:
//
//	4 bytes   "vbf2"
//	1         0: the hash functions
//	4         Blocks
//	4         Hashes
//	8         BlockBits
//	16        Seed
//	3         0: the words begin at a multiple of eight
//	⌈m/64⌉·8  the words; unused bits of the last one are 0
//	4         CRC-32C of all before
const (
	filterMagic = "vbf2"
	headerBytes = 4 + paramsBytes + 3
	paramsBytes = 1 + 4 + 4 + 8 + 16
	crcBytes    = 4
	chunkWords  = 1 << 13 // words read or written at once
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendParams(b []byte, p Params) []byte {
	b = append(b, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Blocks))
	b = binary.LittleEndian.AppendUint32(b, uint32(p.Hashes))
	b = binary.LittleEndian.AppendUint64(b, p.BlockBits)
	b = binary.LittleEndian.AppendUint64(b, p.Seed.K0)
	return binary.LittleEndian.AppendUint64(b, p.Seed.K1)
}

// readParams reads paramsBytes bytes and checks all that they say.
func readParams(b []byte) (Params, error) {
	if b[0] != 0 {
		return Params{}, fmt.Errorf("%w: hash functions of kind %d", ErrMalformed, b[0])
	}
	p := Params{
		Blocks:    int(binary.LittleEndian.Uint32(b[1:])),
		Hashes:    int(binary.LittleEndian.Uint32(b[5:])),
		BlockBits: binary.LittleEndian.Uint64(b[9:]),
		Seed:      Seed{binary.LittleEndian.Uint64(b[17:]), binary.LittleEndian.Uint64(b[25:])},
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

// checkPadding refuses bits set after the first n.
func checkPadding(words []uint64, n uint64) error {
	if words[len(words)-1]&^lowMask(n) != 0 {
		return fmt.Errorf("%w: bits set past the end, bit %d", ErrMalformed, n)
	}
	return nil
}

// encodedBytes is the length of the binary form in bytes.
func (f *Filter) encodedBytes() int { return headerBytes + 8*len(f.words) + crcBytes }

// appendBinary appends the binary form to b; the error is always nil.
func (f *Filter) appendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = appendHead(b, f.params)
	b = appendWords(b, f.words)
	return appendCRC(b, start), nil
}

func appendCRC(b []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// MarshalBinary returns the binary form; the error is always nil. It implements encoding.BinaryMarshaler. O(m).
func (f *Filter) MarshalBinary() ([]byte, error) {
	return f.appendBinary(make([]byte, 0, f.encodedBytes()))
}

// UnmarshalBinary makes f the filter whose binary form is data, all of it. On an error, matched by ErrMalformed, f is
// unchanged. It allocates no more than len(data) and the table of hash functions, at most 16 KiB. It implements
// encoding.BinaryUnmarshaler. O(m).
func (f *Filter) UnmarshalBinary(data []byte) error {
	body, err := checkEnvelope(data, filterMagic, headerBytes)
	if err != nil {
		return err
	}
	p, err := readHead(body)
	if err != nil {
		return err
	}
	body = body[headerBytes:]
	n := wordsFor(p.Bits())
	if len(body) != 8*n {
		return fmt.Errorf("%w: %d bytes for a filter of %d bits, not %d", ErrMalformed, len(body), p.Bits(), 8*n)
	}
	words := make([]uint64, n)
	readWords(words, body)
	if err := checkPadding(words, p.Bits()); err != nil {
		return err
	}
	*f = *newFilter(p, words)
	return nil
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

// WriteTo writes the binary form to w in pieces of at most 64 KiB. It implements io.WriterTo. O(m); the errors are
// those of w.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	return writeForm(w, appendHead(nil, f.params), f.words)
}

// writeForm writes a head, arrays of words and the checksum, in pieces.
func writeForm(w io.Writer, head []byte, arrays ...[]uint64) (written int64, err error) {
	var crc uint32
	write := func(b []byte) {
		if err == nil {
			var n int
			crc = crc32.Update(crc, castagnoli, b)
			n, err = w.Write(b)
			written += int64(n)
		}
	}
	write(head)
	buf := make([]byte, 0, 8*min(chunkWords, len(arrays[0])))
	for _, words := range arrays {
		for len(words) > 0 && err == nil {
			n := min(chunkWords, len(words))
			buf = appendWords(buf[:0], words[:n])
			write(buf)
			words = words[n:]
		}
	}
	write(binary.LittleEndian.AppendUint32(nil, crc))
	return written, err
}

// ReadFrom makes f the filter whose binary form r yields next, and reads no byte more. On an error f is unchanged: r's
// own, io.ErrUnexpectedEOF for a stream that ends early, or one matched by ErrMalformed. Memory grows with the bytes
// that arrive, not with what the header claims. It implements io.ReaderFrom. O(m).
func (f *Filter) ReadFrom(r io.Reader) (int64, error) {
	in := &summingReader{r: r}
	var header [headerBytes]byte
	if err := in.full(header[:]); err != nil {
		return in.n, err
	}
	p, err := readHead(header[:])
	if err != nil {
		return in.n, err
	}
	words, err := in.words(wordsFor(p.Bits()))
	if err != nil {
		return in.n, err
	}
	if err := in.checkSum(); err != nil {
		return in.n, err
	}
	if err := checkPadding(words, p.Bits()); err != nil {
		return in.n, err
	}
	*f = *newFilter(p, words)
	return in.n, nil
}

// summingReader counts what it reads and keeps its checksum.
type summingReader struct {
	r   io.Reader
	n   int64
	crc uint32
}

func (s *summingReader) full(b []byte) error {
	n, err := io.ReadFull(s.r, b)
	s.n += int64(n)
	if err == io.EOF && s.n > 0 {
		err = io.ErrUnexpectedEOF
	}
	s.crc = crc32.Update(s.crc, castagnoli, b[:n])
	return err
}

// words reads n words, piece by piece.
func (s *summingReader) words(n int) ([]uint64, error) {
	var words []uint64
	buf := make([]byte, 8*min(n, chunkWords))
	for len(words) < n {
		piece := min(n-len(words), chunkWords)
		if err := s.full(buf[:8*piece]); err != nil {
			return nil, err
		}
		words = append(words, make([]uint64, piece)...)
		readWords(words[len(words)-piece:], buf)
	}
	return words, nil
}

// checkSum reads the checksum and compares it with that of all before.
func (s *summingReader) checkSum() error {
	crc := s.crc
	var sum [crcBytes]byte
	if err := s.full(sum[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(sum[:]) != crc {
		return fmt.Errorf("%w: checksum differs", ErrMalformed)
	}
	return nil
}
