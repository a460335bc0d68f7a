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
	if len(data) < headerBytes+crcBytes {
		return nil, fmt.Errorf("%w: %d bytes are too few", ErrMalformed, len(data))
	}
	p, err := readHead(data)
	if err != nil {
		return nil, err
	}
	body := data[headerBytes : len(data)-crcBytes]
	n := wordsFor(p.Bits())
	if len(body) != 8*n {
		return nil, fmt.Errorf("%w: %d bytes for a filter of %d bits, not %d", ErrMalformed, len(body), p.Bits(), 8*n)
	}
	first := unsafe.Pointer(unsafe.SliceData(body))
	var words []uint64
	if uintptr(first)%8 == 0 && binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		words = unsafe.Slice((*uint64)(first), n)
	} else {
		words = make([]uint64, n)
		readWords(words, body)
	}
	if err := checkPadding(words, p.Bits()); err != nil {
		return nil, err
	}
	return &newFilter(p, words).View, nil
}
