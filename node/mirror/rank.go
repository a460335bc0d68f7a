package mirror

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/libp2p/go-libp2p/core/peer"
)

// rank orders the mirrors that fetch the same content at once. A mirror takes bytes only from one of a lower rank: one
// with more bytes, or with as many that takes from no peer. A mirror's bytes never get fewer, and it never has more than
// the mirror that it takes from. So mirrors never wait for each other in a circle. Of mirrors that begin together the
// lowest asks the origin, and one that has bytes goes on.
type rank struct {
	have   int64  // bytes from the beginning on
	origin bool   // has asked the origin
	draw   uint64 // a hash of peer and content: it spreads the work
}

func rankOf(p peer.ID, s Sum) rank {
	h := sha256.New()
	_, _ = h.Write([]byte(p))
	_, _ = h.Write(s.Hash[:])
	return rank{draw: binary.BigEndian.Uint64(h.Sum(nil))}
}

// of returns the rank with what a mirror says of itself.
func (r rank) of(s state) rank { return rank{s.Have, s.Origin, r.draw} }

// below reports whether a mirror of rank s may take from one of rank r; takes says that the latter takes from a peer
// itself.
func (r rank) below(s rank, takes bool) bool {
	switch {
	case r.have != s.have:
		return r.have > s.have
	case takes || r.origin != s.origin:
		return !takes && r.origin
	}
	return r.draw < s.draw
}
