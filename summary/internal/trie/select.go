package trie

import "math/bits"

// selectBit returns the position in w of its k-th one, counted from 0. w must have more than k ones. No branch
// depends on w. The sums of ones up to each byte select the byte, and a table gives the position in the byte.
func selectBit(w uint64, k int) int {
	const lows, highs = 0x0101010101010101, 0x8080808080808080
	sums := w - w>>1&0x5555555555555555
	sums = sums&0x3333333333333333 + sums>>2&0x3333333333333333
	sums = (sums + sums>>4) & 0x0f0f0f0f0f0f0f0f * lows
	before := 8 * bits.OnesCount64(((uint64(k)*lows|highs)-sums)&highs)
	rank := uint64(k) - sums<<8>>before&0xff
	return before + int(bitInByte[rank%8][w>>before&0xff])
}

// bitInByte[k][b] is the position in b of its k-th one, counted from 0.
var bitInByte = func() (table [8][256]uint8) {
	for b := range 256 {
		for rest, k := uint(b), 0; rest != 0; rest &= rest - 1 {
			table[k][b] = uint8(bits.TrailingZeros(rest))
			k++
		}
	}
	return table
}()
