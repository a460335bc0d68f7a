package bitcode

import "encoding/binary"

// DecodeUvarint is [binary.Uvarint] of the shortest form only, which is what [binary.AppendUvarint] writes. Consumed is
// 0 for anything else.
func DecodeUvarint(src []byte) (v uint64, consumed int) {
	v, consumed = binary.Uvarint(src)
	if consumed <= 0 || consumed > 1 && src[consumed-1] == 0 {
		return 0, 0
	}
	return v, consumed
}
