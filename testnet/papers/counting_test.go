package papers

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// TestCountingBloom holds the filter of section 5.1 to its formula: 13.5 counters a member, nine hash functions.
func TestCountingBloom(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	const n, probes = 49152, 1_000_000
	c := NewCountingBloom(n*27/2, 9)
	members := make([]uint64, n)
	for i := range members {
		members[i] = rng.Uint64()
		if err := c.Add(members[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range members {
		if !c.Contains(m) {
			t.Fatalf("member %d denied", m)
		}
	}
	hits := 0
	for range probes {
		if c.Contains(rng.Uint64()) {
			hits++
		}
	}
	want := math.Pow(-math.Expm1(9*n*math.Log1p(-1/float64(n*27/2))), 9) // (1-(1-1/m)^(kn))^k
	if sigma := math.Sqrt(want / probes); math.Abs(float64(hits)/probes-want) > 4*sigma {
		t.Errorf("false-positive rate %.6f, want %.6f", float64(hits)/probes, want)
	}
	if c.SizeBytes() != n*27/4 {
		t.Errorf("%d bytes", c.SizeBytes())
	}
	var err error
	for range 16 {
		err = c.Add(members[0])
	}
	if !errors.Is(err, ErrCounterOverflow) {
		t.Error(err)
	}
}
