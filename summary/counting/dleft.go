package counting

import (
	"errors"
	"fmt"
	"math"
)

// ErrOverflow is returned by Add if there is no room for a member: its counter is at its highest value, or its buckets
// are full and the filter cannot grow. The message says which. The filter is then unchanged.
var ErrOverflow = errors.New("counting: overflow")

var (
	errBucket  = fmt.Errorf("%w of a bucket", ErrOverflow)
	errCounter = fmt.Errorf("%w of a counter", ErrOverflow)
)

// DLeft is a d-left counting Bloom filter (section 3.2 of the paper). It has d subtables of buckets of cells. A cell
// keeps the remainder of a fingerprint and a counter. Every fingerprint has one possible bucket in each subtable, by a
// permutation of the fingerprints. It is kept in the least loaded of these buckets, the leftmost of equals. Because
// the mappings are permutations, no two fingerprints ever share a cell: the filter is an exact multiset of
// fingerprints.
//
// When it is full, it doubles its number of buckets; it does not need the keys for that.
//
// Make one with NewDLeft. The zero value is an empty filter for UnmarshalBinary; adding to it panics. Only the low q =
// log2(Buckets)+RemainderBits bits of a fingerprint count.
type DLeft struct {
	table
	perms    []permutation // one for each subtable
	seed     uint64
	members  int  // number of members, with repetitions
	distinct int  // number of different members, one cell each
	moves    int  // times that Add moved a member to make room
	fixed    bool // Params.Fixed
}

// NewDLeft returns an empty filter of the given form. An error names the parameters at fault. O(cells).
func NewDLeft(p Params) (*DLeft, error) {
	p = p.withDefaults()
	if err := p.check(); err != nil {
		return nil, err
	}
	return &DLeft{table: newTable(p), perms: newPermutations(p), seed: p.Seed, fixed: p.Fixed}, nil
}

// Params returns the present form of the filter, with its secret seed. O(1).
func (t *DLeft) Params() Params {
	return Params{
		Subtables: t.subtables, Buckets: 1 << t.bucketBits, Cells: t.cells,
		RemainderBits: int(t.remainderBits), CounterBits: int(t.counterBits), Seed: t.seed, Fixed: t.fixed,
	}
}

// Len returns the number of members, repetitions included. O(1).
func (t *DLeft) Len() int { return t.members }

// fingerprintBits returns q: the number of low bits of a fingerprint that are used.
func (t *DLeft) fingerprintBits() int { return int(t.bucketBits + t.remainderBits) }

// SizeBytes returns the number of bytes of the cells. O(1).
func (t *DLeft) SizeBytes() int { return max(0, len(t.bytes)-padding) }

// FalsePositiveRate returns the probability that Contains is true for the random fingerprint of a key that was not
// added: 1-(1-2^-q)^n for n different fingerprints (section 3.2). O(1).
func (t *DLeft) FalsePositiveRate() float64 {
	if t.distinct == 0 {
		return 0
	}
	return -math.Expm1(float64(t.distinct) * math.Log1p(-math.Ldexp(1, -t.fingerprintBits())))
}

// Contains reports whether f is a member. It takes at most d bucket reads.
func (t *DLeft) Contains(f uint64) bool {
	_, cell := t.find(f)
	return cell >= 0
}

// Count returns the number of times that f is a member, 0 if it is none. It reads at most d buckets.
func (t *DLeft) Count(f uint64) int {
	b, cell := t.find(f)
	if cell < 0 {
		return 0
	}
	return t.count(t.get(b, cell))
}

// Add adds f once more. Without a move it reads at most 2d buckets.
//
// Add doubles the number of buckets once three quarters of the cells are taken. It also does so if f's buckets are
// full, and no member of the first of them can move to another bucket. Doubling takes O(cells), and meanwhile the
// memory of both tables. Fingerprints and q stay the same: remainders become one bit shorter. With Params.Fixed, or
// once remainders have only one bit, a full bucket is ErrOverflow. A full counter is always ErrOverflow.
func (t *DLeft) Add(f uint64) error {
	if b, cell := t.find(f); cell >= 0 {
		return t.increment(b, cell)
	}
	if len(t.perms) == 0 {
		panic("counting: the zero value takes no members: make a filter with NewDLeft")
	}
	if t.distinct >= target(int(t.buckets())*t.cells) && !t.fixed {
		_ = t.grow() // if it cannot grow, there may be room all the same
	}
	err := t.addNew(f)
	if err != nil && !t.fixed && t.grow() == nil {
		err = t.addNew(f)
	}
	return err
}

// addNew adds f, which must not be a member yet. It returns errBucket if there is no free cell for it.
func (t *DLeft) addNew(f uint64) error {
	if !t.put(f, 1, 0) {
		return t.addByMoving(f)
	}
	t.members++
	t.distinct++
	return nil
}

func (t *DLeft) increment(bucket uint64, cell int) error {
	v := t.get(bucket, cell)
	if t.full(v) {
		return errCounter
	}
	t.set(bucket, cell, v+1)
	t.members++
	return nil
}

// Remove removes f once, and reports whether it was a member. It reads at most d buckets.
func (t *DLeft) Remove(f uint64) bool {
	b, cell := t.find(f)
	if cell < 0 {
		return false
	}
	t.members--
	if v := t.get(b, cell); t.count(v) > 1 {
		t.set(b, cell, v-1)
		return true
	}
	t.clear(b, cell)
	t.distinct--
	return true
}

