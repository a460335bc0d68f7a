package estimate_test

import (
	"fmt"

	"github.com/venn-p2p/venn/summary/estimate"
)

// A standard filter of 8192 bits with two hash functions has 4253 ones.
func ExampleArray_EstimateCardinality() {
	filter := estimate.Array{Bits: 8192, Hashes: 2}
	n, err := filter.EstimateCardinality(4253, 0.9)
	fmt.Printf("%.0f elements, %.0f to %.0f, %v\n", n.Value, n.Low, n.High, err)
	full, _ := filter.EstimateCardinality(8192, 0.9)
	fmt.Printf("full: %v, at least %.0f\n", full.Saturated, full.Low)
	// Output:
	// 2999 elements, 2955 to 3043, <nil>
	// full: true, at least 33493
}

// Two such filters, of sets with 2000 elements in common.
func ExampleArray_EstimateOverlap() {
	filter := estimate.Array{Bits: 8192, Hashes: 2}
	counts := estimate.Counts{First: 5107, Second: 5107, Both: 3915}
	o, _ := filter.EstimateOverlap(counts, 0.9)
	both := o.Intersection
	fmt.Printf("%.0f common, %.0f to %.0f, of %.0f\n", both.Value, both.Low, both.High, o.Union.Value)
	// Output:
	// 2000 common, 1934 to 2066, of 6000
}

// Three filters of one make, and the AND of all.
func ExampleArray_EstimateCommon() {
	filter := estimate.Array{Bits: 8192, Hashes: 2}
	n, err := filter.EstimateCommon(0.9, 3400, 5107, 5107, 5107)
	fmt.Printf("%.0f common, %.0f to %.0f, %v\n", n.Value, n.Low, n.High, err)
	_, err = filter.EstimateCommon(0.9, 6000, 5107, 5107)
	fmt.Println(err)
	// Output:
	// 1933 common, 1893 to 1973, <nil>
	// estimate: all 6000: out of range, 0 to 5107
}

// The ones of two filters and of their AND, when the sizes of both sets are known besides.
func ExampleCounts() {
	filter := estimate.Array{Bits: 8192, Hashes: 2}
	counts := estimate.Counts{First: 5107, Second: 5107, Both: 3915}
	known, err := filter.EstimateIntersection(counts, 4000, 4000, 0.9)
	fmt.Printf("%.0f common, %.0f to %.0f, %v\n", known.Value, known.Low, known.High, err)
	// Output: 2000 common, 1936 to 2064, <nil>
}

// An interval holds the truth with the confidence asked for.
func ExampleInterval() {
	i, err := estimate.Array{Bits: 1 << 20}.EstimateCardinality(1000, 0.95)
	fmt.Printf("%.0f (%.0f to %.0f) at %v, %v\n", i.Value, i.Low, i.High, i.Confidence, err)
	// Output: 1000 (999 to 1002) at 0.95, <nil>
}

// Sets of 4000 and 5000 elements that share 2000.
func ExampleOverlap() {
	o := estimate.Overlap{N1: 4000, N2: 5000, Intersection: estimate.Interval{Value: 2000, Low: 1900, High: 2100, Confidence: 0.95}}
	o.Containment = o.Intersection.Value / o.N1
	o.Jaccard = o.Intersection.Value / (o.N1 + o.N2 - o.Intersection.Value)
	fmt.Printf("%.0f %% of the first, Jaccard %.2f\n", 100*o.Containment, o.Jaccard)
	// Output: 50 % of the first, Jaccard 0.29
}
