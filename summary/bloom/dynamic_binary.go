package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The binary form of a Dynamic, all numbers little endian:
//
//	4 bytes  "vdb1"
//	33       the parameters of a batch, as in the binary form of a Filter
//	8        Threshold
//	8        keys in the last batch
//	4        batches
//	…        the words of each batch; unused bits of its last one are 0
//	4        CRC-32C of all before
const (
	dynamicMagic  = "vdb1"
	dynamicHeader = 4 + paramsBytes + 8 + 8 + 4
	maxBatches    = 1 << 22 // so that N stays far below 2^63
)

// encodedBytes is the length of the binary form in bytes.
func (d *Dynamic) encodedBytes() int {
	return dynamicHeader + len(d.batches)*8*len(d.batches[0].words) + crcBytes
}

// appendBinary appends the binary form to b; the error is always nil.
func (d *Dynamic) appendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = appendParams(append(b, dynamicMagic...), d.params.Batch)
	b = binary.LittleEndian.AppendUint64(b, uint64(d.params.Threshold))
	b = binary.LittleEndian.AppendUint64(b, uint64(d.last))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(d.batches)))
	for _, f := range d.batches {
		b = appendWords(b, f.words)
	}
	return appendCRC(b, start), nil
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
	p, err := readParams(body[4:])
	if err != nil {
		return err
	}
	threshold := binary.LittleEndian.Uint64(body[4+paramsBytes:])
	last := binary.LittleEndian.Uint64(body[12+paramsBytes:])
	batches := binary.LittleEndian.Uint32(body[20+paramsBytes:])
	if threshold < 1 || threshold > min(maxThreshold, math.MaxInt) || last > threshold || batches < 1 || batches > maxBatches {
		return fmt.Errorf("%w: %d of %d keys in the last of %d batches", ErrMalformed, last, threshold, batches)
	}
	body = body[dynamicHeader:]
	n := wordsFor(p.Bits())
	if len(body)%(8*n) != 0 || len(body)/(8*n) != int(batches) {
		return fmt.Errorf("%w: %d bytes for %d batches of %d bits", ErrMalformed, len(body), batches, p.Bits())
	}
	got := &Dynamic{params: DynamicParams{p, int(threshold)}}
	for range batches {
		got.begin()
		words := got.batches[len(got.batches)-1].words
		readWords(words, body)
		if err := checkPadding(words, p.Bits()); err != nil {
			return err
		}
		body = body[8*n:]
	}
	got.last = int(last)
	*d = *got
	return nil
}