// addByMoving is the failsafe of section 5.2, for an f whose buckets are all full. If a fingerprint in f's first
// bucket can move to another of its own buckets, f takes its cell.
func (t *DLeft) addByMoving(f uint64) error {
	home, remainder := t.place(0, f)
	for cell := range t.cells {
		v := t.get(home, cell)
		if t.put(t.fingerprint(0, home, v), t.count(v), 1) {
			t.set(home, cell, t.cell(remainder, 1))
			t.members++
			t.distinct++
			t.moves++
			return nil
		}
	}
	return errBucket
}

// put writes f into the least loaded of its buckets in the subtables from the given one on, the leftmost of equals. It
// reports whether one of them had a free cell.
func (t *DLeft) put(f uint64, count, from int) bool {
	var bucket, remainder uint64
	least := t.cells
	for i := from; i < len(t.perms); i++ {
		b, r := t.place(i, f)
		if load := t.load(b); load < least && (count == 1 || count <= t.highest(r)) {
			bucket, remainder, least = b, r, load
		}
	}
	if least == t.cells {
		return false
	}
	t.set(bucket, least, t.cell(remainder, count))
	return true
}

// grow doubles the number of buckets. The top bit of every remainder becomes the lowest bit of its bucket's number, in
// the same subtable. So no key is needed and no bucket can overflow. The fingerprints and q stay the same; cells
// become one bit narrower. A remainder that becomes 0 counts to one less. If its count was 2^c, counters get the freed
// bit: cells stay as wide, and CounterBits is one more. If remainders have only one bit, it is an error. If counters
// would have more than 16 bits, it is errCounter.
func (t *DLeft) grow() error {
	p := t.Params()
	p.Buckets *= 2
	p.RemainderBits--
	if err := p.check(); err != nil {
		return err
	}
	grown, err := t.regrown(p)
	if errors.Is(err, errCounter) && p.CounterBits < maxCounterBits {
		p.CounterBits++
		grown, err = t.regrown(p)
	}
	if err != nil {
		return err
	}
	t.table = grown
	return nil
}

// regrown returns a table of form p, which has twice the buckets, with t's members. It returns errCounter if a count
// does not fit.
func (t *DLeft) regrown(p Params) (table, error) {
	grown := newTable(p)
	for b := range t.buckets() {
		var loads [2]int
		for cell := range t.cells {
			v := t.get(b, cell)
			if v == 0 {
				break
			}
			r, count := t.remainder(v), t.count(v)
			top, low := r>>grown.remainderBits, r&grown.remainderMask
			if count > grown.highest(low) {
				return table{}, errCounter
			}
			grown.set(b<<1|top, loads[top], grown.cell(low, count))
			loads[top]++
		}
	}
	return grown, nil
}

// All calls yield for each different member (its low q bits), in the order of the table, until yield returns false.
// The filter must not be changed meanwhile. Use it as `for f := range t.All`. O(cells), no allocation.
func (t *DLeft) All(yield func(f uint64) bool) {
	for i := range t.subtables {
		inverse, first := t.perms[i].inverse, uint64(i)<<t.bucketBits
		for b := range uint64(1) << t.bucketBits {
			for cell := range t.cells {
				v := t.get(first|b, cell)
				if v == 0 {
					break
				}
				y := b<<t.remainderBits | t.remainder(v)
				if !yield(y * inverse & t.fingerprintMask) {
					return
				}
			}
		}
	}
}

// Loads returns the number of buckets that hold 0, 1, 2, … fingerprints. It also returns the number of times that Add
// moved a member of the first subtable to make room. O(buckets).
func (t *DLeft) Loads() (loads []int, moves int) {
	loads = make([]int, t.cells+1)
	for b := range t.buckets() {
		loads[t.load(b)]++
	}
	return loads, t.moves
}

// place returns f's bucket in subtable i, numbered over all subtables, and its remainder there.
func (t *DLeft) place(i int, f uint64) (bucket, remainder uint64) {
	y := f * t.perms[i].multiplier & t.fingerprintMask
	return uint64(i)<<(t.bucketBits%64) | y>>(t.remainderBits%64), y & t.remainderMask // %64 saves the compiler a test
}

// fingerprint is the inverse of place: it returns the fingerprint for the cell value v in a bucket of subtable i.
func (t *DLeft) fingerprint(i int, bucket, v uint64) uint64 {
	y := bucket<<t.remainderBits | t.remainder(v) // the subtable's number lies above the mask
	return y * t.perms[i].inverse & t.fingerprintMask
}

// find returns f's bucket and cell. The cell is -1 if f is not a member.
func (t *DLeft) find(f uint64) (bucket uint64, cell int) {
	if t.words {
		return t.findWords(f)
	}
	for i := range t.perms {
		b, r := t.place(i, f)
		if cell := t.scan(b, r); cell >= 0 {
			return b, cell
		}
	}
	return 0, -1
}

// findWords does what find does, for buckets of two words.
func (t *DLeft) findWords(f uint64) (bucket uint64, cell int) {
	for i := range t.perms {
		b, r := t.place(i, f)
		low, high := t.pair(b)
		if cell := t.matchWords(low, high, r<<(t.counterBits%64)); cell >= 0 {
			return b, cell
		}
	}
	return 0, -1
}
