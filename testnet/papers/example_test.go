package papers_test

import (
	"fmt"

	"github.com/venn-p2p/venn/testnet/papers"
)

// How likely a bucket of 8 cells is to overflow at two average loads, four subtables, after long adding and removing.
func ExampleFluidLimit() {
	for _, load := range []float64{6, 6.5} {
		fmt.Printf("%.3g\n", papers.FluidLimit(4, 9, load)[9])
	}
	// Output:
	// 1.68e-27
	// 2.2e-08
}
