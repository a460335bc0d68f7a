package rank

import "math/rand/v2"

// Mixed holds the number of neighbours chosen by each rule. The zero value chooses none.
type Mixed struct{ Similar, Complementary, Near, Random int }

// Default is the mix of the overlay's default configuration.
var Default = Mixed{Similar: 4, Near: 1, Random: 3}

// Policy returns the mix of n slots with a name: similar, complementary, near, random or mixed. "mixed" is [Default]
// for 8 slots, and in the same proportion for others. ok is false for any other name.
func Policy(name string, n int) (m Mixed, ok bool) {
	switch name {
	case "similar":
		return Mixed{Similar: n}, true
	case "complementary":
		return Mixed{Complementary: n}, true
	case "near":
		return Mixed{Near: n}, true
	case "random":
		return Mixed{Random: n}, true
	case "mixed":
		return Mixed{Similar: n / 2, Near: n / 8, Random: n - n/2 - n/8}, true
	}
	return Mixed{}, false
}

// Policies returns the names that Policy knows.
func Policies() []string { return []string{"similar", "complementary", "near", "random", "mixed"} }

// Choose fills the slots by similarity, by what is lacked and by round trip, and the rest at random. Each takes from
// the candidates that are not yet chosen.
//
// Package topology fills slots by these rules as peers become known; a test there compares both.
func (m Mixed) Choose(cands []Candidate, rng *rand.Rand) []Candidate {
	var chosen []Candidate
	taken := map[int]bool{}
	take := func(some []Candidate) {
		for _, c := range some {
			taken[c.Index] = true
		}
		chosen = append(chosen, some...)
	}
	left := func() []Candidate {
		var out []Candidate
		for _, c := range cands {
			if !taken[c.Index] {
				out = append(out, c)
			}
		}
		return out
	}
	take(Similar(left(), m.Similar))
	take(Complementary(left(), m.Complementary))
	take(Near(left(), m.Near))
	take(Random(left(), m.Similar+m.Complementary+m.Near+m.Random-len(chosen), rng))
	return chosen
}
