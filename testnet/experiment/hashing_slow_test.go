package experiment

import (
	"math"
	"math/rand/v2"
	"testing"
)

// plainRate is the slow twin of our filters: an array of flags, hash values drawn at random, no code in common. It
// returns the false-positive rate of n keys in m places with k hash functions, and its standard error.
func plainRate(scheme string, n, m, k, filters, probes int, rng *rand.Rand) (rate, deviation float64) {
	part := m / k
	places := func(to []int) {
		h1, h2 := rng.IntN(m), rng.IntN(m)
		if scheme == "partition" {
			h1, h2 = rng.IntN(part), rng.IntN(part)
		}
		for i := range to {
			switch scheme {
			case "standard":
				to[i] = rng.IntN(m)
			case "partition":
				to[i] = i*part + (h1+i*h2)%part
			case "double hashing":
				to[i] = (h1 + i*h2) % m
			case "enhanced double hashing, i²":
				to[i] = (h1 + i*h2 + i*i) % m
			}
		}
	}
	var sum, squares float64
	at := make([]int, k)
	for range filters {
		set := make([]bool, m)
		for range n {
			places(at)
			for _, p := range at {
				set[p] = true
			}
		}
		hits := 0
		for range probes {
			places(at)
			all := true
			for _, p := range at {
				all = all && set[p]
			}
			if all {
				hits++
			}
		}
		r := float64(hits) / float64(probes)
		sum, squares = sum+r, squares+r*r
	}
	mean := sum / float64(filters)
	return mean, math.Sqrt((squares/float64(filters) - mean*mean) / float64(filters))
}

// The rates that the hashing experiment compares with are those of a simulation that shares nothing with our filters.
func TestSimulatedRates(t *testing.T) {
	if testing.Short() {
		t.Skip("fills thousands of filters")
	}
	rng := rand.New(rand.NewPCG(1, 2008))
	for _, v := range simulated {
		m, k, probes := 40_000, 6, 2000
		if v.n == 500 {
			m, k, probes = 8000, 11, 5000
		}
		rate, off := plainRate(v.scheme, v.n, m, k, 600, probes, rng)
		if math.Abs(rate-v.rate) > v.tolerance/4+4*off {
			t.Errorf("%s, n=%d: %v ± %v, want %v", v.scheme, v.n, rate, off, v.rate)
		}
	}
}
