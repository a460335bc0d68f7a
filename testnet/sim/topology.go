package sim

import (
	"cmp"
	"math/rand/v2"

	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/links"
)

// Topology sets how the peers are linked at the start.
type Topology struct {
	Kind Kind `toml:"kind"` // "": random
	// mean number of links of a peer; 0: 8. Star: number of first peers, to which all others link; 0: 1
	Degree int     `toml:"degree"`
	Rewire float64 `toml:"rewire"` // SmallWorld: share of links to a peer drawn at random; 0: 0.1
}

// Kind is a family of random graphs.
type Kind string

// The families.
const (
	Random     Kind = "random"      // every pair with the same probability; the default
	SmallWorld Kind = "small-world" // a ring of near neighbours with shortcuts (Watts and Strogatz, 1998)
	PowerLaw   Kind = "power-law"   // new peers prefer peers with many links (Barabási and Albert, 1999)
	Star       Kind = "star"        // all peers link to the same few first peers, at the start and after an absence
)

// Defaults returns the topology with defaults in place of zeros.
func (t Topology) Defaults() Topology {
	t.Kind = cmp.Or(t.Kind, Random)
	if t.Kind == Star {
		t.Degree = cmp.Or(t.Degree, 1)
	}
	t.Degree = cmp.Or(t.Degree, 8)
	t.Rewire = cmp.Or(t.Rewire, 0.1)
	return t
}

// For returns the topology with the number of links of a peer that the strategy's rules set. In a star it keeps
// the number of first peers.
func (t Topology) For(r links.Rules) Topology {
	if t.Kind != Star {
		t.Degree = r.Degree
	}
	return t
}

// Edges draws the links among n peers, opener first. No pair is linked twice.
func (t Topology) Edges(n int, rng *rand.Rand) [][2]strategy.ID {
	t = t.Defaults()
	g := graph{pairs: map[[2]strategy.ID]bool{}}
	if t.Kind == Star {
		for i := range n {
			for c := range min(i, t.Degree) {
				g.add(i, c)
			}
		}
		return g.edges
	}
	each := max(1, t.Degree/2) // links that every peer opens
	targets := []int{0}        // PowerLaw: has every peer once for each of its links
	for i := range n {
		for k := range min(each, n-1) {
			var j int
			switch {
			case t.Kind == SmallWorld && rng.Float64() >= t.Rewire:
				j = (i + k + 1) % n
			case t.Kind == PowerLaw:
				if i == 0 {
					continue
				}
				j = targets[rng.IntN(len(targets))]
			default:
				j = rng.IntN(n)
			}
			if g.add(i, j) && t.Kind == PowerLaw {
				targets = append(targets, i, j)
			}
		}
	}
	return g.edges
}

type graph struct {
	edges [][2]strategy.ID
	pairs map[[2]strategy.ID]bool
}

func (g *graph) add(a, b int) bool {
	pair := [2]strategy.ID{strategy.ID(min(a, b)), strategy.ID(max(a, b))}
	if a == b || g.pairs[pair] {
		return false
	}
	g.pairs[pair] = true
	g.edges = append(g.edges, [2]strategy.ID{strategy.ID(a), strategy.ID(b)})
	return true
}

// Components returns the number of connected parts of n peers with these links.
func Components(n int, edges [][2]strategy.ID) int {
	root := make([]int, n)
	for i := range root {
		root[i] = i
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	components := n
	for _, e := range edges {
		if a, b := find(int(e[0])), find(int(e[1])); a != b {
			root[a] = b
			components--
		}
	}
	return components
}
