package index

import (
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/inside"
)

// Index finds the peers that may hold a key. The zero value is empty and ready. The caller numbers the peers with
// small numbers, from 0 on. It is not safe for concurrent use: even queries write to shared memory.
type Index struct {
	entries []entry // entries by peer
	groups  map[layout]*group
	order   []*group // groups in the order of their creation, so that runs are reproducible

	column    []uint64 // reused memory of one column
	hits      []int32
	acc, part []uint64 // reused memory of two rows; of maxWords words each, from the first query on
	prefixes  []*summary.Prefix
	loaded    uint64 // sum of the results of [stripe.load], kept so that the reads happen
	bytes     int    // bytes of all stripes
}

// entry is the record of one peer. It takes 24 bytes.
type entry struct {
	prefix *summary.Prefix // the peer's prefix; nil: none is set
	stripe *stripe         // the peer's stripe; a stripe without columns holds the loose peers
	rate   float32         // false-positive rate of the prefix when its column was written
	col    uint16          // column in the stripe, or position among the loose peers
}

func (e *entry) loose() bool { return e.stripe.words == 0 }

// group holds the peers of one layout.
type group struct {
	layout  layout
	stripes []*stripe
	loose   stripe // the peers without a column; this stripe has no rows
}

// peers returns the number of peers in a group.
func (g *group) peers() int {
	n := len(g.loose.peers)
	for _, s := range g.stripes {
		n += s.used
	}
	return n
}

// Set sets a peer's prefix, replacing the last one. If p is nil or has no parts, Set removes the peer.
func (x *Index) Set(peer int, p *summary.Prefix) {
	for len(x.entries) <= peer { // grows by an eighth, so that little stands empty
		x.entries = slices.Concat(x.entries, make([]entry, 8+len(x.entries)/8))
	}
	e := &x.entries[peer]
	switch {
	case p == nil || p.Parts() == 0:
		if e.prefix != nil {
			x.remove(peer)
		}
	case e.prefix == nil:
		x.insert(peer, p)
	case e.grown(p):
		e.prefix = p
	case !e.loose() && e.stripe.group.layout == layoutOf(p):
		x.write(e, p)
	default:
		x.remove(peer)
		x.insert(peer, p)
	}
}

// grown reports whether p extends the entry's prefix by so little that the column may stay as it is.
func (e *entry) grown(p *summary.Prefix) bool {
	old := e.prefix
	if p.Header().Chain != old.Header().Chain || p.Parts() < old.Parts() {
		return false
	}
	if e.loose() { // the peer has no column, but may get one of its layout
		return e.stripe.group.layout == layoutOf(p)
	}
	return 4*p.FalsePositiveRate() > float64(e.rate)
}

// Prefix returns the prefix of a peer, nil if it has none.
func (x *Index) Prefix(peer int) *summary.Prefix {
	if peer >= len(x.entries) {
		return nil
	}
	return x.entries[peer].prefix
}

// insert gives a peer a free column of its prefix's layout. Without a free column the peer becomes loose. Once there
// are enough loose peers, a new stripe takes them.
func (x *Index) insert(peer int, p *summary.Prefix) {
	e := &x.entries[peer]
	g := x.group(layoutOf(p))
	*e = entry{prefix: p, stripe: &g.loose, col: uint16(len(g.loose.peers))}
	for _, s := range g.stripes {
		if !s.full() {
			x.settle(peer, s)
			return
		}
	}
	g.loose.peers = append(g.loose.peers, int32(peer))
	words, atOnce := g.layout.words(g.peers())
	if !atOnce && 4*len(g.loose.peers) < 64*words {
		return
	}
	x.join(g)
	s := newStripe(g, words)
	g.stripes = append(g.stripes, s)
	x.bytes += s.bytes()
	for _, peer := range g.loose.peers {
		x.settle(int(peer), s)
	}
	g.loose.peers = nil
}

// join joins pairs of stripes of equal width. All stripes are full when a new one begins. A query then reads fewer
// and longer pieces of memory.
func (x *Index) join(g *group) {
	for i := len(g.stripes) - 1; i > 0; i-- {
		s, t := g.stripes[i-1], g.stripes[i]
		if s.words != t.words || !g.layout.mayHave(2*s.words) {
			continue
		}
		j := joined(s, t)
		x.bytes += j.bytes() - s.bytes() - t.bytes()
		for col, peer := range j.peers {
			e := &x.entries[peer]
			e.stripe, e.col = j, uint16(col)
		}
		g.stripes[i-1] = j
		g.stripes = slices.Delete(g.stripes, i, i+1)
	}
}

// settle moves a peer into a column of a stripe.
func (x *Index) settle(peer int, s *stripe) {
	e := &x.entries[peer]
	e.stripe, e.col = s, uint16(s.take(peer))
	x.write(e, e.prefix)
}

