package exchange

import (
	"math/bits"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/room"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// trade is what one link and this node have said about one origin. It takes 16 bytes.
type trade struct {
	theirs   summary.Epoch // the newest epoch that the peer says it holds
	have     uint16        // and how many parts of it
	toldHave uint16        // parts of the newest epoch held here, as last announced to the peer; 0: none
	// rest is, from the lowest bit: the epochs from which the peer can make deltas to theirs (7 bits), whether the trade
	// is in the link's blames (1 bit), and when toldHave was announced, in units of stampUnit (24 bits).
	rest uint32
}

const (
	blamedBit = uint32(wire.MaxBases) + 1
	stampAt   = 8 // the lowest bit of the stamp
)

// bases are the epochs from which the peer can make deltas to its newest one.
func (t trade) bases() wire.Bases { return wire.Bases(t.rest) & wire.MaxBases }

func (t *trade) setBases(b wire.Bases) {
	t.rest = t.rest&^uint32(wire.MaxBases) | uint32(b&wire.MaxBases)
}

// blamed says whether the trade is in the link's blames.
func (t trade) blamed() bool { return t.rest&blamedBit != 0 }

func (t *trade) setBlamed(yes bool) {
	if t.rest &^= blamedBit; yes {
		t.rest |= blamedBit
	}
}

// sinceTold is how long ago toldHave was announced. A time longer than stampRound counts from the beginning again: the
// next announcement is then a little late.
func (t trade) sinceTold(now time.Duration) time.Duration {
	return time.Duration((stampOf(now)-t.rest>>stampAt)%(1<<(32-stampAt))) * stampUnit
}

// Times of announcements are kept in units of stampUnit and go round after stampRound, 46 hours.
const (
	stampUnit  = 10 * time.Millisecond
	stampRound = stampUnit << (32 - stampAt)
)

func stampOf(t time.Duration) uint32 { return uint32(t / stampUnit) }

// ledger is the trades of a link, by directory index. There is one for every link and every peer known, and these are
// much of the memory of a directory of small summaries. So a trade is a few bytes, and only those that there are take
// any.
type ledger []page

// pageSize is how many directory indexes a page covers: with few peers known, a link has one page.
const pageSize = 256

// page is the trades of pageSize directory indexes. It is a line of the processor's cache.
type page struct {
	there  [pageSize / 64]uint64 // which of them have a trade, by bits
	before [pageSize / 64]uint16 // how many trades the words before have
	trades []trade               // those, in order
}

// find returns where a page has, or would have, the trade of a directory index, and whether it has it.
func (p *page) find(i int) (at int, there bool) {
	word, bit := i%pageSize/64, uint64(1)<<(i%64)
	return int(p.before[word]) + bits.OnesCount64(p.there[word]&(bit-1)), p.there[word]&bit != 0
}

// mark notes whether there is a trade of a directory index, which changes.
func (p *page) mark(i int, there bool) {
	word := i % pageSize / 64
	p.there[word] ^= 1 << (i % 64)
	for w := word + 1; w < len(p.before); w++ {
		if there {
			p.before[w]++
		} else {
			p.before[w]--
		}
	}
}

// find returns the trade of a directory index; nil if there is none.
func (t ledger) find(i int) *trade {
	if i/pageSize >= len(t) {
		return nil
	}
	p := &t[i/pageSize]
	at, there := p.find(i)
	if !there {
		return nil
	}
	return &p.trades[at]
}

// at returns the trade of a directory index, to be changed until the next call of at or forget.
func (t *ledger) at(i int) *trade {
	if pages := i/pageSize + 1; pages > len(*t) {
		*t = append(make(ledger, 0, pages), *t...)[:pages]
	}
	p := &(*t)[i/pageSize]
	at, there := p.find(i)
	if !there {
		p.trades = slices.Insert(room.Grow(p.trades), at, trade{})
		p.mark(i, true)
	}
	return &p.trades[at]
}

// known is a copy of a trade, for reading; zero where nothing is traded.
func (t ledger) known(i int) trade {
	if found := t.find(i); found != nil {
		return *found
	}
	return trade{}
}

// forget drops what was exchanged about a directory index.
func (t ledger) forget(i int) {
	if t.find(i) == nil {
		return
	}
	p := &t[i/pageSize]
	at, _ := p.find(i)
	p.trades = room.Shrink(slices.Delete(p.trades, at, at+1))
	p.mark(i, false)
}

// renewed notes that a newer epoch is held here, which the peer has not heard of.
func (t ledger) renewed(i int) {
	if found := t.find(i); found != nil {
		found.toldHave = 0
	}
}

// claims notes that the peer says it holds parts of an epoch; it says whether that is more than was known.
func (t *trade) claims(e summary.Epoch, have uint16) bool {
	switch {
	case e.After(t.theirs):
		t.theirs, t.have = e, have
		t.setBases(0)
	case e == t.theirs && have > t.have:
		t.have = have
	default:
		return false
	}
	return true
}

// tells notes that we announced to the peer how much we hold of the newest epoch.
func (t *trade) tells(have int, now time.Duration) {
	t.toldHave = uint16(have)
	t.rest = t.rest&(1<<stampAt-1) | stampOf(now)<<stampAt
}
