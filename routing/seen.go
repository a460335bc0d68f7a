package routing

import (
	"time"

	"github.com/venn-p2p/venn/overlay"
)

// seen remembers which forwarded queries came by. It may forget after a while, never invent: a forgotten query costs a
// repeat, an invented one an answer.
type seen interface {
	// Add takes in a query and says whether it is new.
	Add(now time.Duration, origin overlay.PeerID, nonce uint64) bool
}

const (
	seenBatch = 8192
	seenFor   = time.Minute
)

// batches is the plain form of seen: two sets, of which the older is dropped when the younger is a minute old or holds
// 8,192 queries. So a query is remembered for at least the last 8,192 others or the last minute, whichever is less, and
// at most 16,384 are held.
type batches struct {
	young, old map[sighting]struct{}
	turn       time.Duration // when young becomes old
}

type sighting struct {
	origin overlay.PeerID
	nonce  uint64
}

func (b *batches) Add(now time.Duration, origin overlay.PeerID, nonce uint64) bool {
	if b.young == nil || now >= b.turn || len(b.young) >= seenBatch {
		b.old, b.young, b.turn = b.young, map[sighting]struct{}{}, now+seenFor
	}
	s := sighting{origin, nonce}
	if _, ok := b.old[s]; ok {
		return false
	}
	if _, ok := b.young[s]; ok {
		return false
	}
	b.young[s] = struct{}{}
	return true
}
