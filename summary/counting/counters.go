package counting

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
)

// The code of a counting Bloom filter's counters (Mitzenmacher, section V), with the coder of independent bits.
// Counters are taken apart into questions: which are at least 1? of those, which are at least 2? and so on. Given their
// number, the answers to one question are independent bits; by the chain rule nothing is lost against coding the
// counters at once.
//
//	for every question, until no counter is left:
//	uvarint the number of counters that say yes, and the code of who does

// appendCounters appends the code of the counters to dst. Its expected size is the entropy of a Poisson variable of
// mean kn/m for each, 1.7 bits at the best k.
func appendCounters(dst []byte, counters []uint8) []byte {
	asked := len(counters)
	for level := uint8(0); asked > 0; level++ {
		words := make([]uint64, (asked+63)/64)
		ones, i := 0, 0
		for _, c := range counters {
			if c < level {
				continue
			}
			if c > level {
				words[i/64] |= 1 << (i % 64)
				ones++
			}
			i++
		}
		dst = binary.AppendUvarint(dst, uint64(ones))
		dst = appendCode(dst, words, asked, ones)
		if level == math.MaxUint8-1 {
			break // who says yes is 255
		}
		asked = ones
	}
	return dst
}

// decodeCounters returns n counters from the start of src, where appendCounters wrote as many, and the bytes consumed.
// Its errors are matched by errMalformed. It allocates 9/8 bytes a counter.
func decodeCounters(n int, src []byte) (counters []uint8, consumed int, err error) {
	counters = make([]uint8, n)
	words := make([]uint64, (n+63)/64)
	asked := n
	for level := uint8(0); asked > 0 && level < math.MaxUint8; level++ {
		ones, used := bitcode.DecodeUvarint(src[consumed:])
		if used == 0 || ones > uint64(asked) {
			return nil, 0, fmt.Errorf("%w: %d of %d counters over %d", errMalformed, ones, asked, level)
		}
		consumed += used
		used, err := decodeCode(words[:(asked+63)/64], src[consumed:], asked, int(ones))
		if err != nil {
			return nil, 0, fmt.Errorf("%w: counters over %d: %w", errMalformed, level, err)
		}
		consumed += used
		raise(counters, level, words)
		asked = int(ones)
	}
	return counters, consumed, nil
}

// raise adds one to those of the counters at level whose bit is set.
func raise(counters []uint8, level uint8, words []uint64) {
	i := 0
	for j, c := range counters {
		if c == level {
			counters[j] += uint8(words[i/64] >> (i % 64) & 1)
			i++
		}
	}
}

// exactBits is the length up to which the slower, exact code is used.
const exactBits = 1 << 19

func appendCode(dst []byte, words []uint64, n, ones int) []byte {
	if n <= exactBits {
		return bitcode.AppendExact(dst, words, n, ones)
	}
	return bitcode.AppendBits(dst, words, n, ones)
}

func decodeCode(words []uint64, src []byte, n, ones int) (int, error) {
	if n <= exactBits {
		return bitcode.DecodeExact(words, src, n, ones)
	}
	return bitcode.DecodeBits(words, src, n, ones)
}
