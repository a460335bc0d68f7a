package space_test

import (
	"fmt"

	"github.com/venn-p2p/venn/overlay/space"
)

func ExampleSet() {
	var s space.Set
	s.Add(space.Around(0x00<<56, 3))
	s.Add(space.Around(0x80<<56, 1))
	fmt.Println(s.String(), s.Share())
	s.Add(space.Around(0x20<<56, 3))
	fmt.Println(s.String(), s.Share(), s.Missing(space.Range{}))
	// Output:
	// {000 1} 0.625
	// {00 1} 0.75 0.25
}

// A range is named by the bits that its places share.
func ExampleAround() {
	p := space.Place(0b0110 << 60)
	r := space.Around(p, 3)
	fmt.Println(r, r.Share(), r.Contains(0b0111<<60), r.Contains(0b1000<<60))
	fmt.Println(space.Around(p, 0))
	// Output:
	// 011 0.125 true false
	// all
}
