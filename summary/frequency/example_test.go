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
	fmt.Println(asks.Estimate(greedy), asks.SizeBytes(), "bytes")
	// Output:
	// 1000 3 0
	// 500 10940 bytes
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
	// Output:
	// 0 221
	// 10 78
}
