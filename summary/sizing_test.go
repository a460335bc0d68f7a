package summary

import (
	"math"
	"testing"
)

// TestSizing compares the best prefix of one block with those of many shapes of up to three blocks.
func TestSizing(t *testing.T) {
	for _, n := range []int{3000, 100_000} {
		for _, bits := range []int{1, 2, 4, 8, 12, 16, 24} {
			bytes := n * bits / 8
			best := must(sizeForBytes(n, bytes))
			if best.bytes > bytes {
				t.Errorf("%d bytes in a budget of %d", best.bytes, bytes)
			}
			rival, s := bestOfMany(t, n, bytes, best.shape.SampleBytes)
			if rival < best.rate*0.98 {
				t.Errorf("%d keys, %d bytes: shape %v has rate %.4g, the best %.4g", n, bytes, s.Levels, rival, best.rate)
			}
			t.Logf("%d keys, %d bits a key: level %d, %d parts, rate %.4g, %.3f of a plain filter's", n, bits, best.shape.Levels[0], best.parts, best.rate, best.rate/math.Pow(0.6185, float64(bits)))
		}
	}
}

// bestOfMany is the least rate of many shapes with up to three blocks and a sample.
func bestOfMany(t *testing.T, n, bytes, sample int) (rate float64, best Shape) {
	rate = 1
	log := ceilLog2(n)
	for l0 := log; l0 < log+10; l0++ {
		for l1 := log - 2; l1 < log+6; l1++ {
			for _, l2 := range []int{log - 2, l1} {
				s := Shape{Keys: n, SampleBytes: sample, SampleLevel: DefaultShape(n).SampleLevel, Levels: []uint8{uint8(l0)}}
				for _, l := range []int{l1, l2} {
					if l >= log-1 {
						s.Levels = append(s.Levels, uint8(l))
					}
				}
				p := must(NewPlan(n, s))
				if r := p.ExpectedRate(p.partsWithin(bytes)); r < rate {
					rate, best = r, s
				}
			}
		}
	}
	return rate, best
}

// TestCutsOfDeep cuts one deep stream to several budgets, header and all. It compares the rate with the predicted one,
// and with that of an ideal plain Bloom filter of the same bytes.
func TestCutsOfDeep(t *testing.T) {
	const n, header, queries = 100_000, 240, 1_000_000
	want := must(sizeForRate(n, 1e-6))
	full := mustBuild(t, someKeys(1, n), want.shape)
	if full.FalsePositiveRate() > 1e-6 || full.FalsePositiveRate() < 2.5e-7 {
		t.Errorf("rate %v for 1e-6", full.FalsePositiveRate())
	}
	others := someKeys(2, queries)
	for _, c := range []struct {
		bits int
		most float64
	}{{4, 1.02}, {8, 0.55}, {12, 0.27}, {16, 0.12}} {
		parts := full.Plan().partsWithin(n*c.bits/8 - header)
		for full.Truncate(parts).EncodedBytes() > n*c.bits/8-header {
			parts--
		}
		p := full.Truncate(parts)
		hits := 0
		for _, f := range others {
			if p.Contains(f) {
				hits++
			}
		}
		rate, predicted := float64(hits)/queries, full.Plan().ExpectedRate(parts)
		ideal := math.Pow(0.6185, float64(c.bits))
		t.Logf("%d bits a key: rate %.4g (held %.4g, predicted %.4g), %.3f of a plain filter's", c.bits, rate, p.FalsePositiveRate(), predicted, rate/ideal)
		if math.Abs(p.FalsePositiveRate()/predicted-1) > 0.03 {
			t.Errorf("%d bits a key: rate %.4g, predicted %.4g", c.bits, p.FalsePositiveRate(), predicted)
		}
		if sd := math.Sqrt(p.FalsePositiveRate() / queries); math.Abs(rate-p.FalsePositiveRate()) > 5*sd {
			t.Errorf("%d bits a key: %.4g of %d other keys match, not %.4g", c.bits, rate, queries, p.FalsePositiveRate())
		}
		if rate > c.most*ideal {
			t.Errorf("%d bits a key: %.4g of a plain filter's rate, at most %v", c.bits, rate/ideal, c.most)
		}
	}
}

// TestDefaultRate: the default shape's rate lets 121 peers, each known in full, match a key that nobody holds less than
// 0.1 times.
func TestDefaultRate(t *testing.T) {
	for n := 1; n < maxKeys; n += n/7 + 1 {
		p := must(NewPlan(n, Shape{}))
		if rate := p.ExpectedRate(p.Parts()); 121*rate > 0.1 || rate < 1.0/4200 {
			t.Errorf("%d keys: rate %v", n, rate)
		}
	}
}
