package index

import (
	"math"
	"math/bits"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/inside"
)

// Rows is the largest number of rows of a stripe that a query reads.
const Rows = 10

const (
	wordBits    = 64                   // columns of a word, least rows of a stripe, and slices of hash space
	stripeBytes = 32 << 20             // most bytes of rows in a stripe, unless its rows have one word
	maxWords    = 64                   // most words of a row in a stripe; an entry numbers columns by 16 bits
	manyPeers   = wordBits * lineWords // columns of the largest new stripe; the next peer gets a new one at once
	sliceSpan   = 1 << 32 / wordBits   // size of a slice, in units of [inside.Region]
	perOctave   = 4                    // number of sizes of stripes in each doubling of their rows
)

// With 512 words a row, a key is looked for among 100,000 peers in 20 µs in place of 27, but a peer's summary is
// replaced in 77 µs in place of 29 (`cd testnet/bench && go run . index`). This does not compile if an entry's 16 bits
// cannot number all columns of a stripe.
var _ [1<<16 - wordBits*maxWords]struct{}

const (
	// Prefixes of more than largeKeys keys get fewRows rows. Memory has room for few of them, so asking some in vain
	// costs little. A row takes 1.44 bits for each of their keys.
	largeKeys = 8 << 10
	fewRows   = 6
)

// layout determines the rows in which the nodes of a prefix set bits. All columns of a stripe have the same layout, so
// that a query reads the same rows for all of them.
type layout struct {
	blocks  [Rows]use
	used    int  // number of blocks indexed
	partial bool // the prefixes do not know all of hash space
	size    int  // logarithm of the number of rows, to the base 2^(1/perOctave)
}

// use holds the level at which one block is indexed, and the number of rows for each node.
type use struct{ level, rows uint8 }

// layoutOf returns the layout of a prefix with at least one part.
func layoutOf(p *summary.Prefix) layout {
	var l layout
	n := float64(max(1, p.Plan().N))
	log := bits.Len(uint(p.Plan().N))
	most := Rows
	if p.Plan().N > largeKeys {
		most = fewRows
	}
	left, ones := most, 0.0
	for b := 0; left > 0; b++ {
		known := inside.Known(p, b)
		if len(known) == 0 {
			break
		}
		level, share := summary.FingerprintBits, 0.0
		for _, r := range known {
			level = min(level, r.Level)
			share += float64(float64(r.End-r.Begin) / (1 << 32))
		}
		// Let d be a node's level minus log2 of the keys. A peer of this size has a random node with a probability of
		// about 2^-d, so more than d rows are wasted.
		rows := min(left, max(1, level-log+2))
		l.blocks[b] = use{uint8(level), uint8(rows)}
		l.used++
		l.partial = l.partial || share < 1
		left -= rows
		cells := math.Ldexp(1, level)
		ones += float64(float64(rows) * share * cells * -math.Expm1(-n/cells))
	}
	l.size = int(math.Round(perOctave * math.Log2(max(ones/math.Ln2, wordBits))))
	return l
}

// rows returns the number of rows of a stripe onto which nodes are hashed.
func (l *layout) rows() int { return int(math.Exp2(float64(l.size) / perOctave)) }

// extra returns the number of rows that mark unknown slices of hash space. A partial prefix marks each slice that it
// does not know.
func (l *layout) extra() int {
	if l.partial {
		return l.used * wordBits
	}
	return 0
}

// words returns the number of words in a row of a new stripe, for a layout with the given number of peers. atOnce
// reports whether the next peer gets the stripe at once. Otherwise peers wait until they fill a quarter of it, so that
// few columns stay empty. In a layout of many peers a new stripe is small; full stripes of a layout are [joined].
func (l *layout) words(peers int) (words int, atOnce bool) {
	if atOnce = peers > manyPeers; atOnce {
		peers /= 4
	}
	words = 1
	for 2*words <= lineWords && l.mayHave(2*words) && 2*words*wordBits <= peers {
		words *= 2
	}
	return words, atOnce
}

// mayHave reports whether a stripe may have rows of the given number of words.
func (l *layout) mayHave(words int) bool { return words <= maxWords && words*8*l.rows() <= stripeBytes }

// hash returns the two hashes of a block's node that determine its rows: the first row's, and the step to the next.
func hash(node uint64, block int) (a, b uint64) {
	a = mix(node + uint64(block+1)*0x9E3779B97F4A7C15)
	return a, mix(a) | 1
}

// mix is the finalizer of MurmurHash3.
func mix(z uint64) uint64 {
	z = (z ^ z>>33) * 0xFF51AFD7ED558CCD
	z = (z ^ z>>33) * 0xC4CEB9FE1A85EC53
	return z ^ z>>33
}

// place maps a hash to one of the rows.
func place(h uint64, rows int) int {
	hi, _ := bits.Mul64(h, uint64(rows))
	return int(hi)
}

// column returns the bits of prefix p in a stripe of layout l. It reuses the memory of dst.
func (l *layout) column(dst []uint64, p *summary.Prefix) []uint64 {
	rows := l.rows()
	n := (rows + l.extra() + 63) / 64
	if cap(dst) < n {
		dst = make([]uint64, n)
	}
	dst = dst[:n]
	clear(dst)
	for b := range l.used {
		if !l.partial {
			l.hashNodes(dst, p, b, rows, 0, 1<<32)
			continue
		}
		known := knownSlices(inside.Known(p, b))
		for s := range wordBits {
			if known>>s&1 == 1 {
				l.hashNodes(dst, p, b, rows, uint64(s)*sliceSpan, uint64(s+1)*sliceSpan)
			} else {
				at := rows + b*wordBits + s
				dst[at/64] |= 1 << (at % 64)
			}
		}
	}
	return dst
}

// hashNodes sets in dst the rows of the nodes of p's block b that lie in hash space from begin to end, in units of
// [inside.Region].
func (l *layout) hashNodes(dst []uint64, p *summary.Prefix, b, rows int, begin, end uint64) {
	u := l.blocks[b]
	w := &inside.Walker{}
	w.Reset(p, b, int(u.level), begin, end)
	for nodes := w.Next(); nodes != nil; nodes = w.Next() {
		for _, v := range nodes {
			h, step := hash(v, b)
			for range u.rows {
				at := place(h, rows)
				dst[at/64] |= 1 << (at % 64)
				h += step
			}
		}
	}
}

// knownSlices returns a bit set of the slices of hash space that lie wholly in the regions. The regions must be in
// order.
func knownSlices(regions []inside.Region) (known uint64) {
	begin, end := uint64(0), uint64(0)
	for _, r := range append(regions, inside.Region{Begin: 1 << 33}) {
		if r.Begin == end {
			end = r.End
			continue
		}
		for s := (begin + sliceSpan - 1) / sliceSpan; (s+1)*sliceSpan <= end; s++ {
			known |= 1 << s
		}
		begin, end = r.Begin, r.End
	}
	return known
}
