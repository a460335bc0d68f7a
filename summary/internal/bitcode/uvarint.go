package bitcode

import "encoding/binary"

// DecodeUvarint does what [binary.Uvarint] does, but accepts only the shortest form, as [binary.AppendUvarint] writes
// it. For anything else consumed is 0.
func DecodeUvarint(src []byte) (v uint64, consumed int) {
	v, consumed = binary.Uvarint(src)
	if consumed <= 0 || consumed > 1 && src[consumed-1] == 0 {
		return 0, 0
	}
	return v, consumed
}
