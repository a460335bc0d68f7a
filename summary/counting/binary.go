package counting

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
)

// errMalformed is wrapped by every error about bytes that MarshalBinary does not write.
var errMalformed = errors.New("counting: malformed bytes")

const binaryMagic = "vdl3"

// MarshalBinary encodes the filter's members in about the fewest bytes that their entropy allows, for a disk or
// another program. Mitzenmacher ("Compressed Bloom Filters", section V) expects such a form for a counting filter that
// is sent: large counts are rare, so a cell's entropy is far below its number of bits. The cell of a member tells
// nothing about it, so neither the table's form nor its seed is included. n members of q bits take about q-log2(n)+1.5
// bits each, plus the entropy of their counts. The error is always nil. It implements encoding.BinaryMarshaler. O(n
// log n). Layout, little-endian:
//
//	4 bytes  "vdl3"
//	1        q, the bits of a fingerprint
//	1        binary digits of the highest count less one
//	…        n, a uvarint: the different fingerprints
//	…        the fingerprints in order (bitcode.AppendSparse)
//	…        for each digit of the counts less one, from the highest: how many members have it set (a uvarint), and
//	         which (bitcode.AppendBits); first for members with no higher digit set, then for the others
//	4        CRC-32C of all before
func (t *DLeft) MarshalBinary() ([]byte, error) {
	members := slices.AppendSeq(make([]uint64, 0, t.distinct), t.All)
	slices.Sort(members)
	extra, digits := make([]uint64, len(members)), 0
	for i, f := range members {
		if t.members == t.distinct {
			break // each member is there once
		}
		extra[i] = uint64(t.Count(f) - 1)
		digits = max(digits, bits.Len64(extra[i]))
	}
	b := append([]byte(binaryMagic), byte(t.fingerprintBits()), byte(digits))
	b = binary.AppendUvarint(b, uint64(len(members)))
	b = bitcode.AppendSparse(b, members, t.fingerprintMask+1, new([]uint64))
	for digit := digits - 1; digit >= 0; digit-- {
		few, more := byDigits(extra, digit)
		b = appendDigit(appendDigit(b, few, digit), more, digit)
	}
	return appendSum(b), nil
}

// byDigits splits numbers into those without a digit above the given one, and those with one. It returns pointers to
// them.
func byDigits(numbers []uint64, digit int) (few, more []*uint64) {
	for i := range numbers {
		if numbers[i]>>(digit+1) == 0 {
			few = append(few, &numbers[i])
		} else {
			more = append(more, &numbers[i])
		}
	}
	return few, more
}

// appendDigit appends how many of the numbers have the digit set, and which.
func appendDigit(b []byte, numbers []*uint64, digit int) []byte {
	words, ones := make([]uint64, len(numbers)/64+1), 0
	for i, v := range numbers {
		set := *v >> digit & 1
		words[i/64] |= set << (i % 64)
		ones += int(set)
	}
	b = binary.AppendUvarint(b, uint64(ones))
	return bitcode.AppendBits(b, words, len(numbers), ones)
}

// readDigit decodes what appendDigit wrote, sets that digit of the numbers, and returns the rest of b.
func readDigit(b []byte, numbers []*uint64, digit int) ([]byte, error) {
	ones, n := bitcode.DecodeUvarint(b)
	if n == 0 || ones > uint64(len(numbers)) {
		return nil, fmt.Errorf("%w: %d of %d counts have digit %d", errMalformed, ones, len(numbers), digit)
	}
	words := make([]uint64, len(numbers)/64+1)
	used, err := bitcode.DecodeBits(words, b[n:], len(numbers), int(ones))
	if err != nil {
		return nil, fmt.Errorf("%w: digit %d of the counts: %w", errMalformed, digit, err)
	}
	for i, v := range numbers {
		*v |= words[i/64] >> (i % 64) & 1 << digit
	}
	return b[n+used:], nil
}

