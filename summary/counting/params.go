package counting

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Defaults of the paper (section 5.1), for fields of Params that are 0.
const (
	defaultSubtables   = 4
	defaultCells       = 8
	defaultCounterBits = 2
)

// Bounds of Params.
const (
	maxSubtables       = 16
	maxCells           = 64
	maxBuckets         = 1 << 32
	maxCounterBits     = 16
	maxFingerprintBits = 63
	maxCellBits        = 57      // remainder and counter together: a cell is read with one unaligned 64-bit load
	maxTableBytes      = 1 << 37 // 128 GiB
)

// errParams is wrapped by every error about parameters out of range.
var errParams = errors.New("counting: bad parameters")

// Params is the form of a [DLeft] filter. ParamsForFingerprint chooses it from the number of members.
type Params struct {
	Subtables     int // d: 1 to 16; 0 means 4
	Buckets       int // buckets of each subtable: a power of two, 1 to 2^32
	Cells         int // cells of each bucket: 1 to 64; 0 means 8
	RemainderBits int // r: at least 1; log2(Buckets)+r is at most 63
	CounterBits   int // c: 1 to 16, r+c at most 57; 0 means 2, which counts to 4
	// Seed determines the permutations. It must be secret: with it others can make members that overflow a bucket.
	Seed  uint64
	Fixed bool // the filter does not grow, so Add may fail
}

// ParamsForFingerprint returns parameters for n members, stored as whole fingerprints of q bits. They have the default
// form, with the fewest buckets that keep the average load at 6 of 8 cells or less. Remainders have the bits that the
// bucket's number leaves, so two members never match.
//
// With fewer RemainderBits, r, a cell takes r+2 bits, and the false-positive rate is at most 24/2^r (section 4). With
// r = 14 a bucket is two machine words, which are compared as words. O(1).
func ParamsForFingerprint(n, q int) Params {
	b := bucketsFor(n)
	return Params{Buckets: b, RemainderBits: q - log2(b)}.withDefaults()
}

// bucketsFor returns the number of buckets of a subtable for n members: the least power of two with which, in four
// subtables, at most six of eight cells are taken.
func bucketsFor(n int) int {
	perRow := defaultSubtables * defaultCells * 3 / 4
	rows := max(1, (n+perRow-1)/perRow)
	return 1 << bits.Len(uint(rows-1))
}

func log2(b int) int { return bits.Len(uint(b)) - 1 }

func (p Params) withDefaults() Params {
	if p.Subtables == 0 {
		p.Subtables = defaultSubtables
	}
	if p.Cells == 0 {
		p.Cells = defaultCells
	}
	if p.CounterBits == 0 {
		p.CounterBits = defaultCounterBits
	}
	return p
}

// check returns an error that names every parameter out of range.
func (p Params) check() error {
	var faults []error
	within := func(name string, v, low int, high int64) {
		if v < low || int64(v) > high {
			faults = append(faults, fmt.Errorf("%w: %s is %d, want %d to %d", errParams, name, v, low, high))
		}
	}
	within("Subtables", p.Subtables, 1, maxSubtables)
	within("Buckets", p.Buckets, 1, maxBuckets)
	within("Cells", p.Cells, 1, maxCells)
	within("CounterBits", p.CounterBits, 1, maxCounterBits)
	if p.Buckets > 0 && p.Buckets&(p.Buckets-1) != 0 {
		faults = append(faults, fmt.Errorf("%w: Buckets is %d, want a power of two", errParams, p.Buckets))
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	within("RemainderBits", p.RemainderBits, 1, int64(min(maxFingerprintBits-log2(p.Buckets), maxCellBits-p.CounterBits)))
	if len(faults) == 0 && p.tableBytes() > min(maxTableBytes, math.MaxInt-padding) {
		return fmt.Errorf("%w: a table of %d bytes, want at most %d", errParams, p.tableBytes(), min(maxTableBytes, math.MaxInt-padding))
	}
	return errors.Join(faults...)
}

// target returns the number of different fingerprints up to which overflow is unlikely: three quarters of the cells.
// In the default form, a bucket then needs more than 8 cells with probability 10^-27 (section 5.1).
func target(cells int) int { return cells * 3 / 4 }

// tableBytes returns the size of the table. It cannot overflow uint64 for parameters in range: 2^4 · 2^32 · 2^6 · 57
// bits.
func (p Params) tableBytes() uint64 {
	cells := uint64(p.Subtables) * uint64(p.Buckets) * uint64(p.Cells)
	return (cells*uint64(p.RemainderBits+p.CounterBits) + 7) / 8
}
