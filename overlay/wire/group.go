package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/summary"
)

// GroupID names one epoch of one origin under one seed number: the origin's tag, generation and sequence, all big-endian.
// A summary has a name before its header is seen. A peer that knows an origin's id can compute the beginning of all its
// names. The names do not reveal the origin to anybody else. FORMAT.md of package summary specifies the bytes.
type GroupID [16]byte

// OriginTag returns the tag of an origin under seed number 0: eight bytes of a hash of its peer id. See [Tag] for other
// numbers.
func OriginTag(origin string) uint64 {
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), "venn/origin/1\x00"...), origin...))
	return binary.BigEndian.Uint64(sum[:])
}

// Place returns the place of a peer: see package space.
func (p PeerID) Place() space.Place { return space.Place(OriginTag(string(p))) }

// Tag returns the tag of an origin under a seed. While a network rotates its seed, an origin has a summary under each
// of two seed numbers. [RotateTag] computes one tag from the other.
func Tag(s summary.SeedTag, origin string) uint64 { return OriginTag(origin) ^ mask(s) }

// RotateTag returns the tag, under another seed number, of the origin that has the given tag under the seed number from.
func RotateTag(tag uint64, from, to summary.SeedTag) uint64 { return tag ^ mask(from) ^ mask(to) }

// mask returns the value that a seed number XORs into a tag; 0 for seed number 0.
func mask(s summary.SeedTag) uint64 { return uint64(s.Number) * 0x9E3779B97F4A7C15 }

// NewGroup returns the name of an epoch of the origin with the given tag.
func NewGroup(tag uint64, e summary.Epoch) GroupID {
	var g GroupID
	binary.BigEndian.PutUint64(g[0:], tag)
	binary.BigEndian.PutUint32(g[8:], e.Generation)
	binary.BigEndian.PutUint32(g[12:], e.Sequence)
	return g
}

// GroupOf returns the name of the summary with header h.
func GroupOf(h summary.Header) GroupID { return NewGroup(Tag(h.Seed, h.Origin), h.Epoch) }

// OriginTag returns the tag of the origin, see [Tag].
func (g GroupID) OriginTag() uint64 { return binary.BigEndian.Uint64(g[:8]) }

// Epoch returns the epoch in g.
func (g GroupID) Epoch() summary.Epoch {
	return summary.Epoch{Generation: binary.BigEndian.Uint32(g[8:]), Sequence: binary.BigEndian.Uint32(g[12:])}
}

// String returns g in hexadecimal digits.
func (g GroupID) String() string { return fmt.Sprintf("%x", g[:]) }
