package region_test

import (
	"fmt"

	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
)

// A peer with room for 128 origins covers a part of a large network, and all of a small one.
func ExampleDepth() {
	m := region.Means{Most: 128}
	for _, n := range []float64{121, 2000, 10_000, 100_000} {
		d := region.Depth(0, m, n)
		fmt.Printf("%.0f origins: depth %d, a range of %.0f\n", n, d, n*space.Around(0, d).Share())
	}
	// Output:
	// 121 origins: depth 0, a range of 121
	// 2000 origins: depth 5, a range of 62
	// 10000 origins: depth 7, a range of 78
	// 100000 origins: depth 11, a range of 49
}

// Contacts are asked for what is not covered yet, the widest first.
func ExampleNext() {
	contacts := []region.Contact{
		{Peer: "narrow", Place: 0b010 << 61, Depth: 3},
		{Peer: "wide", Place: 0b100 << 61, Depth: 1},
		{Peer: "inside the wide one", Place: 0b101 << 61, Depth: 3},
	}
	var covered space.Set
	covered.Add(space.Around(0, 2)) // the own range
	for {
		i := region.Next(contacts, &covered, func(int) bool { return false }, nil, 7)
		if i < 0 {
			break
		}
		covered.Add(contacts[i].Range())
		fmt.Printf("%s: %.3f\n", contacts[i].Peer, covered.Share())
	}
	// Output:
	// wide: 0.750
	// narrow: 0.875
}
