package judge_test

import (
	"fmt"

	"github.com/venn-p2p/venn/testnet/judge"
)

func ExampleScore() {
	truth := judge.New(3, [][]uint32{{0, 1}, {1, 2}, {1}}) // three peers, three keys
	var score judge.Score
	score.Add(truth, judge.Answer{Asker: 0, Key: 2, Found: []int{1}})
	score.Add(truth, judge.Answer{Asker: 0, Key: 1, All: true, Found: []int{2}})
	fmt.Println("find one:", score.FindOne.Recall())
	fmt.Println("find all:", score.FindAll.Recall())
	// Output:
	// find one: 1
	// find all: 0.5
}

func ExampleTruth_Neighbours() {
	truth := judge.New(4, [][]uint32{{0, 1, 2, 3}, {0, 1}, {0, 1, 2}})
	n := truth.Neighbours([][]int{{1}, nil, nil}) // peer 0 chose peer 1
	fmt.Println(n.Mean, n.Random, n.Best)
	// Output: 0.5 0.625 0.75
}
