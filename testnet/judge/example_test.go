package judge_test

import (
	"fmt"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/judge"
)

func ExampleTruth_Mark() {
	start, err := holdings.New[int32](3, [][]uint32{{0, 1}, {1, 2}, {1}}) // three peers, three keys
	if err != nil {
		panic(err)
	}
	truth := judge.New(start, 0)
	fmt.Printf("find one: %+v\n", truth.Mark(0, 2, false, []int32{1}, 0, 0))
	fmt.Printf("find all: %+v\n", truth.Mark(0, 1, true, []int32{2}, 0, 0))
	// Output:
	// find one: {Found:1 Findable:1 Wrong:0}
	// find all: {Found:1 Findable:2 Wrong:0}
}

func ExampleChosen() {
	n := judge.Chosen(4, [][]uint32{{0, 1, 2, 3}, {0, 1}, {0, 1, 2}}, [][]int{{1}, nil, nil}) // peer 0 chose peer 1
	fmt.Println(n.Mean, n.Random, n.Best)
	// Output: 0.5 0.625 0.75
}
