package counting

import (
	"encoding/binary"
	"fmt"
)

const (
	bloomMagic  = "vcb2"
	bloomHeader = 24
	formPlain   = 0 // counters as they are, two a byte, low half first
	formCoded   = 1 // see appendCounters
)

// maxGain is how many counters a coded byte stands for at most. It bounds what a decoder allocates: sparser filters,
// which would be shorter, are written plain.
const maxGain = 32

// appendBinary appends the filter's binary form. It has "vcb2"; k, the form and two zero bytes; m and the number of
// members, 8 bytes each. Then come the counters, and CRC-32C of all before. Numbers are little-endian. Counters are
// coded to their entropy (Mitzenmacher 2002, section V), 1.7 bits each in a full filter. Where four bits each are
// shorter, or the code would be below m/32 bytes, they are plain. The error is always nil.
func (c *Bloom) appendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b = append(b, bloomMagic...)
	b = append(b, byte(c.hashes), formCoded, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, c.counters)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.members))
	body := len(b)
	b = appendCounters(b, c.list())
	if !c.coded(len(b) - body) {
		b = b[:body]
		b[start+5] = formPlain
		for _, w := range c.words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
	}
	return appendSum(b, start), nil
}

// list returns the counters one by one.
func (c *Bloom) list() []uint8 {
	counters := make([]uint8, c.counters)
	for i := range counters {
		counters[i] = uint8(c.get(uint64(i)))
	}
	return counters
}

// coded reports whether the counters are written coded, where their code takes some bytes.
func (c *Bloom) coded(bytes int) bool {
	return uint64(bytes)*maxGain >= c.counters && bytes < c.SizeBytes()
}

// MarshalBinary returns the binary form; the error is always nil. It implements encoding.BinaryMarshaler. O(m).
func (c *Bloom) MarshalBinary() ([]byte, error) { return c.appendBinary(nil) }

// UnmarshalBinary replaces the filter by the one encoded in all of b. The counters must add up to k a member. It
// allocates at most 100 times len(b). An error leaves the filter unchanged. O(m).
func (c *Bloom) UnmarshalBinary(data []byte) error {
	b, err := checkSum(data)
	if err != nil {
		return err
	}
	if len(b) < bloomHeader || string(b[:4]) != bloomMagic || b[5] > formCoded || b[6]|b[7] != 0 {
		return fmt.Errorf("%w: no counting Bloom header", errMalformed)
	}
	k, m := int(b[4]), binary.LittleEndian.Uint64(b[8:])
	members := binary.LittleEndian.Uint64(b[16:])
	form := b[5]
	b = b[bloomHeader:]
	if m > mostCounters || form == formPlain && (m+15)/16*8 != uint64(len(b)) || form == formCoded && m > maxGain*uint64(len(b)) {
		return fmt.Errorf("%w: %d bytes for %d counters", errMalformed, len(b), m)
	}
	read, err := NewBloom(int(m), k)
	if err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	if form == formCoded {
		err = read.decode(b)
	} else {
		err = read.readPlain(b)
	}
	if err != nil {
		return err
	}
	var sum uint64
	for _, w := range read.words {
		sum += nibbles(w)
	}
	if members > sum || sum != members*uint64(k) {
		return fmt.Errorf("%w: counters add up to %d, want %d for each of %d members", errMalformed, sum, k, members)
	}
	read.members = int(members)
	size := len(b)
	if form == formPlain {
		size = len(appendCounters(nil, read.list()))
	}
	if read.coded(size) != (form == formCoded) {
		return fmt.Errorf("%w: counters in the form %d", errMalformed, form)
	}
	*c = *read
	return nil
}

// readPlain reads plain counters, whose length is right.
func (c *Bloom) readPlain(b []byte) error {
	for i := range c.words {
		c.words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	if used := c.counters % 16 * 4; used != 0 && c.words[len(c.words)-1]>>used != 0 {
		return fmt.Errorf("%w: counters after the last one", errMalformed)
	}
	return nil
}

// decode reads coded counters, all of b.
func (c *Bloom) decode(b []byte) error {
	counters, n, err := decodeCounters(int(c.counters), b)
	if err != nil {
		return err
	}
	if n != len(b) {
		return fmt.Errorf("%w: %d bytes after the counters", errMalformed, len(b)-n)
	}
	for i, v := range counters {
		if v > counterTop {
			return fmt.Errorf("%w: a counter of %d", errMalformed, v)
		}
		c.words[i/16] |= uint64(v) << (i % 16 * 4)
	}
	return nil
}

// nibbles is the sum of the sixteen counters of a word.
func nibbles(w uint64) uint64 {
	const even = 0x0f0f_0f0f_0f0f_0f0f
	bytes := w&even + w>>4&even // each at most 30: the product's top byte holds their sum, at most 240
	return bytes * 0x0101_0101_0101_0101 >> 56
}
