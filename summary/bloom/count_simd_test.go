//go:build goexperiment.simd && amd64

package bloom

import (
	"math/rand/v2"
	"testing"
)

// Every way this processor has counts what the plain loop counts.
func TestCountSIMD(t *testing.T) {
	t.Logf("AVX-512 %v, AVX2 %v", hasAVX512, hasAVX2)
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		a, b := make([]uint64, n), make([]uint64, n)
		for i := range a {
			a[i], b[i] = r.Uint64(), r.Uint64()
		}
		want := countAndWords(a, b)
		if hasAVX512 && countAndAVX512(a, b) != want {
			t.Fatalf("AVX-512 counts %d of %d words, want %d", countAndAVX512(a, b), n, want)
		}
		if hasAVX2 && countAndAVX2(a, b) != want {
			t.Fatalf("AVX2 counts %d of %d words, want %d", countAndAVX2(a, b), n, want)
		}
	}
}
