package frequency_test

import (
	"fmt"
	"log"

	"github.com/venn-p2p/venn/testnet/papers/frequency"
)

// Who asks most? Estimates are never too low.
func ExampleSketch() {
	p, err := frequency.ParamsForError(0.01, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	asks, err := frequency.New(p)
	if err != nil {
		log.Fatal(err)
	}
	const greedy, modest = 0xdecafbad, 0xc0ffee
	for range 1000 {
		asks.Add(greedy, 1)
	}
	asks.Add(modest, 3)
	fmt.Println(asks.Estimate(greedy), asks.Estimate(modest), asks.Estimate(1))
	// Output:
	// 1000 3 0
}

// Estimates that are too high by more than a thousandth of all counts with probability 1 %.
func ExampleParams() {
	p, err := frequency.ParamsForError(0.001, 0.01)
	fmt.Println(p.Width, p.Depth, p.Copies, err)
	_, err = frequency.ParamsForError(0, 0.01)
	fmt.Println(err)
	// Output:
	// 5437 7 1 <nil>
	// frequency: bad parameters: eps is 0, want between 0 and 1
}
