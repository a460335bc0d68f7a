package cover_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/venn-p2p/venn/routing/cover"
)

// slow is the slow twin: it computes again what every peer adds.
type slow struct {
	covered []bool
	peers   [][]cover.Claim // nil: chosen
}

func (s *slow) next() (best int, claims []cover.Claim, ok bool) {
	most := 0.0
	for p, all := range s.peers {
		sum, left := 0.0, []cover.Claim(nil)
		for _, c := range all {
			if !s.covered[c.Key] {
				sum, left = sum+c.Probability, append(left, c)
			}
		}
		if sum > most {
			best, claims, most, ok = p, left, sum, true
		}
	}
	if ok {
		s.peers[best] = nil
	}
	return best, claims, ok
}

func TestAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.IntRange(1, 20).Draw(t, "keys")
		c, s := cover.New(keys), slow{covered: make([]bool, keys)}
		for p := range rapid.IntRange(0, 12).Draw(t, "peers") {
			var claims []cover.Claim
			for _, k := range rapid.SliceOfDistinct(rapid.IntRange(0, keys-1), rapid.ID[int]).Draw(t, "keys of a peer") {
				claims = append(claims, cover.Claim{Key: k, Probability: float64(rapid.IntRange(0, 4).Draw(t, "p")) / 4})
			}
			c.Add(p, claims)
			s.peers = append(s.peers, claims)
		}
		for {
			p, claims, ok := c.Next()
			p2, claims2, ok2 := s.next()
			if ok != ok2 || p != p2 || !slices.Equal(claims, claims2) {
				t.Fatalf("chose %d for %v, %v; want %d for %v, %v", p, claims, ok, p2, claims2, ok2)
			}
			if !ok {
				return
			}
			for _, claim := range claims {
				if claim.Probability > 0.5 {
					c.Covered(claim.Key)
					s.covered[claim.Key] = true
				}
			}
			left := 0
			for _, done := range s.covered {
				if !done {
					left++
				}
			}
			if c.Left() != left {
				t.Fatalf("%d keys left, want %d", c.Left(), left)
			}
		}
	})
}

func ExampleCover() {
	c := cover.New(4)
	c.Add(0, []cover.Claim{{0, 0.9}, {1, 0.9}, {2, 0.9}})
	c.Add(1, []cover.Claim{{0, 0.9}, {1, 0.9}}) // nothing that peer 0 has not
	c.Add(2, []cover.Claim{{3, 0.9}})
	for {
		peer, claims, ok := c.Next()
		if !ok {
			break
		}
		fmt.Println("peer", peer, "for", len(claims), "keys")
		for _, claim := range claims { // all true
			c.Covered(claim.Key)
		}
	}
	fmt.Println(c.Left(), "left")
	// Output:
	// peer 0 for 3 keys
	// peer 2 for 1 keys
	// 0 left
}
