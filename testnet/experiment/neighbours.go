package experiment

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// The most keys that the experiment on neighbours asks for.
const (
	withheldKeys = 200 // most keys that are removed from an asker's collection
	lackedKeys   = 200 // most keys that an asker lacks anyway
)

// neighbours has every peer choose by each policy, from exact overlaps and from those that the summaries' samples show.
// It asks for keys that the peer was made to forget, which 2 to 10 others hold. It also asks for keys drawn evenly from
// all that the peer lacks.
func (c *collectionRun) neighbours() {
	n, rng := len(c.fps), c.rng
	prefixes := c.prefixes()
	asks := make([]questions, n)
	for a := range asks {
		asks[a] = c.asking(a, rng)
	}
	for _, by := range []string{"exact", "sample"} {
		cands := make([][]candidate, n)
		var seeds []uint64
		for range n {
			seeds = append(seeds, rng.Uint64())
		}
		c.each(n, func(a int) {
			cands[a] = c.candidates(a, &asks[a], by == "exact", prefixes, rand.New(rand.NewPCG(seeds[a], 2)))
		})
		for _, name := range []string{"similar", "complementary", "near", "random", "mixed"} {
			policy := mixes(c.Slots)[name]
			chosen := make([][]int, n)
			for a := range chosen {
				for _, x := range policy.choose(cands[a], rng) {
					chosen[a] = append(chosen[a], x.Index)
				}
			}
			c.judgeNeighbours(name, by, asks, chosen)
		}
	}
	c.judgeNeighbours("biggest", "exact", asks, c.biggest())
}

// mixes returns the policies by name, for n slots. "mixed" is the overlay's default for 8 slots, and in the same
// proportion for other numbers.
func mixes(n int) map[string]mix {
	return map[string]mix{
		"similar": {similar: n}, "complementary": {complementary: n}, "near": {near: n}, "random": {random: n},
		"mixed": {similar: n / 2, near: n / 8, random: n - n/2 - n/8},
	}
}

// mix holds the number of neighbours chosen by each rule.
type mix struct{ similar, complementary, near, random int }

// candidate is a peer that could be a neighbour, and the number of keys that it holds and the asker does not.
type candidate struct {
	rank.Candidate
	lacks float64
}

// choose fills the slots by similarity, by keys that the asker lacks and by round trip, and the rest at random. Each
// rule takes from the candidates that are not yet chosen.
func (m mix) choose(cands []candidate, rng *rand.Rand) (chosen []rank.Candidate) {
	left := make([]rank.Candidate, len(cands))
	lacks := map[int]float64{}
	for i, c := range cands {
		left[i], lacks[c.Index] = c.Candidate, c.lacks
	}
	take := func(some []rank.Candidate) {
		chosen = append(chosen, some...)
		left = slices.DeleteFunc(left, func(c rank.Candidate) bool {
			return slices.ContainsFunc(some, func(s rank.Candidate) bool { return s.Index == c.Index })
		})
	}
	take(rank.Similar(left, m.similar))
	// Similar takes the candidates of the greatest overlap. Here the keys that the asker lacks stand for the overlap.
	byLacks := slices.Clone(left)
	for i := range byLacks {
		byLacks[i].Overlap.Value = lacks[byLacks[i].Index]
	}
	take(rank.Similar(byLacks, m.complementary))
	take(rank.Near(left, m.near))
	take(rank.Random(left, m.similar+m.complementary+m.near+m.random-len(chosen), rng))
	return chosen
}

// biggest returns for each peer the others with the largest collections.
func (c *collectionRun) biggest() [][]int {
	all := make([]int, len(c.fps))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int { return len(c.fps[b]) - len(c.fps[a]) })
	chosen := make([][]int, len(all))
	for a := range chosen {
		for _, b := range all[:min(len(all), c.Slots+1)] {
			if b != a && len(chosen[a]) < c.Slots {
				chosen[a] = append(chosen[a], b)
			}
		}
	}
	return chosen
}

// questions has the keys that one peer forgets and asks for.
type questions struct {
	kept     []summary.Fingerprint
	withheld []uint32
	lacked   []uint32
}

