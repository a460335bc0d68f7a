package coverage

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// slowKeep keeps one candidate after the other, each time the best that is left of the class whose turn it is.
func slowKeep(own Range, self Place, all []Candidate) map[Place]bool {
	kept := map[Place]bool{}
	left := 1.0
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
	take := func(class int, share float64) {
		for share = min(share, left); ; {
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
			if best < 0 || all[best].Size > share {
				return
			}
			kept[all[best].Place] = true
			share -= all[best].Size
			left -= all[best].Size
		}
	}
	for class, share := range []float64{RangeShare, SimilarShare, UsefulShare, 0} {
		take(class, share)
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
			Place: Place(rng.Uint64()), Linked: rng.IntN(10) == 0, Overlap: max(0, float64(rng.IntN(9)-4)/4),
			Hits: max(0, rng.IntN(6)-3), Size: float64(1+rng.IntN(3)) / 64,
		}
	}
	return all
}

// TestKeep compares with the slow twin, in two orders: who came first plays no part.
func TestKeep(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		self := Place(rng.Uint64())
		own := Around(self, rng.IntN(5))
		all := randomCandidates(rng)
		want := slowKeep(own, self, all)
		for range 2 {
			sum := 0.0
			for i, keep := range Keep(own, self, all) {
				if keep != want[all[i].Place] {
					t.Fatalf("seed %d: %+v kept: %v", seed, all[i], keep)
				}
				if keep && !all[i].Linked {
					sum += all[i].Size
				}
			}
			if sum > 1+1e-9 {
				t.Fatalf("seed %d: %v of the room taken", seed, sum)
			}
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
	}
}

// TestKeepShares: a crowd of one class cannot displace another from its share.
func TestKeepShares(t *testing.T) {
	const n = 100
	rng := rand.New(rand.NewPCG(1, 1))
	self := Place(rng.Uint64())
	own := Around(self, 1)
	var all []Candidate
	for i := range 10 * n {
		c := Candidate{Place: Place(rng.Uint64()), Size: 1.0 / n}
		switch {
		case own.Contains(c.Place):
		case i%2 == 0:
			c.Overlap = rng.Float64()
		case i%10 == 1:
			c.Hits = 1 + rng.IntN(9)
		}
		all = append(all, c)
	}
	counts := map[string]int{}
	for i, keep := range Keep(own, self, all) {
		switch c := all[i]; {
		case !keep:
		case own.Contains(c.Place):
			counts["range"]++
		case c.Overlap > 0:
			counts["similar"]++
		case c.Hits > 0:
			counts["useful"]++
		}
	}
	if counts["range"] < n*RangeShare-1 || counts["similar"] < n*SimilarShare-1 || counts["useful"] < n*UsefulShare-1 {
		t.Errorf("kept %v of %d", counts, n)
	}
}

// TestKeepIsFair: in a network that nobody can know whole, every origin is in about as many directories as any other.
func TestKeepIsFair(t *testing.T) {
	const peers, room = 1000, 64
	rng := rand.New(rand.NewPCG(3, 3))
	places := make([]Place, peers)
	for i := range places {
		places[i] = Place(rng.Uint64())
	}
	depth := Depth(0, Means{Most: room}, peers)
	holders := make([]int, peers)
	all := make([]Candidate, peers)
	for _, self := range places[:peers] {
		for i, p := range places {
			all[i] = Candidate{Place: p, Size: 1.0 / room, Linked: p == self}
		}
		for i, keep := range Keep(Around(self, depth), self, all) {
			if keep {
				holders[i]++
			}
		}
	}
	slices.Sort(holders)
	least, median, p99 := holders[0], holders[peers/2], holders[peers*99/100]
	if 2*least < median || p99 > 3*median {
		t.Errorf("directories that an origin is in: least %d, median %d, p99 %d", least, median, p99)
	}
}
