package bloom

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

// OpenView returns the filter whose binary form is data, all of it, without copying the bits. A filter in a mapped file is
// ready at once, and lookups read what they need. The view and data share memory, so data may not change while the view
// is in use. OpenView checks the header and the length, in O(1); it does not read the checksum. An error is matched
// by ErrMalformed. On big-endian machines, or where data does not begin at a multiple of eight, it copies.
func OpenView(data []byte) (*View, error) {
	return openView(data, func(body []byte) []uint64 {
		first := unsafe.Pointer(unsafe.SliceData(body))
		if uintptr(first)%8 == 0 && binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
			return unsafe.Slice((*uint64)(first), len(body)/8)
		}
		return wordsIn(body)
	})
}

// openView returns the filter whose binary form is data, all of it. wordsOf returns the words that are in some bytes.
func openView(data []byte, wordsOf func([]byte) []uint64) (*View, error) {
	if len(data) < headerBytes+crcBytes {
		return nil, fmt.Errorf("%w: %d bytes are too few", ErrMalformed, len(data))
	}
	p, err := readHead(data)
	if err != nil {
		return nil, err
	}
	body := data[headerBytes : len(data)-crcBytes]
	if n := wordsFor(p.Bits()); len(body) != 8*n {
		return nil, fmt.Errorf("%w: %d bytes for a filter of %d bits, not %d", ErrMalformed, len(body), p.Bits(), 8*n)
	}
	words := wordsOf(body)
	if err := checkPadding(words, p.Bits()); err != nil {
		return nil, err
	}
	return &newFilter(p, words).View, nil
}