// asking draws keys that peer a forgets, which 2 to 10 others hold, and keys that it lacks anyway.
func (c *collections) asking(a int, rng *rand.Rand) (q questions) {
	own := c.held.Collection(peer(a))
	rare := map[uint32]bool{}
	for _, i := range rng.Perm(len(own)) {
		if h := c.held.Others(peer(a), own[i]); h >= 2 && h <= 10 && len(rare) < min(withheldKeys, len(own)/2) {
			rare[own[i]] = true
			q.withheld = append(q.withheld, own[i])
		}
	}
	for i, k := range own {
		if !rare[k] {
			q.kept = append(q.kept, c.fps[a][i])
		}
	}
	for tries := 0; tries < 20*lackedKeys && len(q.lacked) < lackedKeys; tries++ {
		if k := uint32(rng.IntN(c.held.Keys())); !c.held.Holds(peer(a), k) && c.held.Others(peer(a), k) > 0 {
			q.lacked = append(q.lacked, k)
		}
	}
	return q
}

// candidates returns all other peers as a peer sees them. Round trips are random: nothing here depends on where peers
// are.
func (c *collections) candidates(a int, q *questions, exact bool, prefixes []*summary.Prefix, rng *rand.Rand) []candidate {
	var samples compare.Samples
	if !exact {
		samples.SetOwn(prefix(q.kept))
	}
	withheld := map[uint32]bool{}
	for _, k := range q.withheld {
		withheld[k] = true
	}
	var out []candidate
	for b, p := range prefixes {
		if b == a {
			continue
		}
		x := candidate{Candidate: rank.Candidate{Index: b, Known: true, RTT: time.Duration(1 + rng.IntN(int(200*time.Millisecond)))}}
		n, m := float64(max(1, len(q.kept))), float64(len(c.fps[b]))
		common := 0.0
		if exact {
			common = float64(c.held.Common(peer(a), peer(b)))
			for k := range withheld {
				if c.held.Holds(peer(b), k) {
					common--
				}
			}
		} else {
			samples.Set(b, p.Truncate(1))
			var o estimate.Interval
			if o, x.Known = samples.Common(b, 0.95); x.Known {
				common = o.Value
			}
		}
		x.Overlap.Value, x.lacks = common/n, m-common
		out = append(out, x)
	}
	return out
}

// judgeNeighbours scores the queries that each peer's neighbours could answer, and the graph that they make.
func (c *collectionRun) judgeNeighbours(policy, by string, asks []questions, chosen [][]int) {
	if c.ctx.Err() != nil {
		return
	}
	answered := func(keys func(int) []uint32) float64 {
		hits, asked := 0, 0
		for a := range asks {
			for _, k := range keys(a) {
				asked++
				if slices.ContainsFunc(chosen[a], func(b int) bool { return c.held.Holds(peer(b), k) }) {
					hits++
				}
			}
		}
		return float64(hits) / float64(max(1, asked))
	}
	c.add(policy, by, 0, "withheld keys answered", answered(func(a int) []uint32 { return asks[a].withheld }))
	c.add(policy, by, 0, "lacked keys answered", answered(func(a int) []uint32 { return asks[a].lacked }))
	clustering, length, reached := graphOf(chosen)
	c.add(policy, by, 0, "clustering", clustering)
	c.add(policy, by, 0, "path length", length)
	c.add(policy, by, 0, "pairs connected", reached)
}

// graphOf measures the graph of links from choosing to chosen peers. It returns the mean clustering coefficient, the
// mean length of the shortest paths, and the share of pairs that have a path.
func graphOf(chosen [][]int) (clustering, length, reached float64) {
	n := len(chosen)
	linked := make([][]bool, n)
	for a := range linked {
		linked[a] = make([]bool, n)
	}
	for a, bs := range chosen {
		for _, b := range bs {
			linked[a][b], linked[b][a] = true, true
		}
	}
	var around [][]int
	for a := range linked {
		var bs []int
		for b, is := range linked[a] {
			if is {
				bs = append(bs, b)
			}
		}
		around = append(around, bs)
	}
	steps, pairs := 0, 0
	for a, bs := range around {
		triangles := 0
		for i, b := range bs {
			for _, d := range bs[:i] {
				if linked[b][d] {
					triangles++
				}
			}
		}
		if len(bs) > 1 {
			clustering += float64(triangles) / float64(len(bs)*(len(bs)-1)/2) / float64(n)
		}
		for b, d := range distances(around, a) {
			if b != a && d >= 0 {
				steps, pairs = steps+d, pairs+1
			}
		}
	}
	return clustering, float64(steps) / float64(max(1, pairs)), float64(pairs) / float64(max(1, n*(n-1)))
}

// distances returns the steps from a to all others, -1 where there is no path.
func distances(around [][]int, a int) []int {
	d := make([]int, len(around))
	for i := range d {
		d[i] = -1
	}
	d[a] = 0
	queue := []int{a}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, b := range around[at] {
			if d[b] < 0 {
				d[b] = d[at] + 1
				queue = append(queue, b)
			}
		}
	}
	return d
}
