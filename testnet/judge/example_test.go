package judge_test

import (
	"fmt"

	"github.com/venn-p2p/venn/testnet/judge"
)

func ExampleTruth_Mark() {
	truth := judge.New(3, [][]uint32{{0, 1}, {1, 2}, {1}}) // three peers, three keys
	fmt.Printf("find one: %+v\n", truth.Mark(0, 2, false, []int{1}))
	fmt.Printf("find all: %+v\n", truth.Mark(0, 1, true, []int{2}))
	// Output:
	// find one: {Found:1 Findable:1 Wrong:0}
	// find all: {Found:1 Findable:2 Wrong:0}
}

func ExampleTruth_Neighbours() {
	truth := judge.New(4, [][]uint32{{0, 1, 2, 3}, {0, 1}, {0, 1, 2}})
	n := truth.Neighbours([][]int{{1}, nil, nil}) // peer 0 chose peer 1
	fmt.Println(n.Mean, n.Random, n.Best)
	// Output: 0.5 0.625 0.75
}
