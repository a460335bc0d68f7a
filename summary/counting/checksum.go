package counting

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendSum appends the CRC-32C of b from start on: it finds damage, not malice.
func appendSum(b []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
}

// checkSum returns b without its checksum.
func checkSum(b []byte) ([]byte, error) {
	n := len(b) - crc32.Size
	if n < 0 || binary.LittleEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return nil, fmt.Errorf("%w: checksum differs", errMalformed)
	}
	return b[:n], nil
}