// write rewrites a peer's column.
func (x *Index) write(e *entry, p *summary.Prefix) {
	x.column = e.stripe.group.layout.column(x.column, p)
	e.stripe.write(int(e.col), x.column)
	e.prefix, e.rate = p, float32(p.FalsePositiveRate())
}

// group returns the group of a layout, and makes it if there is none.
func (x *Index) group(l layout) *group {
	g := x.groups[l]
	if g == nil {
		if x.groups == nil {
			x.groups = map[layout]*group{}
		}
		g = &group{layout: l}
		g.loose.group = g
		x.groups[l] = g
		x.order = append(x.order, g)
	}
	return g
}

// remove frees a peer's column, or its position among the loose peers. It dissolves a stripe that is nearly empty, and
// forgets a group without peers.
func (x *Index) remove(peer int) {
	e := x.entries[peer]
	x.entries[peer] = entry{}
	g := e.stripe.group
	if e.loose() {
		peers := g.loose.peers
		last := len(peers) - 1
		if moved := peers[last]; int(e.col) < last {
			peers[e.col] = moved
			x.entries[moved].col = e.col
		}
		g.loose.peers = peers[:last]
	} else {
		e.stripe.release(int(e.col))
		if 8*e.stripe.used < len(e.stripe.peers) { // the stripe is nearly empty
			x.dissolve(e.stripe)
		}
	}
	if g.peers() == 0 && len(g.stripes) == 0 {
		x.forget(g)
	}
}

// dissolve frees a stripe and inserts its peers again. They fill less than an eighth of its columns. Each takes as
// long as setting a new peer.
func (x *Index) dissolve(s *stripe) {
	s.group.stripes = slices.DeleteFunc(s.group.stripes, func(other *stripe) bool { return other == s })
	x.bytes -= s.bytes()
	for w, word := range s.live {
		for ; word != 0; word &= word - 1 {
			peer := int(s.peers[64*w+bits.TrailingZeros64(word)])
			x.insert(peer, x.entries[peer].prefix)
		}
	}
}

func (x *Index) forget(g *group) {
	delete(x.groups, g.layout)
	x.order = slices.DeleteFunc(x.order, func(other *group) bool { return other == g })
}

// Candidates appends the peers whose prefix contains f to dst, in ascending order.
func (x *Index) Candidates(dst []int, f summary.Fingerprint) []int {
	x.match(f)
	return x.check(dst, f)
}

// match puts the peers that the filter does not rule out into x.hits.
func (x *Index) match(f summary.Fingerprint) {
	x.hits = x.hits[:0]
	if x.acc == nil {
		x.acc, x.part = make([]uint64, maxWords), make([]uint64, maxWords)
	}
	for _, g := range x.order {
		x.hits = append(x.hits, g.loose.peers...)
		if len(g.stripes) == 0 {
			continue
		}
		r := g.layout.reading(f)
		for _, s := range g.stripes {
			x.loaded += s.load(&r)
		}
		for _, s := range g.stripes {
			x.hits = s.match(x.hits, &r, x.acc, x.part)
		}
	}
}

// reading returns the rows that a query for f reads in stripes of a layout.
func (l *layout) reading(f summary.Fingerprint) (r reading) {
	rows := l.rows()
	r.used = l.used
	for b := range l.used {
		u, block := l.blocks[b], &r.blocks[b]
		pos := inside.Position(f, b)
		h, step := hash(pos>>(64-u.level), b)
		block.n = int(u.rows)
		for i := range block.n {
			block.rows[i] = place(h, rows)
			h += step
		}
		block.unknown = -1
		if l.partial {
			block.unknown = rows + b*wordBits + int(pos>>58)
		}
	}
	return r
}

// check appends to dst the hits whose prefix contains f, in ascending order.
func (x *Index) check(dst []int, f summary.Fingerprint) []int {
	x.prefixes = x.prefixes[:0]
	for _, peer := range x.hits {
		x.prefixes = append(x.prefixes, x.entries[peer].prefix)
	}
	first := len(dst)
	dst = inside.Holders(dst, x.prefixes, f)
	for i, hit := range dst[first:] {
		dst[first+i] = int(x.hits[hit])
	}
	slices.Sort(dst[first:])
	return dst
}

// Memory returns the approximate number of bytes that the index takes, without the prefixes and without the fixed
// number of bytes that each peer takes. O(1).
func (x *Index) Memory() int {
	return x.bytes + 8*cap(x.column) + 4*cap(x.hits) + 8*cap(x.prefixes)
}

// Matches returns the number of peers that the filter does not rule out for a key: the candidates and a few more.
func (x *Index) Matches(f summary.Fingerprint) int {
	x.match(f)
	return len(x.hits)
}
