package bloom

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// The binary form of a Dynamic, all numbers little endian:
//
//	4 bytes  "vdb2"
//	33       the parameters of a batch, as in the binary form of a Filter
//	8        Threshold
//	8        keys in the last batch
//	8        by how many keys the frozen batches are below Threshold, in all
//	4        batches
//	…        the words of each batch; unused bits of its last one are 0
//	4        CRC-32C of all before
const (
	dynamicMagic  = "vdb2"
	dynamicHeader = 4 + paramsBytes + 8 + 8 + 8 + 4
	maxBatches    = 1 << 22 // so that N stays far below 2^63
)

// encodedBytes is the length of the binary form in bytes.
func (d *Dynamic) encodedBytes() int {
	return dynamicHeader + len(d.batches)*8*len(d.batches[0].words) + crcBytes
}

// appendBinary appends the binary form to b; the error is always nil.
func (d *Dynamic) appendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = d.appendHead(b)
	for _, f := range d.batches {
		b = appendWords(b, f.words)
	}
	return appendCRC(b, start), nil
}

func (d *Dynamic) appendHead(b []byte) []byte {
	b = appendParams(append(b, dynamicMagic...), d.params.Batch)
	b = binary.LittleEndian.AppendUint64(b, uint64(d.params.Threshold))
	b = binary.LittleEndian.AppendUint64(b, uint64(d.last))
	b = binary.LittleEndian.AppendUint64(b, uint64(d.missing))
	return binary.LittleEndian.AppendUint32(b, uint32(len(d.batches)))
}

// MarshalBinary returns the binary form; the error is always nil. It implements encoding.BinaryMarshaler.
func (d *Dynamic) MarshalBinary() ([]byte, error) {
	return d.appendBinary(make([]byte, 0, d.encodedBytes()))
}

// UnmarshalBinary makes d the filter whose binary form is data, all of it. On an error, matched by ErrMalformed, d is
// unchanged. It allocates no more than len(data), 128 bytes a batch,
// and the table of hash functions, at most 16 KiB. It implements encoding.BinaryUnmarshaler.
func (d *Dynamic) UnmarshalBinary(data []byte) error {
	body, err := checkEnvelope(data, dynamicMagic, dynamicHeader)
	if err != nil {
		return err
	}
	got, batches, err := readDynamicHead(body)
	if err != nil {
		return err
	}
	body = body[dynamicHeader:]
	bits := got.params.Batch.Bits()
	n := wordsFor(bits)
	if len(body)%(8*n) != 0 || len(body)/(8*n) != batches {
		return fmt.Errorf("%w: %d bytes for %d batches of %d bits", ErrMalformed, len(body), batches, bits)
	}
	last := got.last // begin sets it to 0
	for range batches {
		got.begin()
		words := got.batches[len(got.batches)-1].words
		readWords(words, body)
		if err := checkPadding(words, bits); err != nil {
			return err
		}
		body = body[8*n:]
	}
	got.last = last
	*d = *got
	return nil
}

// readDynamicHead reads dynamicHeader bytes: a filter without batches, and how many it has.
func readDynamicHead(b []byte) (d *Dynamic, count int, err error) {
	p, err := readParams(b[4:])
	if err != nil {
		return nil, 0, err
	}
	threshold := binary.LittleEndian.Uint64(b[4+paramsBytes:])
	last := binary.LittleEndian.Uint64(b[12+paramsBytes:])
	missing := binary.LittleEndian.Uint64(b[20+paramsBytes:])
	batches := binary.LittleEndian.Uint32(b[28+paramsBytes:])
	if threshold < 1 || threshold > min(maxThreshold, math.MaxInt) || last > threshold || batches < 1 || batches > maxBatches {
		return nil, 0, fmt.Errorf("%w: %d of %d keys in the last of %d batches", ErrMalformed, last, threshold, batches)
	}
	if missing > min(uint64(batches-1)*(threshold-1), math.MaxInt) {
		return nil, 0, fmt.Errorf("%w: %d keys missing in %d batches", ErrMalformed, missing, batches)
	}
	d = &Dynamic{params: DynamicParams{p, int(threshold)}, last: int(last), missing: int(missing)}
	return d, int(batches), nil
}

// WriteTo writes the binary form to w in pieces of at most 64 KiB. It implements io.WriterTo.
func (d *Dynamic) WriteTo(w io.Writer) (int64, error) {
	var arrays [][]uint64
	for _, f := range d.batches {
		arrays = append(arrays, f.words)
	}
	return writeForm(w, d.appendHead(nil), arrays...)
}

// ReadFrom makes d the filter whose binary form r yields next, and reads no byte more. Errors and memory are as in
// Filter.ReadFrom. It implements io.ReaderFrom.
func (d *Dynamic) ReadFrom(r io.Reader) (int64, error) {
	in := &summingReader{r: r}
	var head [dynamicHeader]byte
	if err := in.full(head[:]); err != nil {
		return in.n, err
	}
	if string(head[:4]) != dynamicMagic {
		return in.n, fmt.Errorf("%w: begins with %q, not %q", ErrMalformed, head[:4], dynamicMagic)
	}
	got, batches, err := readDynamicHead(head[:])
	if err != nil {
		return in.n, err
	}
	bits := got.params.Batch.Bits()
	for range batches {
		words, err := in.words(wordsFor(bits))
		if err == nil {
			err = checkPadding(words, bits)
		}
		if err != nil {
			return in.n, err
		}
		if len(got.batches) == 0 {
			got.batches = append(got.batches, newFilter(got.params.Batch, words))
			continue
		}
		next := *got.batches[0] // with its table of hash functions
		next.words = words
		got.batches = append(got.batches, &next)
	}
	if err := in.checkSum(); err != nil {
		return in.n, err
	}
	*d = *got
	return in.n, nil
}
