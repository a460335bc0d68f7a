package coding

import "github.com/venn-p2p/venn/summary/internal/bitcode"

// AppendBits appends the code of the first n bits of words to dst; ones of them are set. Bit i is bit i%64 of
// words[i/64]. Neither n nor ones is in the code. AppendBits panics if words is shorter than n bits or ones is not
// their count. O(n).
func AppendBits(dst []byte, words []uint64, n, ones int) []byte {
	return bitcode.AppendBits(dst, words, n, ones)
}

// DecodeBits decodes n bits with the given number of ones from the start of src into words and returns the bytes
// consumed. It clears the unused bits of the last word. It is an error if src does not start with what AppendBits
// writes for n and ones; what words holds then is unspecified. DecodeBits allocates nothing, never reads past src, and
// panics only if words is shorter than n bits. O(n).
func DecodeBits(words []uint64, src []byte, n, ones int) (consumed int, err error) {
	return bitcode.DecodeBits(words, src, n, ones)
}

// PredictedBytes is the size of the code of n random bits with the given number of ones, to plan with. It is within a
// byte up to 2^10 bits. Up to 2^14 bits, where few are ones, it is within a byte of the mean. Above it is within half a
// percent. It is found in integers, so it is the same on every machine. 0 <= ones <= n <= 2^40. O(1).
func PredictedBytes(n, ones int) int { return bitcode.PredictedBytes(n, ones) }

// AppendSparse appends sorted, distinct numbers below size to dst, in about log2(size/m) + 1.5 bits for each of m.
// Neither m nor size is in the code. It takes O(m) time and memory, and panics if numbers are not as said.
func AppendSparse(dst []byte, numbers []uint64, size uint64) []byte {
	return bitcode.AppendSparse(dst, numbers, size)
}

// DecodeSparse decodes count numbers below size from the start of src, and returns what follows them. It is an error if
// src does not start with what AppendSparse writes. Memory is at most some 200 times src, whatever count and
// size are. O(count).
func DecodeSparse(src []byte, count int, size uint64) (numbers []uint64, rest []byte, err error) {
	return bitcode.DecodeSparse(src, count, size)
}
