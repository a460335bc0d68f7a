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
//	8        sum over the frozen batches of the keys that they lack to Threshold
//	4        number of batches
//	…        the words of each batch
//	4        CRC-32C of all before
const (
	dynamicMagic  = "vdb2"
	dynamicHeader = 4 + paramsBytes + 8 + 8 + 8 + 4
	maxBatches    = 1 << 22 // so that Len stays below 2^63
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
	h, err := readDynamicHead(body)
	if err != nil {
		return err
	}
	bits, words := h.batch.Bits(), body[dynamicHeader:]
	size := 8 * wordsFor(bits)
	if uint64(len(words)) != uint64(h.batches)*uint64(size) {
		return fmt.Errorf("%w: %d bytes for %d batches of %d bits", ErrMalformed, len(words), h.batches, bits)
	}
	got := Dynamic{params: DynamicParams{Batch: h.batch, Threshold: h.threshold}}
	for some := range slices.Chunk(words, size) {
		batch := wordsIn(some)
		if err := checkPadding(batch, bits); err != nil {
			return err
		}
		got.append(batch, h.threshold)
	}
	got.last().keys = h.last
	got.share(h.missing)
	*d = got
	return nil
}

// dynamicHead is the binary form before the batches, without its magic.
type dynamicHead struct {
	batch                    Params
	threshold, last, missing int // keys
	batches                  uint32
}

// readDynamicHead reads dynamicHeader bytes, and checks the range of each number. It does not check the batches.
func readDynamicHead(b []byte) (h dynamicHead, err error) {
	if h.batch, err = readParams(b[4:]); err != nil {
		return h, err
	}
	b = b[4+paramsBytes:]
	threshold, last, missing := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
	h.batches = binary.LittleEndian.Uint32(b[24:])
	if threshold < 1 || threshold > min(maxThreshold, math.MaxInt) || last > threshold || h.batches < 1 || h.batches > maxBatches {
		return h, fmt.Errorf("%w: %d of %d keys in the last of %d batches", ErrMalformed, last, threshold, h.batches)
	}
	if missing > min(uint64(h.batches-1)*(threshold-1), math.MaxInt) {
		return h, fmt.Errorf("%w: %d keys missing in %d batches", ErrMalformed, missing, h.batches)
	}
	h.threshold, h.last, h.missing = int(threshold), int(last), int(missing)
	return h, nil
}

// share subtracts the missing keys from the counts of the frozen batches. The binary form does not record which batches
// lack them, so share takes the latest batches: then Len is never too high.
func (d *Dynamic) share(missing int) {
	for i := range slices.Backward(d.batches[:len(d.batches)-1]) {
		some := min(missing, d.params.Threshold-1)
		d.batches[i].keys -= some
		missing -= some
	}
}
