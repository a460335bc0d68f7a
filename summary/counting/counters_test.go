package counting

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestCountersSize(t *testing.T) {
	const n, m, k = 10_000, 100_000, 4
	r := rand.New(rand.NewPCG(5, 6))
	counters := make([]uint8, m)
	for range n * k {
		counters[r.IntN(m)]++
	}
	code := appendCounters(nil, counters)
	want := poissonEntropy(float64(n*k)/m) * m / 8
	t.Logf("%d counters: %d bytes, entropy %.0f, as nibbles %d", m, len(code), want, m/2)
	if math.Abs(float64(len(code))/want-1) > 0.01 {
		t.Errorf("%d bytes, entropy %.0f", len(code), want)
	}
}

// poissonEntropy is the entropy in bits of a Poisson variable: that of one counter.
func poissonEntropy(mean float64) float64 {
	bits, p := 0.0, math.Exp(-mean)
	for i := 1.0; p > 1e-18 || i <= mean+1; i++ {
		bits -= p * math.Log2(p)
		p *= mean / i
	}
	return bits
}

func TestCounters(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000, 20_000} {
		for _, top := range []int{1, 2, 5, 256} {
			if top == 256 && n > 1000 {
				continue
			}
			counters := make([]uint8, n)
			for i := range counters {
				counters[i] = uint8(r.IntN(top))
			}
			b := appendCounters([]byte("before"), counters)[6:]
			got, size, err := decodeCounters(n, append(bytes.Clone(b), 9))
			if err != nil || size != len(b) || !bytes.Equal(got, counters) {
				t.Fatalf("%d counters below %d: %d of %d bytes, %v", n, top, size, len(b), err)
			}
			if n == 1000 {
				for i := range b {
					bad := bytes.Clone(b)
					bad[i] ^= 1 << (i % 8)
					for _, bad := range [][]byte{bad, b[:i]} {
						if got, size, err := decodeCounters(n, bad); err != nil && (!errors.Is(err, errMalformed) || got != nil) {
							t.Fatalf("byte %d changed or cut: %v", i, err)
						} else if err == nil && !bytes.Equal(appendCounters(nil, got), bad[:size]) {
							t.Fatalf("byte %d changed: two codes of the same counters", i)
						}
					}
				}
			}
		}
	}
}

func FuzzDecodeCounters(f *testing.F) {
	f.Add(uint16(8), appendCounters(nil, []uint8{0, 1, 3, 0, 0, 2, 255, 1}))
	f.Fuzz(func(t *testing.T, n uint16, data []byte) {
		counters, size, err := decodeCounters(int(n), data)
		if err != nil {
			if !errors.Is(err, errMalformed) {
				t.Errorf("%v is not errMalformed", err)
			}
			return
		}
		if again := appendCounters(nil, counters); !bytes.Equal(again, data[:size]) {
			t.Error("decoding and encoding changes the bytes")
		}
	})
}
