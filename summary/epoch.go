package summary

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Epoch orders the summaries of one origin: a new generation after its memory of earlier ones was lost, a new sequence
// number with each publication.
type Epoch struct{ Generation, Sequence uint32 }

// Compare is negative when e is before o, positive when it is after.
func (e Epoch) Compare(o Epoch) int {
	return cmp.Or(cmp.Compare(e.Generation, o.Generation), cmp.Compare(e.Sequence, o.Sequence))
}

// After reports whether e is later than o.
func (e Epoch) After(o Epoch) bool { return e.Compare(o) > 0 }

// String is "generation.sequence".
func (e Epoch) String() string { return fmt.Sprintf("%d.%d", e.Generation, e.Sequence) }

// GroupID names one epoch of one origin under one seed number: eight bytes of a hash of the origin's id with the number
// mixed in, generation and sequence, all big-endian.
type GroupID [16]byte

// OriginTag is the hash of an origin's id that starts its group ids under seed number 0; see [SeedTag.OriginTag] for
// others.
func OriginTag(origin string) uint64 {
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), "venn/origin/1\x00"...), origin...))
	return binary.BigEndian.Uint64(sum[:])
}

// OriginTag starts the group ids of an origin's summaries under s. While a network rotates its seed, an origin has a
// summary under either number, and whoever knows the tag of one knows that of the other: see Rotated.
func (s SeedTag) OriginTag(origin string) uint64 { return OriginTag(origin) ^ s.mask() }

// Rotated is the tag, under another seed number of the network, of the origin that has this tag under s.
func (s SeedTag) Rotated(tag uint64, to SeedTag) uint64 { return tag ^ s.mask() ^ to.mask() }

// mask is what the number does to a tag: another for each, none for 0.
func (s SeedTag) mask() uint64 { return uint64(s.Number) * 0x9E3779B97F4A7C15 }

// NewGroupID names an epoch of the origin with a tag.
func NewGroupID(tag uint64, e Epoch) GroupID {
	var g GroupID
	binary.BigEndian.PutUint64(g[0:], tag)
	binary.BigEndian.PutUint32(g[8:], e.Generation)
	binary.BigEndian.PutUint32(g[12:], e.Sequence)
	return g
}

// Group names the summary that h heads.
func (h *Header) Group() GroupID { return NewGroupID(h.Seed.OriginTag(h.Origin), h.Epoch) }

// OriginTag is the tag of the origin, see [SeedTag.OriginTag].
func (g GroupID) OriginTag() uint64 { return binary.BigEndian.Uint64(g[:8]) }

// Epoch is the epoch in g.
func (g GroupID) Epoch() Epoch {
	return Epoch{binary.BigEndian.Uint32(g[8:]), binary.BigEndian.Uint32(g[12:])}
}

// String is the group id in hexadecimal digits.
func (g GroupID) String() string { return fmt.Sprintf("%x", g[:]) }
