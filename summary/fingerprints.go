package summary

import (
	"fmt"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
)

// AppendFingerprints appends a list of m sorted, distinct fingerprints to dst. Each takes about 49.5 - log2(m) bits.
// The number m is not in the code. It panics if they are not sorted, not distinct, or longer than FingerprintBits.
// O(m).
func AppendFingerprints(dst []byte, list []Fingerprint) []byte {
	numbers := make([]uint64, len(list))
	for i, f := range list {
		numbers[i] = uint64(f)
	}
	return bitcode.AppendSparse(dst, numbers, 1<<FingerprintBits, new([]uint64))
}

// DecodeFingerprints decodes count fingerprints from the start of src, and returns the rest of src. It returns
// ErrMalformed if src does not start with the code of count fingerprints by AppendFingerprints. Memory is at most some
// 200 times src, whatever count is. O(count).
func DecodeFingerprints(src []byte, count int) (list []Fingerprint, rest []byte, err error) {
	numbers, rest, err := bitcode.DecodeSparse(nil, src, count, 1<<FingerprintBits, new([]uint64))
	if err != nil {
		return nil, nil, fmt.Errorf("summary: list of fingerprints: %w: %w", ErrMalformed, err)
	}
	list = make([]Fingerprint, len(numbers))
	for i, v := range numbers {
		list[i] = Fingerprint(v)
	}
	return list, rest, nil
}
