package directory

import (
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/overlay/space"
)

// slowKeep keeps one candidate after the other, each time the best that is left of the class whose turn it is.
func slowKeep(own space.Range, self space.Place, room int, all []Candidate) map[space.Place]bool {
	kept := map[space.Place]bool{}
	left := room
	better := []func(a, b Candidate) bool{
		func(a, b Candidate) bool { return false },
		func(a, b Candidate) bool { return a.Overlap > b.Overlap },
		func(a, b Candidate) bool { return a.Hits > b.Hits },
		func(a, b Candidate) bool { return false },
	}
	member := []func(c Candidate) bool{
		func(c Candidate) bool { return own.Contains(c.Place) },
		func(c Candidate) bool { return c.Overlap > 0 },
		func(c Candidate) bool { return c.Hits > 0 },
		func(c Candidate) bool { return true },
	}
	take := func(class, share int) {
		for share = min(share, left); share > 0; share-- {
			best := -1
			for i, c := range all {
				if c.Linked || kept[c.Place] || !member[class](c) {
					continue
				}
				if best < 0 || better[class](c, all[best]) ||
					!better[class](all[best], c) && self.Distance(c.Place) < self.Distance(all[best].Place) {
					best = i
				}
			}
			if best < 0 {
				return
			}
			kept[all[best].Place] = true
			left--
		}
	}
	for class, percent := range []int{72, 22, 6, 0} {
		take(class, room*percent/100)
	}
	for class := range better {
		take(class, left)
	}
	for _, c := range all {
		if c.Linked {
			kept[c.Place] = true
		}
	}
	return kept
}

func randomCandidates(rng *rand.Rand) []Candidate {
	all := make([]Candidate, rng.IntN(60))
	for i := range all {
		all[i] = Candidate{
			Place: space.Place(rng.Uint64()), Linked: rng.IntN(10) == 0, Overlap: max(0, float64(rng.IntN(9)-4)/4),
			Hits: max(0, rng.IntN(6)-3),
		}
	}
	return all
}

// TestKeep compares with the slow twin, in two orders: who came first plays no part.
func TestKeep(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		self := space.Place(rng.Uint64())
		own := space.Around(self, rng.IntN(5))
		all := randomCandidates(rng)
		room := rng.IntN(40)
		want := slowKeep(own, self, room, all)
		for range 2 {
			kept := 0
			for i, keep := range Keep(own, self, room, all) {
				if keep != want[all[i].Place] {
					t.Fatalf("seed %d: %+v kept: %v", seed, all[i], keep)
				}
				if keep && !all[i].Linked {
					kept++
				}
			}
			if kept > room {
				t.Fatalf("seed %d: %d of %d places taken", seed, kept, room)
			}
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
	}
}
