package frequency_test

import (
	"fmt"
	"log"

	"github.com/venn-p2p/venn/summary/frequency"
)

// Who asks most? Estimates are never too low, and fade by halving.
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
	asks.Halve()
	fmt.Println(asks.Estimate(greedy))
	// Output:
	// 1000 3 0
	// 500
}

func ExampleTop() {
	p, err := frequency.ParamsForError(0.01, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	top, err := frequency.NewTop(2, p)
	if err != nil {
		log.Fatal(err)
	}
	for i := range uint64(1000) {
		top.Add(i%7*i%11, 1) // fingerprints of keys
	}
	for key, n := range top.All() {
		fmt.Println(key, n)
	}
	_, err = frequency.NewTop(0, p)
	fmt.Println(err)
	// Output:
	// 0 221
	// 10 78
	// frequency: bad parameters: a top of 0 keys, want at least 1
}

// Two shards count apart and are merged. Conservative counting keeps estimates closer.
func ExampleSketch_Merge() {
	p, _ := frequency.ParamsForError(0.01, 0.01)
	a, _ := frequency.New(p)
	b, _ := frequency.New(p)
	a.AddConservative(1, 5)
	b.AddConservative(1, 7)
	fmt.Println(a.Merge(b), a.Estimate(1), a.Total())
	p.Seed = 9
	other, _ := frequency.New(p)
	fmt.Println(a.Merge(other))
	fmt.Println(a.UnmarshalBinary([]byte("none")))
	// Output:
	// <nil> 12 12
	// frequency: sketches differ: seeds
	// frequency: malformed bytes: no count-min header
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
