package papers

import (
	"strings"
	"testing"

	"github.com/venn-p2p/venn/summary/bloom"
)

func TestDynamicForBits(t *testing.T) {
	configured := 0
	for _, v := range readVectors(t, bloomVectors+"dbbf.json") {
		if divisors, _ := v.Inputs["divisors_only"].(bool); divisors || !strings.Contains(v.Name, "config_") {
			continue
		}
		configured++
		got, err := DynamicForBits(uint64(v.num("m")), v.num("target"))
		if err != nil {
			t.Fatal(err)
		}
		v.field(t, "mu").near(t, float64(got.Batch.Blocks))
		v.field(t, "block_bits").near(t, float64(got.Batch.BlockBits))
		v.field(t, "n_thres").near(t, float64(got.Threshold))
	}
	if configured == 0 {
		t.Error("no configuration among the vectors")
	}
}

// TestDynamicForBitsIsExhaustive: the search stops at the first number of blocks that is worse, and no other is better.
func TestDynamicForBitsIsExhaustive(t *testing.T) {
	for _, bits := range []uint64{100, 1023, 12_000, 65_536, 624_698} {
		for _, rate := range []float64{0.3, 0.05, 0.005, 1e-5} {
			best := 0
			for mu := uint64(1); mu <= min(bits, 100); mu++ {
				best = max(best, capacity(bloom.Params{Blocks: int(mu), BlockBits: bits / mu, Hashes: 1}, rate))
			}
			if got, err := DynamicForBits(bits, rate); (err != nil) != (best == 0) || got.Threshold != best {
				t.Errorf("DynamicForBits(%d, %v) = %+v, %v; best %d", bits, rate, got, err, best)
			}
		}
	}
	for _, c := range []struct {
		bits uint64
		rate float64
	}{{0, 0.1}, {10, 0}, {10, 1}, {10, -1}, {1, 0.1}} {
		if got, err := DynamicForBits(c.bits, c.rate); err == nil {
			t.Errorf("%d bits at rate %v: %+v", c.bits, c.rate, got)
		}
	}
}