// UnmarshalBinary replaces the members by those encoded in data, which must hold nothing else. The filter keeps its
// form and its seed, and grows as Add lets it grow. A zero value takes the default form for that number of members,
// and seed 0. As this seed is no secret, the filter does not grow further: members crafted to fill one bucket are
// ErrOverflow. If there is an error, the filter is unchanged. There is an error if MarshalBinary did not write data,
// if fingerprints have another size, or if members do not fit (ErrOverflow). Besides the filter's own form, it takes
// at most some 300 times the memory of data. O(n).
func (t *DLeft) UnmarshalBinary(data []byte) error {
	q, members, extra, err := readMembers(data)
	if err != nil {
		return err
	}
	read, err := t.emptyFor(q, len(members), extra)
	if err != nil {
		return err
	}
	for i, f := range members {
		if err := read.addTimes(f, int(extra[i])+1); err != nil {
			return fmt.Errorf("%w: member %#x, %d times", err, f, extra[i]+1)
		}
	}
	read.fixed = t.fixed
	*t = *read
	return nil
}

// readMembers decodes the binary form: members of q bits, sorted, and for each the count less one.
func readMembers(data []byte) (q int, members, extra []uint64, err error) {
	fail := func(err error) (int, []uint64, []uint64, error) { return 0, nil, nil, err }
	b, err := checkSum(data)
	if err != nil {
		return fail(err)
	}
	const fixed = len(binaryMagic) + 2
	if len(b) < fixed || string(b[:len(binaryMagic)]) != binaryMagic {
		return fail(fmt.Errorf("%w: no d-left header", errMalformed))
	}
	q, digits := int(b[4]), int(b[5])
	count, n := bitcode.DecodeUvarint(b[fixed:])
	if q < 1 || q > maxFingerprintBits || digits > maxCounterBits || n == 0 || count > uint64(len(b))*8 {
		return fail(fmt.Errorf("%w: %d fingerprints of %d bits, counts of %d digits", errMalformed, count, q, digits))
	}
	members, b, err = bitcode.DecodeSparse(nil, b[fixed+n:], int(count), 1<<q, new([]uint64))
	if err != nil {
		return fail(fmt.Errorf("%w: %w", errMalformed, err))
	}
	extra = make([]uint64, len(members))
	for digit := digits - 1; digit >= 0; digit-- {
		few, more := byDigits(extra, digit)
		if b, err = readDigit(b, few, digit); err != nil {
			return fail(err)
		}
		if digit == digits-1 && !slices.ContainsFunc(extra, func(v uint64) bool { return v != 0 }) {
			return fail(fmt.Errorf("%w: no count has digit %d", errMalformed, digit))
		}
		if b, err = readDigit(b, more, digit); err != nil {
			return fail(err)
		}
	}
	if len(b) > 0 {
		return fail(fmt.Errorf("%w: %d bytes after the end", errMalformed, len(b)))
	}
	return q, members, extra, nil
}

// emptyFor returns an empty filter of t's form. If t may grow, it has room for n members of q bits. For a zero value it
// has the default form, with counters for the highest count: the largest of extra, plus one.
func (t *DLeft) emptyFor(q, n int, extra []uint64) (*DLeft, error) {
	if t.perms == nil {
		p := ParamsForFingerprint(n, q)
		p.Fixed = true
		if n > 0 {
			p.CounterBits = max(p.CounterBits, bits.Len64(slices.Max(extra)))
		}
		return NewDLeft(p)
	}
	p := t.Params()
	if q != t.fingerprintBits() {
		return nil, fmt.Errorf("%w: fingerprints of %d bits, want %d", errMalformed, q, t.fingerprintBits())
	}
	for !p.Fixed && n > target(p.Subtables*p.Buckets*p.Cells) && p.RemainderBits > 1 {
		p.Buckets *= 2
		p.RemainderBits--
	}
	return NewDLeft(p)
}

// addTimes adds f count times. f must not be a member yet.
func (t *DLeft) addTimes(f uint64, count int) error {
	if err := t.addNew(f); err != nil && (t.fixed || t.Add(f) != nil) {
		return err
	}
	if count == 1 {
		return nil
	}
	b, cell := t.find(f)
	v := t.get(b, cell)
	if count > t.highest(t.remainder(v)) {
		return errCounter
	}
	t.set(b, cell, t.cell(t.remainder(v), count))
	t.members += count - 1
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendSum appends the CRC-32C of b to b. It detects damage, not malice.
func appendSum(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// checkSum checks the checksum at the end of b, and returns b without it.
func checkSum(b []byte) ([]byte, error) {
	n := len(b) - crc32.Size
	if n < 0 || binary.LittleEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return nil, fmt.Errorf("%w: checksum differs", errMalformed)
	}
	return b[:n], nil
}
