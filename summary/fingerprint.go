package summary

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/dchest/siphash"

	"github.com/venn-p2p/venn/summary/internal/trie"
)

// FingerprintBits is the width of a fingerprint.
const FingerprintBits = 48

// Fingerprint is a 48-bit keyed hash of a key, in the low bits. A collection of n keys has two with the same
// fingerprint with probability about n²/2^49; no summary can tell such keys apart.
type Fingerprint uint64

// Seed names the hash function of a network. Peers can compare summaries only under one seed. It keeps outsiders from
// computing colliding keys beforehand; every peer of the network knows it.
type Seed struct {
	Network string // name of the network
	Number  uint32 // rotated by configuration; the hash of every key changes with it
}

// SeedTag is the name of a seed in headers: the number in clear, the network as a hash of its name.
type SeedTag struct {
	Network [8]byte
	Number  uint32
}

// Tag returns the name of s in headers. It computes one SHA-256.
func (s Seed) Tag() SeedTag {
	t := SeedTag{Number: s.Number}
	sum := sha256.Sum256([]byte("venn/network/1\x00" + s.Network))
	copy(t.Network[:], sum[:])
	return t
}

// Hasher is the keyed hash of one seed: SipHash-2-4-128. The zero value is a hasher under an all-zero key, of no seed.
type Hasher struct{ k0, k1 uint64 }

// Hasher derives the 128-bit key of s. It computes one SHA-256: keep the Hasher.
func (s Seed) Hasher() Hasher {
	b := []byte("venn/seed/1\x00")
	b = binary.BigEndian.AppendUint32(b, s.Number)
	sum := sha256.Sum256(append(b, s.Network...))
	return Hasher{binary.LittleEndian.Uint64(sum[0:]), binary.LittleEndian.Uint64(sum[8:])}
}

// Fingerprint hashes a key to the low 48 bits of the first word of its 128-bit hash. It does not allocate. O(bytes of
// the key).
func (h Hasher) Fingerprint(key []byte) Fingerprint {
	lo, _ := siphash.Hash128(h.k0, h.k1, key)
	return Fingerprint(lo & (1<<FingerprintBits - 1))
}

// position returns x_i(f), see [trie.Position].
func position(f Fingerprint, block int) uint64 { return trie.Position(uint64(f), block) }
