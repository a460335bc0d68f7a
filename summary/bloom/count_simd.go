//go:build goexperiment.simd && amd64

package bloom

import "simd/archsimd"

// The processor's instructions, best first. All count the same.
var (
	hasAVX512 = archsimd.X86.AVX512VPOPCNTDQ()
	hasAVX2   = archsimd.X86.AVX2()
)

func countOnes(a []uint64) int { return countAnd(a, a) }

func countAnd(a, b []uint64) int {
	switch {
	case hasAVX512:
		return countAndAVX512(a, b)
	case hasAVX2:
		return countAndAVX2(a, b)
	default:
		return countAndWords(a, b)
	}
}

// countAndAVX512 counts eight words at a time by the processor's own instruction, in four sums.
func countAndAVX512(a, b []uint64) int {
	var n0, n1, n2, n3 archsimd.Uint64x8
	i := 0
	b = b[:len(a)]
	for ; i <= len(a)-32; i += 32 {
		x, y := (*[32]uint64)(a[i:]), (*[32]uint64)(b[i:])
		n0 = n0.Add(and8((*[8]uint64)(x[0:]), (*[8]uint64)(y[0:])).OnesCount())
		n1 = n1.Add(and8((*[8]uint64)(x[8:]), (*[8]uint64)(y[8:])).OnesCount())
		n2 = n2.Add(and8((*[8]uint64)(x[16:]), (*[8]uint64)(y[16:])).OnesCount())
		n3 = n3.Add(and8((*[8]uint64)(x[24:]), (*[8]uint64)(y[24:])).OnesCount())
	}
	var sums [8]uint64
	n0.Add(n1).Add(n2.Add(n3)).Store(&sums)
	archsimd.ClearAVXUpperBits()
	n := countAndWords(a[i:], b[i:])
	for _, s := range sums {
		n += int(s)
	}
	return n
}

func and8(a, b *[8]uint64) archsimd.Uint64x8 {
	return archsimd.LoadUint64x8(a).And(archsimd.LoadUint64x8(b))
}

// countAndAVX2 looks the counts of half bytes up in a register (Muła, Kurz, Lemire 2018), and adds them up eight bytes
// at a time.
func countAndAVX2(a, b []uint64) int {
	half := [16]uint8{0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4}
	var twice [32]uint8
	copy(twice[copy(twice[:], half[:]):], half[:])
	counts, low := archsimd.LoadUint8x32(&twice), archsimd.BroadcastUint8x32(15)
	var zero archsimd.Uint8x32
	var n archsimd.Uint64x4
	i := 0
	b = b[:len(a)]
	for ; i <= len(a)-4; i += 4 {
		w := archsimd.LoadUint64x4((*[4]uint64)(a[i:])).And(archsimd.LoadUint64x4((*[4]uint64)(b[i:])))
		lower, upper := w.AsUint8x32().And(low), w.ShiftAllRight(4).AsUint8x32().And(low)
		bytes := counts.PermuteOrZeroGrouped(lower.AsInt8x32()).Add(counts.PermuteOrZeroGrouped(upper.AsInt8x32()))
		n = n.Add(bytes.SumAbsDiff(zero).AsUint64x4())
	}
	var sums [4]uint64
	n.Store(&sums)
	archsimd.ClearAVXUpperBits()
	return int(sums[0]+sums[1]+sums[2]+sums[3]) + countAndWords(a[i:], b[i:])
}
