package bloom

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
)

// The binary form of a Dynamic, all numbers little endian. Window is not part of it: a filter that is read keeps all.
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

func (d *Dynamic) appendHead(b []byte) []byte {
	b = appendParams(append(b, dynamicMagic...), d.params.Batch)
	b = binary.LittleEndian.AppendUint64(b, uint64(d.params.Threshold))
	b = binary.LittleEndian.AppendUint64(b, uint64(d.last))
	b = binary.LittleEndian.AppendUint64(b, uint64(d.missing))
	return binary.LittleEndian.AppendUint32(b, uint32(len(d.batches)))
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
	d = &Dynamic{params: DynamicParams{Batch: p, Threshold: int(threshold)}, last: int(last), missing: int(missing)}
	return d, int(batches), nil
}

// share says which batches have the keys missing, which the form does not: the latest, so that Len never says more than
// there are.
func (d *Dynamic) share() {
	d.short = make([]int, len(d.batches)-1)
	left := d.missing
	for i := range slices.Backward(d.short) {
		d.short[i] = min(left, d.params.Threshold-1)
		left -= d.short[i]
	}
}

// WriteTo writes the binary form to w in pieces of at most 64 KiB. It implements io.WriterTo. O(bits); the errors are
// those of w.
func (d *Dynamic) WriteTo(w io.Writer) (int64, error) {
	var arrays [][]uint64
	for _, f := range d.batches {
		arrays = append(arrays, f.words)
	}
	return writeForm(w, d.appendHead(nil), arrays...)
}

// ReadFrom makes d the filter whose binary form r yields next, and reads no byte more. Errors and memory are as in
// Filter.ReadFrom, with 128 bytes a batch besides. It implements io.ReaderFrom. O(bits).
//
// The filter that is read has no Window, and forgets nothing. To go on with one, make a filter by NewDynamic with the
// Window, and Merge what was read into it.
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
	got.share()
	*d = *got
	return in.n, nil
}
