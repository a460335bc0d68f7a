// Package cover picks few peers that together hold as many as possible of many keys. It is greedy maximum coverage by
// expected novelty, as in the overlap-aware selection of collections by Bender, Michel, Triantafillou, Weikum and
// Zimmer (SIGIR 2005). A second peer that holds the same as the first adds nothing, however much it holds.
//
// A peer adds the sum of the probabilities of its claims, over the keys that no peer chosen before holds. If claims are
// true, always taking the peer that adds most covers at least 1-1/e = 63 % of what the best choice covers. No
// polynomial algorithm can promise more (Nemhauser, Wolsey and Fisher 1978; Feige 1998). The sum of a peer only ever
// falls, so most need not be computed again at each choice (Minoux 1978).
//
// Pure values: no I/O, and equals are taken in the order of their numbers. It takes 16 bytes a claim.
package cover

import "container/heap"

// Claim is a claim that a peer holds a key.
type Claim struct {
	Key         int     // number of the key, from 0
	Probability float64 // probability that the claim is true, in [0, 1]
}

// Cover chooses peers, one after the other, for a set of keys.
type Cover struct {
	covered []bool // by key: a chosen peer holds it
	left    int    // keys not covered
	peers   gains
}

// gain is a peer that was not chosen yet, and its sum when that was last computed: an upper bound of its sum now.
type gain struct {
	peer   int
	claims []Claim
	adds   float64
}

// New returns a cover of the given number of keys, numbered from 0.
func New(keys int) *Cover { return &Cover{covered: make([]bool, keys), left: keys} }

// Add adds a peer, under a number that the caller chooses, with its claims, at most one for each key. Claims to a key
// out of range are ignored. The cover keeps the slice. O(claims).
func (c *Cover) Add(peer int, claims []Claim) {
	g := gain{peer: peer, claims: claims}
	g.adds = c.adds(&g)
	heap.Push(&c.peers, g)
}

// Next chooses the peer that is expected to add most to the covered keys. It returns the peer's claims to keys that are
// not covered, in the order in which they were added. ok is false if no peer adds any. Each peer is chosen once.
// Amortised O(claims) for each peer looked at again.
func (c *Cover) Next() (peer int, claims []Claim, ok bool) {
	for len(c.peers) > 0 {
		top := &c.peers[0]
		if adds := c.adds(top); adds < top.adds {
			top.adds = adds
			heap.Fix(&c.peers, 0)
			continue
		}
		g := heap.Pop(&c.peers).(gain)
		if g.adds <= 0 {
			return 0, nil, false
		}
		for _, claim := range g.claims {
			if c.wants(claim.Key) {
				claims = append(claims, claim)
			}
		}
		return g.peer, claims, true
	}
	return 0, nil, false
}

// Covered notes that a chosen peer does hold a key.
func (c *Cover) Covered(key int) {
	if c.wants(key) {
		c.covered[key] = true
		c.left--
	}
}

// Left returns the number of keys that no chosen peer holds.
func (c *Cover) Left() int { return c.left }

func (c *Cover) wants(key int) bool { return key >= 0 && key < len(c.covered) && !c.covered[key] }

func (c *Cover) adds(g *gain) (sum float64) {
	for _, claim := range g.claims {
		if c.wants(claim.Key) {
			sum += claim.Probability
		}
	}
	return sum
}

// gains is a heap, the greatest first.
type gains []gain

func (g gains) Len() int { return len(g) }
func (g gains) Less(i, j int) bool {
	return g[i].adds > g[j].adds || g[i].adds == g[j].adds && g[i].peer < g[j].peer
}
func (g gains) Swap(i, j int) { g[i], g[j] = g[j], g[i] }
func (g *gains) Push(x any)   { *g = append(*g, x.(gain)) }
func (g *gains) Pop() any {
	old := *g
	last := old[len(old)-1]
	*g = old[:len(old)-1]
	return last
}
