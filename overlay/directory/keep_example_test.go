package directory_test

import (
	"fmt"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/space"
)

// Of many origins those near by are kept, and those anywhere that are most like this peer.
func ExampleKeep() {
	self := space.Place(0)
	var all []directory.Candidate
	for i := range 16 {
		c := directory.Candidate{Place: space.Place(i) << 60}
		if i%5 == 4 {
			c.Overlap = float64(i) / 16
		}
		all = append(all, c)
	}
	for i, keep := range directory.Keep(space.Around(self, 1), self, 8, all) {
		if keep {
			fmt.Print(i, " ")
		}
	}
	// Output: 0 1 2 3 4 5 6 14
}
