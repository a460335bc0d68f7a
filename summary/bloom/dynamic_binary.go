package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// The binary form of a Dynamic, all numbers little endian. Window is not part of it: a filter that is read keeps all
// keys.
//
//	4 bytes  "vdb2"
//	33       the parameters of a batch
//	8        Threshold
//	8        keys in the last batch
//	8        keys that the frozen batches are below Threshold, in all
//	4        batches
//	…        the words of each batch
//	4        CRC-32C of all before
const (
	dynamicMagic  = "vdb2"
	dynamicHeader = 4 + paramsBytes + 8 + 8 + 8 + 4
	maxBatches    = 1 << 22 // so that N stays far below 2^63
)

// MarshalBinary returns the binary form; the error is always nil. It implements encoding.BinaryMarshaler. O(bits).
func (d *Dynamic) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, dynamicHeader+d.SizeBytes()+crcBytes)
	b = appendParams(append(b, dynamicMagic...), d.params.Batch)
	b = binary.LittleEndian.AppendUint64(b, uint64(d.params.Threshold))
	last, missing := 0, 0
	for i, batch := range d.batches {
		if last = batch.keys; i < len(d.batches)-1 {
			missing += d.params.Threshold - batch.keys
		}
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(last))
	b = binary.LittleEndian.AppendUint64(b, uint64(missing))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(d.batches)))
	for _, batch := range d.batches {
		b = appendWords(b, batch.words)
	}
	return appendCRC(b, 0), nil
}

// UnmarshalBinary makes d the filter whose binary form is data, all of it. On an error, matched by ErrMalformed, d is
// unchanged. It allocates no more than len(data), the table of hash functions, and 128 bytes a batch. It implements
// encoding.BinaryUnmarshaler. O(bits).
//
// The filter that is read has no Window, and forgets nothing. To go on with one, make a filter by NewDynamic with the
// Window, and Merge what was read into it.
func (d *Dynamic) UnmarshalBinary(data []byte) error {
	body, err := checkEnvelope(data, dynamicMagic, dynamicHeader)
	if err != nil {
		return err
	}
	p, err := readParams(body[4:])
	if err != nil {
		return err
	}
	head := body[4+paramsBytes:]
	threshold, last := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:])
	missing, batches := binary.LittleEndian.Uint64(head[16:]), binary.LittleEndian.Uint32(head[24:])
	body = body[dynamicHeader:]
	if threshold < 1 || threshold > min(maxThreshold, math.MaxInt) || last > threshold || batches < 1 || batches > maxBatches {
		return fmt.Errorf("%w: %d of %d keys in the last of %d batches", ErrMalformed, last, threshold, batches)
	}
	if missing > min(uint64(batches-1)*(threshold-1), math.MaxInt) {
		return fmt.Errorf("%w: %d keys missing in %d batches", ErrMalformed, missing, batches)
	}
	n := wordsFor(p.Bits())
	if uint64(len(body)) != uint64(batches)*8*uint64(n) {
		return fmt.Errorf("%w: %d bytes for %d batches of %d bits", ErrMalformed, len(body), batches, p.Bits())
	}
	got := &Dynamic{params: DynamicParams{Batch: p, Threshold: int(threshold)}}
	for len(body) > 0 {
		words := wordsIn(body[:8*n])
		if err := checkPadding(words, p.Bits()); err != nil {
			return err
		}
		got.append(words, int(threshold))
		body = body[8*n:]
	}
	got.last().keys = int(last)
	got.share(int(missing))
	*d = *got
	return nil
}

// share subtracts the missing keys from the frozen batches. The form does not record which batches lack them, so it
// takes the latest: then Len is never too high.
func (d *Dynamic) share(missing int) {
	for i := range slices.Backward(d.batches[:len(d.batches)-1]) {
		some := min(missing, d.params.Threshold-1)
		d.batches[i].keys -= some
		missing -= some
	}
}
