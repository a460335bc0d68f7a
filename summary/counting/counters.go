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

// decodeCounters fills counters from the start of src with what appendCounters wrote for as many, and returns the bytes
// consumed. On an error, matched by errMalformed, counters is unchanged. It allocates less than twice the counters'
// length.
func decodeCounters(counters []uint8, src []byte) (consumed int, err error) {
	got := make([]uint8, len(counters))
	words := make([]uint64, (len(counters)+63)/64)
	asked := len(counters)
	for level := uint8(0); asked > 0 && level < math.MaxUint8; level++ {
		ones, n := bitcode.DecodeUvarint(src[consumed:])
		if n == 0 || ones > uint64(asked) {
			return 0, fmt.Errorf("%w: %d of %d counters over %d", errMalformed, ones, asked, level)
		}
		consumed += n
		n, err := decodeCode(words[:(asked+63)/64], src[consumed:], asked, int(ones))
		if err != nil {
			return 0, fmt.Errorf("%w: counters over %d: %w", errMalformed, level, err)
		}
		consumed += n
		raise(got, level, words)
		asked = int(ones)
	}
	copy(counters, got)
	return consumed, nil
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
