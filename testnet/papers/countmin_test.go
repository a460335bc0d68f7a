package papers

import (
	"bytes"
	"math"
	"math/big"
	"testing"
)

// slowCount counts a key n more times in rows, as section 9.2 tells it with big numbers, and returns its estimate.
func slowCount(s *CountMin, rows [][]uint32, x uint64, n uint32) uint32 {
	hash := func(a, b uint64) uint64 {
		h := new(big.Int).SetUint64(x)
		h.Mul(h, new(big.Int).SetUint64(a)).Add(h, new(big.Int).SetUint64(b))
		return h.Mod(h, big.NewInt(mersenne)).Mod(h, big.NewInt(int64(s.p.Width))).Uint64()
	}
	least := uint32(math.MaxUint32)
	for i, row := range rows {
		c := &row[(hash(s.a1, s.b1)+uint64(i)*hash(s.a2, s.b2))%uint64(s.p.Width)]
		*c += n
		least = min(least, *c)
	}
	return least
}

func FuzzCountMin(f *testing.F) {
	f.Add(uint64(1), uint8(2), []byte("count-min with two hash functions"))
	f.Add(uint64(2), uint8(4), bytes.Repeat([]byte{0, 50, 100, 250}, 20))
	f.Fuzz(func(t *testing.T, seed uint64, depth uint8, script []byte) {
		s := NewCountMin(CountMinParams{Width: 13, Depth: 1 + int(depth%6), Copies: 1}, seed)
		rows := make([][]uint32, s.p.Depth)
		for i := range rows {
			rows[i] = make([]uint32, s.p.Width)
		}
		truth := make([]uint32, 64)
		key := func(i uint64) uint64 { return (i + seed) * 0x9e3779b97f4a7c15 } // all 64 bits in use
		for _, op := range script {
			i, n := uint64(op/4), uint32(op%4)+1
			s.Add(key(i), n)
			slowCount(s, rows, key(i), n)
			truth[i] += n
		}
		for i, n := range truth {
			if got, want := s.Estimate(key(uint64(i))), slowCount(s, rows, key(uint64(i)), 0); got != want || got < n {
				t.Fatalf("estimate %d, slow %d, truth %d", got, want, n)
			}
		}
	})
}
