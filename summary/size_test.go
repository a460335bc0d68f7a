package summary

import (
	"fmt"
	"math"
	"testing"
)

// entropyOf is the bits that n random keys take at a level: 2^level H(share of ones).
func entropyOf(n, level int) float64 {
	m := math.Ldexp(1, level)
	p := -math.Expm1(-float64(n) / m)
	return m * (-p*math.Log2(p) - (1-p)*math.Log2(1-p))
}

// TestLevels holds the arithmetic of one block of 100,000 keys, level by level: bits a key and false-positive rate.
func TestLevels(t *testing.T) {
	const n = 100_000
	bits := []float64{0.495, 1.306, 2.362, 3.493, 4.614, 5.697, 6.752, 7.785, 8.806, 9.817}
	rates := []float64{0.782, 0.533, 0.317, 0.174, 0.0911, 0.0466, 0.0236, 0.0119, 0.0059, 0.0030}
	fps := someKeys(1, n)
	p := mustBuild(t, fps, Shape{Levels: []uint8{25}})
	for i := range bits {
		level := 16 + i
		if got := entropyOf(n, level) / n; math.Abs(got/bits[i]-1) > 0.002 {
			t.Errorf("level %d: entropy %.4f bits a key, not %.3f", level, got, bits[i])
		}
		parts := p.plan.steps[i].first + p.plan.steps[i].parts
		cut := p.Truncate(parts)
		if got := 8 * float64(cut.EncodedBytes()) / n; math.Abs(got/bits[i]-1) > 0.01 {
			t.Errorf("level %d: %.4f bits a key, not %.3f", level, got, bits[i])
		}
		if got := cut.FalsePositiveRate(); math.Abs(got/rates[i]-1) > 0.01 {
			t.Errorf("level %d: rate %.4g, not %.4g", level, got, rates[i])
		}
	}
}

// TestEntropy compares the whole stream with the entropy of its deepest level, given the number of its ones.
func TestEntropy(t *testing.T) {
	for _, c := range []struct {
		n    int
		most float64
	}{{1000, 1.05}, {12_000, 1.02}, {100_000, 1.01}, {1_000_000, 1.004}} {
		if c.n > 100_000 && testing.Short() {
			continue
		}
		for _, s := range []Shape{{}, {Levels: []uint8{uint8(ceilLog2(c.n) + 11)}}} {
			p := mustBuild(t, someKeys(2, c.n), s)
			h := p.Header().Shape
			ratio := float64(8*p.EncodedBytes()) / entropyOf(c.n, int(h.Levels[0]))
			t.Logf("n %d, sample %d: %.4f bits a key, %.5f of entropy", c.n, h.SampleBytes, 8*float64(p.EncodedBytes())/float64(c.n), ratio)
			if ratio > c.most {
				t.Errorf("n %d, sample %d: %.5f of entropy, at most %v", c.n, h.SampleBytes, ratio, c.most)
			}
		}
	}
}

func TestPlan(t *testing.T) {
	for _, n := range []int{0, 1, 5, 100, 1100, 1500, 4000, 12_123, 31_000, 100_000, 1_000_000, 20_000_000, maxKeys} {
		p := must(NewPlan(n, Shape{}))
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			most := 0
			rate, bytes := 1.0, 0
			for k := range p.Parts() {
				if b := p.EncodedBytes(k + 1); b < bytes {
					t.Fatalf("part %d: %d bytes after %d", k, b, bytes)
				} else {
					most = max(most, b-bytes)
					bytes = b
				}
				if got := p.partsWithin(bytes); got < k+1 || p.EncodedBytes(got) > bytes {
					t.Fatalf("%d parts within %d bytes, not %d", got, bytes, k+1)
				}
				r := p.ExpectedRate(k + 1)
				if r > rate {
					t.Fatalf("part %d: rate %v after %v", k, r, rate)
				}
				rate = r
			}
			t.Logf("%d parts, %d bytes, largest %d, rate %.3g", p.Parts(), bytes, most, rate)
			if most > maxPartBytes*2/3 {
				t.Errorf("part of %d bytes", most)
			}
		})
	}
}

// TestMemory holds a whole prefix to 2.5 times its bytes on the wire.
func TestMemory(t *testing.T) {
	for _, n := range []int{12_000, 100_000} {
		p := mustBuild(t, someKeys(1, n), Shape{})
		ratio := float64(p.SizeBytes()) / float64(p.EncodedBytes())
		t.Logf("%d keys: %d bytes for %d on the wire, %.2f", n, p.SizeBytes(), p.EncodedBytes(), ratio)
		if ratio > 2.5 {
			t.Errorf("%d keys: %.2f times the wire's bytes", n, ratio)
		}
	}
}
