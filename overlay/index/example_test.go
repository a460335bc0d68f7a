package index_test

import (
	"fmt"
	"time"

	"github.com/venn-p2p/venn/overlay/index"
	"github.com/venn-p2p/venn/summary"
)

func ExampleIndex() {
	hasher := summary.Seed{Network: "example"}.Hasher()
	var x index.Index
	for peer, keys := range [][]string{{"apple", "pear"}, {"pear", "plum"}, {"quince"}} {
		var fps []summary.Fingerprint
		for _, k := range keys {
			fps = append(fps, hasher.Fingerprint([]byte(k)))
		}
		s, err := summary.Build(fps, summary.Header{Origin: "somebody", Epoch: summary.Epoch{Generation: 1}, Lifetime: time.Hour})
		if err != nil {
			panic(err)
		}
		x.Set(peer, s)
	}
	fmt.Println(x.Candidates(nil, hasher.Fingerprint([]byte("pear"))))
	x.Set(0, nil) // gone
	fmt.Println(x.Candidates(nil, hasher.Fingerprint([]byte("pear"))))
	// Output:
	// [0 1]
	// [1]
}
