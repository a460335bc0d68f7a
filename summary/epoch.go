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

// GroupID names one epoch of one origin: eight bytes of a hash of the origin's id, generation and sequence, all
// big-endian.
type GroupID [16]byte

// OriginTag is the hash of an origin's id that starts its group ids.
func OriginTag(origin string) uint64 {
	sum := sha256.Sum256(append(append(make([]byte, 0, 128), "venn/origin/1\x00"...), origin...))
	return binary.BigEndian.Uint64(sum[:])
}

// NewGroupID names an epoch of the origin with a tag.
func NewGroupID(tag uint64, e Epoch) GroupID {
	var g GroupID
	binary.BigEndian.PutUint64(g[0:], tag)
	binary.BigEndian.PutUint32(g[8:], e.Generation)
	binary.BigEndian.PutUint32(g[12:], e.Sequence)
	return g
}

// Group names the summary that h heads.
func (h *Header) Group() GroupID { return NewGroupID(OriginTag(h.Origin), h.Epoch) }

// OriginTag is the tag of the origin, see [OriginTag].
func (g GroupID) OriginTag() uint64 { return binary.BigEndian.Uint64(g[:8]) }

// Epoch is the epoch in g.
func (g GroupID) Epoch() Epoch {
	return Epoch{binary.BigEndian.Uint32(g[8:]), binary.BigEndian.Uint32(g[12:])}
}

// String is the group id in hexadecimal digits.
func (g GroupID) String() string { return fmt.Sprintf("%x", g[:]) }
