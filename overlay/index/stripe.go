package index

import "math/bits"

// stripe is the columns of up to 64·words peers of one class: rows of words, one after the other.
type stripe struct {
	words int
	rows  []uint64
	live  []uint64 // columns in use
	peers []int32  // by column
	used  int
}

func newStripe(c *class) *stripe {
	w := c.words()
	return &stripe{
		words: w,
		rows:  make([]uint64, w*(c.rows()+c.extra())),
		live:  make([]uint64, w),
		peers: make([]int32, 64*w),
	}
}

func (s *stripe) full() bool { return s.used == len(s.peers) }

// take finds a free column for a peer. There is one.
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

// release frees a column. Its bits stay: nobody reads them until it is written anew.
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

// set sets a bit of a column.
func (s *stripe) set(col, row int) { s.rows[row*s.words+col/64] |= 1 << (col % 64) }

// reading is the rows that a query reads in stripes of one class, each given by its first word.
type reading struct {
	blocks [Rows]struct {
		rows    [Rows]int
		n       int
		unknown int // the row that says what is not known; -1 where all is
	}
	used int
}

// match appends the peers whose columns have all rows that are read.
func (s *stripe) match(dst []int32, r *reading) []int32 {
	for w, hit := range s.live {
		for b := range r.used {
			block := &r.blocks[b]
			all := ^uint64(0)
			for _, at := range block.rows[:block.n] {
				all &= s.rows[at+w]
			}
			if block.unknown >= 0 {
				all |= s.rows[block.unknown+w]
			}
			hit &= all
		}
		for ; hit != 0; hit &= hit - 1 {
			dst = append(dst, s.peers[64*w+bits.TrailingZeros64(hit)])
		}
	}
	return dst
}

func (s *stripe) bytes() int { return 8*len(s.rows) + 8*len(s.live) + 4*len(s.peers) + 96 }
