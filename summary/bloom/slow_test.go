package bloom

import (
	"encoding/binary"
	"math/big"
)

// slowFilter is a filter as the papers define it: a set of positions, computed in unbounded integers.
type slowFilter struct {
	p    Params
	bits map[uint64]bool
}

func newSlow(p Params) *slowFilter { return &slowFilter{p, map[uint64]bool{}} }

// positions are those of all hash functions, block after block.
func (s *slowFilter) positions(key []byte) []uint64 {
	a, b := slowSip(s.p.Hasher, key)
	var all []uint64
	for i := range s.p.Blocks * s.p.Hashes {
		all = append(all, uint64(i/s.p.Hashes)*s.p.BlockBits+slowPosition(s.p, a, b, uint64(i)))
	}
	return all
}

func slowPosition(p Params, a, b, i uint64) uint64 {
	num := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
	m, two64 := num(p.BlockBits), new(big.Int).Lsh(num(1), 64)
	x := num(multipliers[i])
	x.Mul(x, num(a)).Add(x, num(b)).Mod(x, two64)
	return x.Mul(x, m).Div(x, two64).Uint64()
}

func (s *slowFilter) add(key []byte) {
	for _, at := range s.positions(key) {
		s.bits[at] = true
	}
}

func (s *slowFilter) contains(key []byte) bool {
	for _, at := range s.positions(key) {
		if !s.bits[at] {
			return false
		}
	}
	return true
}

func (s *slowFilter) equal(f *Filter) bool {
	if s.p != f.Params() || f.OnesCount() != len(s.bits) {
		return false
	}
	for at := range s.bits {
		if f.words[at/64]>>(at%64)&1 == 0 {
			return false
		}
	}
	return true
}

// slowSip is SipHash-1-3 without its last addition.
func slowSip(k Hasher, data []byte) (a, b uint64) {
	v := slowSipState(k, data, 1, 3)
	return v[0] ^ v[1], v[2] ^ v[3]
}

// slowSipState is the state of SipHash-c-d after its last round.
func slowSipState(k Hasher, data []byte, c, d int) [4]uint64 {
	v := [4]uint64{k.K0, k.K1, k.K0, k.K1}
	for i := range v { // "somepseudorandomlygeneratedbytes"
		v[i] ^= binary.BigEndian.Uint64([]byte("somepseudorandomlygeneratedbytes")[8*i:])
	}
	rotate := func(x uint64, n int) uint64 { return x<<n | x>>(64-n) }
	rounds := func(n int) {
		for range n {
			v[0] += v[1]
			v[2] += v[3]
			v[1] = rotate(v[1], 13)
			v[3] = rotate(v[3], 16)
			v[1] ^= v[0]
			v[3] ^= v[2]
			v[0] = rotate(v[0], 32)
			v[2] += v[1]
			v[0] += v[3]
			v[1] = rotate(v[1], 17)
			v[3] = rotate(v[3], 21)
			v[1] ^= v[2]
			v[3] ^= v[0]
			v[2] = rotate(v[2], 32)
		}
	}
	padded := append([]byte{}, data...)
	for len(padded)%8 != 7 {
		padded = append(padded, 0)
	}
	padded = append(padded, byte(len(data)))
	for ; len(padded) > 0; padded = padded[8:] {
		m := binary.LittleEndian.Uint64(padded)
		v[3] ^= m
		rounds(c)
		v[0] ^= m
	}
	v[2] ^= 0xff
	rounds(d)
	return v
}
