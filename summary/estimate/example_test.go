package estimate_test

import (
	"errors"
	"fmt"

	"github.com/venn-p2p/venn/summary/estimate"
)

// A standard filter of 8192 bits with two hash functions has 4253 ones.
func ExampleArray_Cardinality() {
	filter := estimate.Array{Bits: 8192, Hashes: 2}
	n, err := filter.Cardinality(4253, 0.9)
	fmt.Printf("%.0f elements, %.0f to %.0f, %v\n", n.Value, n.Low, n.High, err)
	full, _ := filter.Cardinality(8192, 0.9)
	fmt.Printf("full: %v, at least %.0f\n", full.Saturated, full.Low)
	// Output:
	// 2999 elements, 2955 to 3043, <nil>
	// full: true, at least 33493
}

// Two such filters, of sets with 2000 elements in common.
func ExampleArray_Intersection() {
	filter := estimate.Array{Bits: 8192, Hashes: 2}
	counts := estimate.Counts{First: 5107, Second: 5107, Both: 3915}
	both, _ := filter.Intersection(counts, 0.9)
	either, _ := filter.Union(counts, 0.9)
	fmt.Printf("%.0f common, %.0f to %.0f, of %.0f\n", both.Value, both.Low, both.High, either.Value)
	// Output:
	// 2000 common, 1934 to 2066, of 6000
}

// Of 1000 elements, 150 are found in a filter with 5 % false positives.
func ExampleHits() {
	common, _ := estimate.Hits(150, 1000, 0.05, 0.95)
	fmt.Printf("%.0f common, %.0f to %.0f\n", common.Value, common.Low, common.High)
	// Output:
	// 105 common, 92 to 119
}

// Three filters of one make, and the AND of all.
func ExampleArray_Common() {
	filter := estimate.Array{Bits: 8192, Hashes: 2}
	n, err := filter.Common(0.9, 3400, 5107, 5107, 5107)
	fmt.Printf("%.0f common, %.0f to %.0f, %v\n", n.Value, n.Low, n.High, err)
	_, err = filter.Common(0.9, 6000, 5107, 5107)
	fmt.Println(errors.Is(err, estimate.ErrRange))
	// Output:
	// 1933 common, 1893 to 1973, <nil>
	// true
}
