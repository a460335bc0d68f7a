package coding

import (
	"encoding/binary"
	"fmt"
)

// AppendArray appends a code of the first n bits of words that needs nothing else to be read: n and the number of ones
// as unsigned varints of the fewest bytes, then what [AppendBits] writes. It panics if words is shorter than n bits.
func AppendArray(dst []byte, words []uint64, n int) []byte {
	ones := count(words[:wordsFor(n)], n)
	dst = binary.AppendUvarint(dst, uint64(n))
	dst = binary.AppendUvarint(dst, uint64(ones))
	return AppendBits(dst, words, n, ones)
}

// DecodeArray decodes what [AppendArray] wrote from the start of src and returns the n bits and the bytes consumed.
// It refuses arrays of more than limit bits, and those for which src is far too short, before it allocates. An error
// wraps [ErrMalformed].
func DecodeArray(src []byte, limit int) (words []uint64, n, consumed int, err error) {
	length, a, err := uvarint(src, "length", min(uint64(max(limit, 0)), maxBits))
	if err != nil {
		return nil, 0, 0, err
	}
	ones, b, err := uvarint(src[a:], "ones", length)
	if err != nil {
		return nil, 0, 0, err
	}
	n, src = int(length), src[a+b:]
	if least := minBytes(n, int(ones)); len(src) < least {
		return nil, 0, 0, fmt.Errorf("coding: %d bytes, at least %d for %d ones in %d bits: %w",
			len(src), least, ones, n, ErrMalformed)
	}
	words = make([]uint64, wordsFor(n))
	consumed, err = DecodeBits(words, src, n, int(ones))
	if err != nil {
		return nil, 0, 0, err
	}
	return words, n, a + b + consumed, nil
}

// uvarint reads a varint of the fewest bytes that is at most limit.
func uvarint(src []byte, name string, limit uint64) (v uint64, size int, err error) {
	v, size = binary.Uvarint(src)
	if size <= 0 || size > 1 && src[size-1] == 0 {
		return 0, 0, fmt.Errorf("coding: %s is no varint of the fewest bytes: %w", name, ErrMalformed)
	}
	if v > limit {
		return 0, 0, fmt.Errorf("coding: %s %d, at most %d: %w", name, v, limit, ErrMalformed)
	}
	return v, size, nil
}
