package index

import (
	"math/bits"
	"slices"
)

// stripe holds the columns of up to 64·words peers of one layout, row by row.
type stripe struct {
	group *group
	words int
	rows  []uint64
	live  []uint64 // a bit for each column, set if the column is in use
	peers []int32  // peers by column
	used  int
}

func newStripe(g *group, words int) *stripe {
	w := words
	return &stripe{
		group: g,
		words: w,
		rows:  make([]uint64, w*(g.layout.rows()+g.layout.extra())),
		live:  make([]uint64, w),
		peers: make([]int32, 64*w),
	}
}

// joined returns two full stripes of equal width as one: the columns of s, then those of t.
func joined(s, t *stripe) *stripe {
	j := &stripe{
		group: s.group,
		words: 2 * s.words,
		rows:  make([]uint64, 0, 2*len(s.rows)),
		live:  slices.Concat(s.live, t.live),
		peers: slices.Concat(s.peers, t.peers),
		used:  s.used + t.used,
	}
	for at := 0; at < len(s.rows); at += s.words {
		j.rows = append(j.rows, s.rows[at:at+s.words]...)
		j.rows = append(j.rows, t.rows[at:at+s.words]...)
	}
	return j
}

func (s *stripe) full() bool { return s.used == len(s.peers) }

// take returns a free column for a peer. There must be one.
func (s *stripe) take(peer int) int {
	for w, word := range s.live {
		if free := bits.TrailingZeros64(^word); free < 64 {
			s.live[w] |= 1 << free
			s.used++
			s.peers[64*w+free] = int32(peer)
			return 64*w + free
		}
	}
	panic("index: stripe is full")
}

// release frees a column. Its bits stay, but nothing reads them before the column is rewritten.
func (s *stripe) release(col int) {
	s.live[col/64] &^= 1 << (col % 64)
	s.used--
}

// write writes a whole column.
func (s *stripe) write(col int, column []uint64) {
	shift := col % 64
	rows := s.rows[col/64:]
	for i, word := range column {
		at := 64 * i * s.words
		for range min(64, (len(rows)-at+s.words-1)/s.words) {
			rows[at] = rows[at]&^(1<<shift) | word&1<<shift
			word >>= 1
			at += s.words
		}
	}
}

// reading lists the rows that a query reads in stripes of one layout.
type reading struct {
	blocks [Rows]struct {
		rows    [Rows]int
		n       int
		unknown int // row that marks unknown hash space; -1: all of it is known
	}
	used int
}

// load reads one word of every cache line of the rows that r lists. The loop is so short that the processor waits for
// many lines at the same time; match would wait for the lines of one stripe only. The result keeps the compiler from
// dropping the reads.
func (s *stripe) load(r *reading) (sum uint64) {
	for b := range r.used {
		block := &r.blocks[b]
		for _, at := range block.rows[:block.n] {
			row := s.row(at)
			for i := 0; i < len(row); i += lineWords {
				sum += row[i]
			}
		}
	}
	return sum
}

// lineWords is the number of words in a cache line. A row of a stripe that begins has no more.
const lineWords = 8

// match appends the peers whose columns have all bits set in the rows that r lists. acc and part are scratch memory
// for one row each.
func (s *stripe) match(dst []int32, r *reading, acc, part []uint64) []int32 {
	acc, part = acc[:s.words], part[:s.words]
	copy(acc, s.live)
	for b := range r.used {
		block := &r.blocks[b]
		if block.unknown < 0 {
			s.and(acc, block.rows[:block.n])
			continue
		}
		for i := range part {
			part[i] = ^uint64(0)
		}
		s.and(part, block.rows[:block.n])
		for i, word := range s.row(block.unknown) {
			acc[i] &= part[i] | word
		}
	}
	for w, hit := range acc {
		for ; hit != 0; hit &= hit - 1 {
			dst = append(dst, s.peers[64*w+bits.TrailingZeros64(hit)])
		}
	}
	return dst
}

// row returns one row.
func (s *stripe) row(at int) []uint64 { return s.rows[at*s.words:][:s.words] }

// and ANDs rows into acc, five at a time, so that acc is read and written less often.
func (s *stripe) and(acc []uint64, rows []int) {
	for ; len(rows) >= 5; rows = rows[5:] {
		u, v, w := s.row(rows[0])[:len(acc)], s.row(rows[1])[:len(acc)], s.row(rows[2])[:len(acc)]
		x, y := s.row(rows[3])[:len(acc)], s.row(rows[4])[:len(acc)]
		for i := range acc {
			acc[i] &= u[i] & v[i] & w[i] & x[i] & y[i]
		}
	}
	for _, at := range rows {
		for i, word := range s.row(at)[:len(acc)] {
			acc[i] &= word
		}
	}
}

func (s *stripe) bytes() int { return 8*len(s.rows) + 8*len(s.live) + 4*len(s.peers) + 104 }
