package inside_test

import (
	"fmt"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/inside"
)

// build returns the whole summary of n keys.
func build(n int) *summary.Prefix {
	seed := summary.Seed{Network: "example"}
	hasher := seed.Hasher()
	fps := make([]summary.Fingerprint, n)
	for i := range fps {
		fps[i] = hasher.Fingerprint(fmt.Appendf(nil, "key %d", i))
	}
	p, err := summary.Build(fps, summary.Header{Seed: seed.Tag(), Origin: "peer", Lifetime: time.Hour})
	if err != nil {
		panic(err)
	}
	return p
}

// The nodes of block 0 at level 8 are the first eight bits of the keys' positions.
func ExampleWalker() {
	p := build(10_000)
	var n inside.Walker
	n.Reset(p, 0, 8, 0, 1<<32)
	count := 0
	for nodes := n.Next(); nodes != nil; nodes = n.Next() {
		count += len(nodes)
	}
	fmt.Println(count, "of 256")
	// Output: 256 of 256
}

// The first part is a sample: the beginning of hash space, known deeply.
func ExampleRegion() {
	r, ok := inside.Sample(build(10_000))
	fmt.Printf("%v: %.3f of hash space at level %d\n", ok, float64(r.End-r.Begin)/(1<<32), r.Level)
	// Output: true: 0.025 of hash space at level 20
}
