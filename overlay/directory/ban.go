package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
)

// An origin that signs two summaries under one epoch is banned: all that is held of it is dropped, and nothing more of
// it is accepted for a while. Identities are free, so bans are few and small, and the oldest gives way.
const banFor = agenda.Day

// bans holds the banned origins.
type bans struct {
	until map[uint64]time.Duration // end of each ban, by tag
	order []uint64                 // banned tags, the oldest ban first
	most  int
	lasts time.Duration
}

func newBans(l Limits) bans {
	return bans{until: map[uint64]time.Duration{}, most: l.Bans, lasts: l.BanFor}
}

// add bans a tag.
func (b *bans) add(now time.Duration, tag uint64) {
	if _, known := b.until[tag]; known {
		return
	}
	for len(b.order) >= b.most || len(b.order) > 0 && now >= b.until[b.order[0]] {
		delete(b.until, b.order[0])
		b.order = b.order[1:]
	}
	b.until[tag] = now + b.lasts
	b.order = append(b.order, tag)
}

// has reports whether a tag is banned.
func (b *bans) has(now time.Duration, tag uint64) bool { return now < b.until[tag] }

// memory returns the bytes that the bans count as: each as an entry.
func (b *bans) memory() int { return entryMemory * len(b.order) }

// ban forgets the entries of a peer and bans it.
func (d *Directory) ban(now time.Duration, e *Entry) {
	for _, e := range []*Entry{e, e.sibling} {
		if e != nil {
			d.bans.add(now, e.tag)
			d.Remove(e.Index())
		}
	}
}
