package coverage_test

import (
	"fmt"

	"github.com/venn-p2p/venn/overlay/coverage"
)

// A peer with room for 128 origins covers a part of a large network, and all of a small one.
func ExampleDepth() {
	m := coverage.Means{Most: 128}
	for _, n := range []float64{121, 2000, 10_000, 100_000} {
		d := coverage.Depth(0, m, n)
		fmt.Printf("%.0f origins: depth %d, a range of %.0f\n", n, d, n*coverage.Around(0, d).Share())
	}
	// Output:
	// 121 origins: depth 0, a range of 121
	// 2000 origins: depth 5, a range of 62
	// 10000 origins: depth 7, a range of 78
	// 100000 origins: depth 11, a range of 49
}

func ExampleSet() {
	var s coverage.Set
	s.Add(coverage.Around(0x00<<56, 3))
	s.Add(coverage.Around(0x80<<56, 1))
	fmt.Println(s.String(), s.Share())
	s.Add(coverage.Around(0x20<<56, 3))
	fmt.Println(s.String(), s.Share(), s.Missing(coverage.Range{}))
	// Output:
	// {000 1} 0.625
	// {00 1} 0.75 0.25
}

// A range is named by the bits that its places share.
func ExampleAround() {
	p := coverage.Place(0b0110 << 60)
	r := coverage.Around(p, 3)
	fmt.Println(r, r.Share(), r.Contains(0b0111<<60), r.Contains(0b1000<<60))
	fmt.Println(coverage.Around(p, 0))
	// Output:
	// 011 0.125 true false
	// all
}

// Of many origins those near by are kept, and those anywhere that are most like this peer.
func ExampleKeep() {
	self := coverage.Place(0)
	var all []coverage.Candidate
	for i := range 16 {
		c := coverage.Candidate{Place: coverage.Place(i) << 60}
		if i%5 == 4 {
			c.Overlap = float64(i) / 16
		}
		all = append(all, c)
	}
	for i, keep := range coverage.Keep(coverage.Around(self, 1), self, 8, all) {
		if keep {
			fmt.Print(i, " ")
		}
	}
	// Output: 0 1 2 3 4 5 6 14
}

// Contacts are asked for what is not covered yet, the widest first.
func ExampleNext() {
	contacts := []coverage.Contact{
		{Peer: "narrow", Place: 0b010 << 61, Depth: 3},
		{Peer: "wide", Place: 0b100 << 61, Depth: 1},
		{Peer: "inside the wide one", Place: 0b101 << 61, Depth: 3},
	}
	var covered coverage.Set
	covered.Add(coverage.Around(0, 2)) // the own range
	for {
		i := coverage.Next(contacts, &covered, func(int) bool { return false }, nil, 7)
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
