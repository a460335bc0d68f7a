package bloom

import (
	"encoding/binary"
	"math/bits"
)

// Hasher keys the hash of a filter. Filters can be merged and compared only under one seed. A party that does not know
// it cannot compute keys that collide. The zero Hasher is valid, and known to everybody.
type Hasher struct{ K0, K1 uint64 }

// Hash is the 128-bit hash of a key, from which all positions in a filter follow. Hash once, ask many filters.
//
// A ^ B is SipHash-1-3 of the key.
type Hash struct{ A, B uint64 }

// Hash hashes data with SipHash-1-3 (Aumasson and Bernstein) up to its last step, which would XOR the two halves A and
// B of the state into 64 bits; both are kept instead. The hash is pinned: it is part of every binary form of this
// package.
//
// Dictionaries of several languages use SipHash-1-3, keyed, against crafted keys. It has half of the rounds of
// SipHash-2-4. O(bytes of data), no allocation.
func (s Hasher) Hash(data []byte) Hash {
	v0 := s.K0 ^ 0x736f6d6570736575
	v1 := s.K1 ^ 0x646f72616e646f6d
	v2 := s.K0 ^ 0x6c7967656e657261
	v3 := s.K1 ^ 0x7465646279746573
	last := lastWord(data)
	for i := 0; i <= len(data)-8; i += 8 {
		m := binary.LittleEndian.Uint64(data[i : i+8])
		v3 ^= m
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		v0 ^= m
	}
	v3 ^= last
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0 ^= last
	v2 ^= 0xff
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
	return Hash{v0 ^ v1, v2 ^ v3}
}

// Hash64 makes a Hash of a ready-made 64-bit hash, of any good hash function, in place of Hasher.Hash. Keys with equal
// 64-bit hashes are one key to every filter. O(1).
func Hash64(h uint64) Hash { return Hash{mix64(h), h * 0x9e3779b97f4a7c15} }

// lastWord returns the word that ends a SipHash message: the bytes after the last whole word, and the length on top.
func lastWord(data []byte) uint64 {
	n := uint(len(data))
	word := uint64(n) << 56
	if n >= 8 { // the last eight bytes, without the bytes of whole words
		return word | binary.LittleEndian.Uint64(data[n-8:])>>8>>(56-8*(n&7))
	}
	for i, b := range data {
		word |= uint64(b) << (8 * i)
	}
	return word
}

func sipRound(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}
