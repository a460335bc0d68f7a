// Package group names summaries by 16 bytes each: the origin, the seed number and the epoch.
//
// A summary has a name before its header is seen. A peer that knows an origin's id can compute the beginning of all
// its names. The names do not reveal the origin to anybody else. FORMAT.md of package summary specifies the bytes.
package group

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/venn-p2p/venn/summary"
)

// ID names one epoch of one origin under one seed number: the origin's tag, generation and sequence, all big-endian.
type ID [16]byte

// OriginTag returns the tag of an origin under seed number 0: eight bytes of a hash of its peer id. See [Tag] for other
// numbers.
func OriginTag(origin string) uint64 {
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), "venn/origin/1\x00"...), origin...))
	return binary.BigEndian.Uint64(sum[:])
}

// Tag returns the tag of an origin under a seed. While a network rotates its seed, an origin has a summary under each
// of two seed numbers. [Rotate] computes one tag from the other.
func Tag(s summary.SeedTag, origin string) uint64 { return OriginTag(origin) ^ mask(s) }

// Rotate returns the tag, under another seed number, of the origin that has the given tag under the seed number from.
func Rotate(tag uint64, from, to summary.SeedTag) uint64 { return tag ^ mask(from) ^ mask(to) }

// mask returns the value that a seed number XORs into a tag; 0 for seed number 0.
func mask(s summary.SeedTag) uint64 { return uint64(s.Number) * 0x9E3779B97F4A7C15 }

// New returns the name of an epoch of the origin with the given tag.
func New(tag uint64, e summary.Epoch) ID {
	var g ID
	binary.BigEndian.PutUint64(g[0:], tag)
	binary.BigEndian.PutUint32(g[8:], e.Generation)
	binary.BigEndian.PutUint32(g[12:], e.Sequence)
	return g
}

// Of returns the name of the summary with header h.
func Of(h summary.Header) ID { return New(Tag(h.Seed, h.Origin), h.Epoch) }

// OriginTag returns the tag of the origin, see [Tag].
func (g ID) OriginTag() uint64 { return binary.BigEndian.Uint64(g[:8]) }

// Epoch returns the epoch in g.
func (g ID) Epoch() summary.Epoch {
	return summary.Epoch{Generation: binary.BigEndian.Uint32(g[8:]), Sequence: binary.BigEndian.Uint32(g[12:])}
}

// String returns g in hexadecimal digits.
func (g ID) String() string { return fmt.Sprintf("%x", g[:]) }
