package bitcode

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// lowBits returns the number of low bits of each number that are written unchanged, for count sorted numbers below
// size. The rest of each number, in unary, makes an array with a one in about seventeen bits. This takes 0.05 bits a
// number more than the least possible.
func lowBits(count int, size uint64) int {
	return max(0, bits.Len64(size/uint64(max(count, 1)))-1-4)
}

// AppendSparse appends the code of m sorted, distinct numbers below size to dst, in about log2(size/m) + 1.5 bits
// each. The code contains neither m nor size. It takes O(m) time and memory. It panics if numbers are out of order or
// range. memory is scratch space, which grows as needed.
func AppendSparse(dst []byte, numbers []uint64, size uint64, memory *[]uint64) []byte {
	if len(numbers) == 0 {
		return dst
	}
	low := lowBits(len(numbers), size)
	n := len(numbers) + int(size>>low)
	words := cleared(memory, n/64+1)
	for i, v := range numbers {
		if v >= size || i > 0 && v <= numbers[i-1] {
			panic(fmt.Sprintf("bitcode: number %d of %d is %d: not below %d, or not above the one before", i, len(numbers), v, size))
		}
		at := int(v>>low) + i
		words[at/64] |= 1 << (at % 64)
	}
	dst = AppendBits(dst, words, n+1, len(numbers))
	at, total := len(dst), (len(numbers)*low+7)/8
	dst = slices.Grow(dst, total+8)[:at+total+8] // eight bytes more, so that a word can be changed at any byte
	lows, mask := dst[at:], uint64(1)<<low-1
	clear(lows)
	for i, v := range numbers {
		word := lows[i*low/8:][:8]
		binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)|v&mask<<(i*low%8))
	}
	return dst[:at+total]
}

// cleared returns n words of memory, all zero.
func cleared(memory *[]uint64, n int) []uint64 {
	*memory = slices.Grow((*memory)[:0], n)[:n]
	clear(*memory)
	return *memory
}

// DecodeSparse decodes count numbers below size from the start of src, appends them to dst, and returns the rest of
// src. The error wraps [ErrMalformed] if src does not start with a code of AppendSparse for count and size. It takes
// at most some 200 times the memory of src, whatever count and size are. memory is scratch space, which grows as
// needed.
func DecodeSparse(dst []uint64, src []byte, count int, size uint64, memory *[]uint64) (numbers []uint64, rest []byte, err error) {
	if count == 0 {
		return dst, src, nil
	}
	if count < 0 || uint64(count) > size || count > min(maxBits, math.MaxInt)/64 {
		return nil, nil, fmt.Errorf("bitcode: %d numbers below %d: %w", count, size, ErrMalformed)
	}
	low := lowBits(count, size)
	n := count + int(size>>low) // at most 33 times count
	if len(src) < minBytes(n+1, count)+count*low/8 {
		return nil, nil, fmt.Errorf("bitcode: %d bytes for %d numbers: %w", len(src), count, ErrMalformed)
	}
	words := cleared(memory, n/64+1)
	used, err := DecodeBits(words, src, n+1, count)
	if err != nil {
		return nil, nil, err
	}
	src = src[used:]
	total := (count*low + 7) / 8
	if len(src) < total || count*low%8 != 0 && src[total-1]>>(count*low%8) != 0 { // unused bits of the last byte are 0
		return nil, nil, fmt.Errorf("bitcode: low bits of %d numbers: %w", count, ErrMalformed)
	}
	lows, mask := src, uint64(1)<<low-1
	if len(src) < total+8 { // a word can be read at any byte
		lows = append(append(make([]byte, 0, total+8), src[:total]...), make([]byte, 8)...)
	}
	numbers = slices.Grow(dst, count)
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			k := len(numbers) - len(dst)
			v := uint64(i*64+bits.TrailingZeros64(w)-k) << low
			v |= binary.LittleEndian.Uint64(lows[k*low/8:]) >> (k * low % 8) & mask
			if v >= size || k > 0 && v <= numbers[len(numbers)-1] {
				return nil, nil, fmt.Errorf("bitcode: numbers out of order or range: %w", ErrMalformed)
			}
			numbers = append(numbers, v)
		}
	}
	return numbers, src[total:], nil
}
