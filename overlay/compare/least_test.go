package compare

import (
	"math"
	"slices"
	"testing"
)

// TestLeast: two collections have the same least hash as often as they resemble each other, by either hash. A sample
// that was not decoded has the same.
func TestLeast(t *testing.T) {
	const trials, n = 600, 200
	for _, shared := range []int{0, 40, 100, 200} {
		for hash := range 2 {
			same := 0
			for seed := range uint64(trials) {
				common := someKeys(3*seed, shared)
				a := append(slices.Clone(common), someKeys(3*seed+1, n-shared)...)
				b := append(slices.Clone(common), someKeys(3*seed+2, n-shared)...)
				p, q := build(a, 1), build(b, 1)
				of, _ := Least(p, hash)
				if again, ok := Least(q, hash); ok && of == again {
					same++
				}
			}
			want := float64(shared) / float64(2*n-shared)
			if got := float64(same) / trials; math.Abs(got-want) > 0.05+4*math.Sqrt(want*(1-want)/trials) {
				t.Errorf("hash %d, %d of %d keys in common: the same in %.3f, want %.3f", hash, shared, n, got, want)
			}
		}
	}
}

// TestLeastOfOtherSizes: a collection and one twice as large that holds it have the same least hash. By one of the two
// hashes it is so in half of all trials at least.
func TestLeastOfOtherSizes(t *testing.T) {
	const trials = 100
	for _, n := range []int{30, 50, 75, 100, 150, 200, 300, 500, 2000, 3000} {
		same := 0
		for seed := range uint64(trials) {
			all := someKeys(seed, 2*n)
			small, large := build(all[:n], 1), build(all, 1)
			for hash := range 2 {
				a, _ := Least(small, hash)
				if b, _ := Least(large, hash); a == b {
					same++
					break
				}
			}
		}
		if same < trials*4/10 {
			t.Errorf("%d and %d keys: the same in %d of %d", n, 2*n, same, trials)
		}
	}
	if _, ok := Least(nil, 0); ok {
		t.Error("nothing has a least hash")
	}
}
