package bloom

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The code of a counting Bloom filter's counters (Mitzenmacher, section V), with the coder of independent bits.
// Counters are taken apart into questions: which are at least 1? of those, which are at least 2? and so on. Given their
// number, the answers to one question are independent bits; by the chain rule nothing is lost against coding the
// counters at once.
//
//	for every question, until no counter is left: uvarint the number of counters that say yes, and the code of who does
//	4 bytes CRC-32C of the counters, one byte each

// AppendCounters appends the code of the counters to dst. Its expected size is CountingBitsPerCounter bits for each.
func AppendCounters(dst []byte, counters []uint8) []byte {
	asked := len(counters)
	for level := uint8(0); asked > 0; level++ {
		words := make([]uint64, wordsFor(uint64(asked)))
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
		dst = appendCode(dst, words, uint64(asked), ones)
		if level == math.MaxUint8-1 {
			break // who says yes is 255
		}
		asked = ones
	}
	return binary.LittleEndian.AppendUint32(dst, checksumBytes(counters))
}

// DecodeCounters fills counters from the start of src with what AppendCounters wrote for as many, and returns the bytes
// consumed. On an error, matched by ErrMalformed, counters is unchanged. It allocates less than twice the counters'
// length.
func DecodeCounters(counters []uint8, src []byte) (consumed int, err error) {
	got := make([]uint8, len(counters))
	words := make([]uint64, wordsFor(uint64(len(counters))))
	asked := len(counters)
	for level := uint8(0); asked > 0 && level < math.MaxUint8; level++ {
		ones, n := binary.Uvarint(src[consumed:])
		if n <= 0 || n > 1 && src[consumed+n-1] == 0 || ones > uint64(asked) {
			return 0, fmt.Errorf("%w: %d of %d counters over %d", ErrMalformed, ones, asked, level)
		}
		consumed += n
		n, err := decodeCode(words[:wordsFor(uint64(asked))], src[consumed:], uint64(asked), int(ones))
		if err != nil {
			return 0, fmt.Errorf("%w: counters over %d: %w", ErrMalformed, level, err)
		}
		consumed += n
		raise(got, level, words)
		asked = int(ones)
	}
	if len(src)-consumed < crcBytes || binary.LittleEndian.Uint32(src[consumed:]) != checksumBytes(got) {
		return 0, fmt.Errorf("%w: checksum differs", ErrMalformed)
	}
	copy(counters, got)
	return consumed + crcBytes, nil
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

// CountingBitsPerCounter is the entropy in bits of one counter of a counting filter with c = m/n counters a key and k
// hash functions: that of a Poisson variable of mean k/c.
func CountingBitsPerCounter(c, k float64) float64 {
	mean, bits := k/c, 0.0
	p := math.Exp(-mean)
	for i := 1.0; p > 1e-18 || i <= mean+1; i++ {
		if p > 0 {
			bits -= float64(p * math.Log2(p))
		}
		p *= mean / i
	}
	return bits
}
