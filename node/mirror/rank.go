package mirror

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/libp2p/go-libp2p/core/peer"
)

// rank orders the mirrors that fetch the same content at once. A mirror takes bytes only from one of a lower rank, so
// no two ever wait for each other. A rank never rises. Of mirrors that begin together, the lowest finds nobody to take
// from: it asks the origin.
type rank struct {
	depth int    // 0: takes from the origin; d+1: from a mirror of depth d; undecided: not known yet
	draw  uint64 // a hash of peer and content: it spreads the work
}

// undecided is the depth of a mirror that looks for somebody to take from. maxDepth bounds the depth in others' states.
const (
	undecided = 1 << 20
	maxDepth  = 1 << 10
)

func rankOf(p peer.ID, s Sum, depth int) rank {
	h := sha256.New()
	_, _ = h.Write([]byte(p))
	_, _ = h.Write(s.Hash[:])
	return rank{depth, binary.BigEndian.Uint64(h.Sum(nil))}
}

// below reports whether a mirror of rank s may take from one of rank r.
func (r rank) below(s rank) bool {
	if r.depth != s.depth {
		return r.depth < s.depth
	}
	return r.draw < s.draw
}
