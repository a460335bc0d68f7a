package join

import (
	"math"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary/bloom"
)

// Plan chooses the filters with which the fewest bytes move if the sets have nothing in common. It tries 1 to 8
// blocks. Their length is n/ln 2 bits for the n keys of the largest set, and up to 32 times that. Few long blocks code
// well; of many short ones some can be dropped. If no filter pays, as with tiny sets, it returns a filter of one bit,
// which contains every key: then the join moves the whole sets.
func Plan(sizes []wire.JoinSize, key bloom.Hasher) bloom.Params {
	most := 0
	for _, s := range sizes {
		most = max(most, s.Keys)
	}
	best := bloom.Params{Blocks: 1, BlockBits: 1, Hashes: 1, Hasher: key}
	least := planned(best, sizes)
	for factor := 1.0; factor <= 32; factor *= 2 {
		bits := math.Ceil(factor * float64(most) / math.Ln2)
		for blocks := 1; blocks <= 8; blocks++ {
			p := bloom.Params{Blocks: blocks, BlockBits: uint64(max(bits, 1)), Hashes: 1, Hasher: key}
			if p.Check() != nil || p.Bits() > wire.MaxJoinBits {
				break
			}
			if bytes := planned(p, sizes); bytes < least {
				best, least = p, bytes
			}
		}
	}
	return best
}

// fill returns the expected fraction of m bits that are set after positions random hits: 1-(1-1/m)^positions.
func fill(m uint64, positions float64) float64 {
	if positions <= 0 {
		return 0
	}
	return -math.Expm1(positions * math.Log1p(-1/float64(m)))
}

// planned returns the number of bytes to move with filters of parameters p if the sets have nothing in common.
func planned(p bloom.Params, sizes []wire.JoinSize) float64 {
	m := int(p.Bits())
	bytes, and := 0.0, 1.0
	for _, s := range sizes {
		share := fill(p.BlockBits, float64(s.Keys*p.Hashes))
		bytes += float64(codedBytes(m, share))
		and *= share
	}
	bytes += float64(len(sizes) * codedBytes(m, and))
	for _, s := range sizes { // bytes of the source's keys that are in the AND by chance
		own := fill(p.BlockBits, float64(s.Keys*p.Hashes))
		if own > 0 {
			bytes += float64(float64(s.Bytes) * math.Pow(and/own, float64(p.Blocks*p.Hashes)))
		}
	}
	return bytes
}

func codedBytes(m int, fill float64) int {
	const header = 6
	p := bloom.Params{Blocks: 1, BlockBits: uint64(m), Hashes: 1}
	return header + p.CodedBytes(min(m, int(math.Round(float64(m)*fill))))
}

// worthwhileBlocks returns how many blocks of the AND to send, so that the fewest bytes move in all: the AND to every
// source, and the sources' answers. Keys in common are in every answer. Another key of a source is in its answer if the
// AND matches it by chance: for a block (the AND's bits / the source's bits)^hashes.
func worthwhileBlocks(and *bloom.Filter, filters []*bloom.Filter, sizes []wire.JoinSize, common float64) int {
	p := and.Params()
	foreign := make([]float64, len(filters)) // bytes of keys that are not in common but still in the answers
	for i, s := range sizes {
		if s.Keys > 0 {
			foreign[i] = float64(s.Bytes) * max(0, 1-common/float64(s.Keys))
		}
	}
	best, least, ones := 1, math.Inf(1), 0
	for blocks := 1; blocks <= p.Blocks; blocks++ {
		set := and.BlockOnesCount(blocks - 1)
		ones += set
		cut := p
		cut.Blocks = blocks
		bytes := float64(len(filters) * cut.CodedBytes(ones))
		for i, f := range filters {
			if own := f.BlockOnesCount(blocks - 1); own > 0 {
				foreign[i] *= math.Pow(float64(set)/float64(own), float64(p.Hashes))
			}
			bytes += foreign[i]
		}
		if bytes < least {
			best, least = blocks, bytes
		}
	}
	return best
}
