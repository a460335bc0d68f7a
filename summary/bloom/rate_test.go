package bloom

import (
	"math"
	"testing"
)

// The figure this package promises, with real keys: 100,000 of 20 bytes at 10.5 bits a key, within 3 % of theory.
func TestRateWithin3Percent(t *testing.T) {
	if testing.Short() {
		t.Skip("4 million hashes")
	}
	const n, asked = 100_000, 1_000_000
	standard := must(paramsForBits(n, n*105/10))
	partitioned := Params{Blocks: 7, BlockBits: n * 105 / 10 / 7, Hashes: 1}
	for _, p := range []Params{standard, partitioned} {
		f := filled(t, p, testKeys(n, 1))
		hits := 0
		for _, k := range testKeys(asked, 2) {
			if f.Contains(k) {
				hits++
			}
		}
		got, want := float64(hits)/asked, p.ExpectedRate(n)
		if math.Abs(got/want-1) > 0.03 {
			t.Errorf("%+v: rate %v, theory %v", p, got, want)
		}
		if bits := f.FalsePositiveRate(); math.Abs(bits/want-1) > 0.03 {
			t.Errorf("%+v: rate from bits %v, theory %v", p, bits, want)
		}
	}
}
