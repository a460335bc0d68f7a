package bloom

import "fmt"

// Goal describes the purpose of a filter; Params finds the filter. Give Bits or Rate, not both.
type Goal struct {
	Keys int     // keys in the filter: 0 or more
	Bits uint64  // most bits of the filter, 1 to 2^36; it gets the least false-positive rate
	Rate float64 // highest false-positive rate of the filter, 0 < Rate < 1; it gets the fewest bits

	// Partitioned asks for blocks with one hash function each, so that the filter can be cut (Papapetrou et al., section
	// 3.2). With Bits, blocks have ⌈Keys/ln 2⌉ bits, half of them set; a shorter filter is one block.
	Partitioned bool

	// MaxBits asks for a filter that is sent by a Codec (Mitzenmacher, section II.B), of at most MaxBits bits in memory, 1
	// to 2^36. Bits is then the size of the message, [Params.CompressedBits]. The filter gets few hash functions and a
	// long array. 0: the filter is sent as it is. Keys is at least 1. Not with Partitioned.
	MaxBits uint64
}

// Params returns the parameters that reach the goal best, under the zero Hasher. An error names the field that is out
// of its range, or reports that the goal cannot be reached. It takes microseconds, and with MaxBits at most some
// milliseconds.
func (g Goal) Params() (Params, error) {
	switch byRate := g.Rate != 0; {
	case (g.Bits != 0) == byRate:
		return Params{}, fmt.Errorf("%w: Bits %d and Rate %v, want one of them", errParams, g.Bits, g.Rate)
	case g.MaxBits != 0 && g.Partitioned:
		return Params{}, fmt.Errorf("%w: MaxBits of a filter that is Partitioned", errParams)
	case g.MaxBits != 0 && byRate:
		return compressedForRate(g.Keys, g.Rate, g.MaxBits)
	case g.MaxBits != 0:
		return compressedForBits(g.Keys, float64(g.Bits), g.MaxBits)
	case g.Partitioned && byRate:
		return partitionedForRate(g.Keys, g.Rate)
	case g.Partitioned:
		return partitionedForBits(g.Keys, g.Bits)
	case byRate:
		return paramsForRate(g.Keys, g.Rate)
	default:
		return paramsForBits(g.Keys, g.Bits)
	}
}
