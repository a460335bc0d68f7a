package bitcode_test

import (
	"fmt"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
)

// An array of 300 bits, 9 of them set. The length and the count go into a header of one's own.
func ExampleAppendBits() {
	bits := make([]uint64, 5)
	for i := range 9 {
		place := i * i * 4
		bits[place/64] |= 1 << (place % 64)
	}
	code := bitcode.AppendBits(nil, bits, 300, 9)
	fmt.Println(len(code), "bytes, predicted", bitcode.PredictedBytes(300, 9))

	decoded := make([]uint64, 5)
	consumed, err := bitcode.DecodeBits(decoded, code, 300, 9)
	fmt.Println(consumed, err, decoded[0] == bits[0])
	// Output:
	// 8 bytes, predicted 7
	// 8 <nil> true
}

// Bytes that AppendBits does not write are refused.
func ExampleDecodeBits() {
	_, err := bitcode.DecodeBits(make([]uint64, 1), nil, 64, 7)
	fmt.Println(err)
	// Output: bitcode: 0 bytes, at least 1: malformed
}

// What a Bloom filter of n keys in 16 n bits with one hash function costs on the wire: 6 % of its bits are set.
func ExamplePredictedBytes() {
	const keys = 100_000
	fmt.Println("array:", 16*keys/8, "bytes, coded:", bitcode.PredictedBytes(16*keys, 96_900))
	// Output:
	// array: 200000 bytes, coded: 65958
}

// Four sorted numbers below a million, with their count kept elsewhere.
func ExampleAppendSparse() {
	code := bitcode.AppendSparse(nil, []uint64{17, 4711, 65536, 999_999}, 1_000_000, new([]uint64))
	numbers, rest, err := bitcode.DecodeSparse(nil, code, 4, 1_000_000, new([]uint64))
	fmt.Println(len(code), "bytes:", numbers, len(rest), err)
	// Output: 11 bytes: [17 4711 65536 999999] 0 <nil>
}
