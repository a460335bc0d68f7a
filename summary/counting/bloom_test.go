package counting

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func mustBloom(t testing.TB, m, k int) *Bloom {
	t.Helper()
	c, err := NewBloom(m, k)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// FuzzBloom compares with plain counters and a list of members.
func FuzzBloom(f *testing.F) {
	rng := rand.New(rand.NewPCG(13, 14))
	for m := range uint8(3) {
		script := make([]byte, 150)
		for i := range script {
			script[i] = byte(rng.Uint32())
		}
		f.Add(m*20, uint8(3), script)
	}
	f.Fuzz(func(t *testing.T, m, k uint8, script []byte) {
		fast := mustBloom(t, 1+int(m), 1+int(k%8))
		counters := make([]int, fast.counters)
		members := make([]int, 64)
		uses := func(x uint64) []int { // how often x uses each counter
			h, step := split(x)
			at := make([]int, fast.counters)
			for i := range uint64(fast.hashes) {
				at[fast.index(h+i*step)]++
			}
			return at
		}
		for _, op := range script {
			x := uint64(op >> 2)
			if op%4 == 0 {
				if members[x] == 0 {
					continue // removing what isn't there is the caller's mistake
				}
				if !fast.Remove(x) {
					t.Fatalf("member %d denied", x)
				}
				members[x]--
				for at, n := range uses(x) {
					counters[at] -= n
				}
				continue
			}
			fits := true
			for at, n := range uses(x) {
				fits = fits && counters[at]+n <= counterTop
			}
			if err := fast.Add(x); (err == nil) != fits || err != nil && !errors.Is(err, ErrCounterOverflow) {
				t.Fatalf("add %d: %v, fits: %v", x, err, fits)
			}
			if fits {
				members[x]++
				for at, n := range uses(x) {
					counters[at] += n
				}
			}
		}
		for at := range fast.counters {
			if int(fast.get(at)) != counters[at] {
				t.Fatalf("counter %d is %d, want %d", at, fast.get(at), counters[at])
			}
		}
		for x, n := range members {
			if got := fast.Count(uint64(x)); got < n {
				t.Fatalf("count of %d is %d, want at least %d", x, got, n)
			}
		}
	})
}

func TestBloomRate(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	const n, probes = 49152, 1_000_000
	c := mustBloom(t, n*27/2, 9) // section 5.1: 13.5 counters a member, nine hash functions
	for range n {
		if err := c.Add(rng.Uint64()); err != nil {
			t.Fatal(err)
		}
	}
	hits := 0
	for range probes {
		if c.Contains(rng.Uint64()) {
			hits++
		}
	}
	want := c.FalsePositiveRate()
	if sigma := math.Sqrt(want / probes); math.Abs(float64(hits)/probes-want) > 4*sigma {
		t.Errorf("false-positive rate %.6f, want %.6f", float64(hits)/probes, want)
	}
}

func TestNewBloomForRate(t *testing.T) {
	for _, rate := range []float64{0.5, 0.1, 0.01, 1e-6} {
		c, err := NewBloomForRate(10_000, rate)
		if err != nil {
			t.Fatal(err)
		}
		c.members = 10_000
		if got := c.FalsePositiveRate(); math.Abs(got-rate) > rate/1000 {
			t.Errorf("rate %g: m %d, k %d give %g", rate, c.counters, c.hashes, got)
		}
	}
	for _, nonsense := range []struct {
		n    int
		rate float64
	}{{-1, .1}, {10, 0}, {10, 1}, {10, -2}, {10, 2}, {10, math.NaN()}, {10, math.Inf(1)}, {math.MaxInt, .01}, {10, 1e-300}} {
		if _, err := NewBloomForRate(nonsense.n, nonsense.rate); !errors.Is(err, errParams) {
			t.Errorf("%d members at rate %v: %v", nonsense.n, nonsense.rate, err)
		}
	}
	if c, err := NewBloomForRate(0, .5); err != nil || c.counters != 1 {
		t.Errorf("no members: %v", err)
	}
	for _, mk := range [][2]int{{0, 1}, {1, 0}, {1, 65}, {math.MaxInt, 1}, {-1, 3}} {
		if _, err := NewBloom(mk[0], mk[1]); !errors.Is(err, errParams) {
			t.Errorf("m %d, k %d: %v", mk[0], mk[1], err)
		}
	}
}

// The comparison of section 5.1: less than half of the memory at a lower false-positive rate.
func TestDLeftAgainstBloom(t *testing.T) {
	const n = 786_432
	d, err := NewDLeft(paramsForRemainder(n, 14))
	if err != nil {
		t.Fatal(err)
	}
	d.distinct = n
	c := mustBloom(t, n*27/2, 9)
	c.members = n
	if ratio := float64(d.SizeBytes()) / float64(c.SizeBytes()); ratio > 0.40 {
		t.Errorf("%.3f of the counting Bloom filter's memory", ratio)
	}
	if d.FalsePositiveRate() > c.FalsePositiveRate() {
		t.Errorf("rates %g and %g", d.FalsePositiveRate(), c.FalsePositiveRate())
	}
}
