package bitcode

import (
	"encoding/binary"
	"fmt"
)

// The raw code consists of the bits themselves, eight to a byte, the lowest first. Unused bits of the last byte are
// zero.

func appendRaw(dst []byte, words []uint64, n int) []byte {
	start := len(dst)
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	dst = dst[:start+(n+7)/8]
	if n%8 != 0 {
		dst[len(dst)-1] &= 1<<(n%8) - 1
	}
	return dst
}

func decodeRaw(words []uint64, src []byte, n int) (int, error) {
	size := (n + 7) / 8
	if len(src) < size {
		return 0, fmt.Errorf("bitcode: %d bytes of %d: %w", len(src), size, ErrMalformed)
	}
	if n%8 != 0 && src[size-1]>>(n%8) != 0 {
		return 0, fmt.Errorf("bitcode: bits set after the last: %w", ErrMalformed)
	}
	src = src[:size]
	for i := range words {
		if len(src) < 8 {
			var last [8]byte
			copy(last[:], src)
			src = last[:]
		}
		words[i] = binary.LittleEndian.Uint64(src)
		src = src[8:]
	}
	return size, nil
}
