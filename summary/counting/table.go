package counting

import (
	"encoding/binary"
	"math/bits"
)

// padding is the number of bytes after the cells, so that the last cell can be read as a whole word.
const padding = 8

// table holds the cells of all subtables, packed without gaps, little-endian.
//
// A cell is remainder<<c | field. An empty cell is 0 (the paper's sentinel). If the remainder is not 0, the field is
// the count less one, so c bits count to 2^c. If it is 0, the field is the count itself, up to 2^c-1. So the sentinel
// costs no cell. The taken cells of a bucket are its first ones.
type table struct {
	bytes []byte

	subtables, cells           int
	bucketBits, remainderBits  uint
	counterBits, cellBits      uint
	fingerprintMask            uint64
	remainderMask, counterMask uint64
	cellMask                   uint64
	words                      bool // a bucket is two words of four cells each, compared in parallel
}

func newTable(p Params) table {
	t := table{
		subtables: p.Subtables, cells: p.Cells,
		bucketBits: uint(log2(p.Buckets)), remainderBits: uint(p.RemainderBits), counterBits: uint(p.CounterBits),
	}
	t.cellBits = t.remainderBits + t.counterBits
	t.fingerprintMask = mask(t.bucketBits + t.remainderBits)
	t.remainderMask, t.counterMask, t.cellMask = mask(t.remainderBits), mask(t.counterBits), mask(t.cellBits)
	t.words = t.cellBits == 16 && t.cells == 8
	t.bytes = make([]byte, p.tableBytes()+padding)
	return t
}

// mask returns a number with the n lowest bits set; n is 0 to 64.
func mask(n uint) uint64 { return 1<<n - 1 }

func (t *table) buckets() uint64 { return uint64(t.subtables) << t.bucketBits }

func (t *table) get(bucket uint64, cell int) uint64 {
	if t.words {
		return uint64(binary.LittleEndian.Uint16(t.bytes[bucket*16+uint64(cell)*2:]))
	}
	bit := (bucket*uint64(t.cells) + uint64(cell)) * uint64(t.cellBits)
	return binary.LittleEndian.Uint64(t.bytes[bit/8:]) >> (bit % 8) & t.cellMask
}

func (t *table) set(bucket uint64, cell int, v uint64) {
	if t.words {
		binary.LittleEndian.PutUint16(t.bytes[bucket*16+uint64(cell)*2:], uint16(v))
		return
	}
	bit := (bucket*uint64(t.cells) + uint64(cell)) * uint64(t.cellBits)
	word := t.bytes[bit/8:]
	old := binary.LittleEndian.Uint64(word)
	binary.LittleEndian.PutUint64(word, old&^(t.cellMask<<(bit%8))|v<<(bit%8))
}

// clear frees a cell. The last taken cell of the bucket moves into it.
func (t *table) clear(bucket uint64, cell int) {
	last := t.load(bucket) - 1
	t.set(bucket, cell, t.get(bucket, last))
	t.set(bucket, last, 0)
}

func (t *table) cell(remainder uint64, count int) uint64 {
	if remainder == 0 {
		return uint64(count)
	}
	return remainder<<t.counterBits | uint64(count-1)
}

func (t *table) remainder(v uint64) uint64 { return v >> (t.counterBits % 64) }

func (t *table) count(v uint64) int {
	if t.remainder(v) == 0 {
		return int(v)
	}
	return int(v&t.counterMask) + 1
}

// full reports whether the cell's count is at its highest value.
func (t *table) full(v uint64) bool { return v&t.counterMask == t.counterMask }

// highest returns the highest count that a cell with this remainder can have.
func (t *table) highest(remainder uint64) int { return t.count(t.cell(remainder, 1) | t.counterMask) }

// scan returns the index of a remainder's cell in a bucket; -1 if there is none.
func (t *table) scan(bucket, remainder uint64) int {
	bit := bucket * uint64(t.cells) * uint64(t.cellBits)
	for cell := range t.cells {
		v := binary.LittleEndian.Uint64(t.bytes[bit/8:]) >> (bit % 8) & t.cellMask
		if v == 0 {
			return -1
		}
		if v>>(t.counterBits%64) == remainder {
			return cell
		}
		bit += uint64(t.cellBits)
	}
	return -1
}

// load returns the number of taken cells in a bucket. It searches from the end, because most are taken.
func (t *table) load(bucket uint64) int {
	if t.words {
		return loadOfWords(t.pair(bucket))
	}
	load := t.cells
	for load > 0 && t.get(bucket, load-1) == 0 {
		load--
	}
	return load
}

// Masks for four cells of 16 bits in a word.
const (
	lanes    = 0x0001_0001_0001_0001
	laneTops = 0x8000_8000_8000_8000
)

func (t *table) pair(bucket uint64) (low, high uint64) {
	b := t.bytes[bucket*16:][:16]
	return binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
}

// taken returns a word with the top bit of every lane that is not 0. No carry leaves a lane.
func taken(x uint64) uint64 { return (x&^laneTops + ^uint64(laneTops) | x) & laneTops }

// zeros returns a word whose lowest set bit is the top bit of the lowest lane that is 0. Bits above that one mean
// nothing.
func zeros(x uint64) uint64 { return (x - lanes) &^ x & laneTops }

// matchWords returns the index of a remainder's cell among eight cells of 16 bits; -1 if there is none. pattern is the
// remainder, shifted to its place in a cell.
func (t *table) matchWords(low, high, pattern uint64) int {
	all := pattern * lanes
	remainders := ^(t.counterMask * lanes)
	inLow, inHigh := zeros((low^all)&remainders), zeros((high^all)&remainders)
	if inLow|inHigh == 0 {
		return -1
	}
	cell := bits.TrailingZeros64(inLow) / 16 // 4 if there is none
	if inLow == 0 {
		cell += bits.TrailingZeros64(inHigh) / 16
	}
	if pattern == 0 && cell >= loadOfWords(low, high) {
		return -1 // free cells look like the remainder 0
	}
	return cell
}

func loadOfWords(low, high uint64) int { return bits.OnesCount64(taken(low)>>1 | taken(high)) }
