package link_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/venn-p2p/venn/testnet/link"
)

func ExampleParseMix() {
	mix, err := link.ParseMix("256kbit:1,10mbit:2")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, class := range mix.Assign(6, rand.New(rand.NewPCG(1, 0))) {
		fmt.Println(mix[class].Name)
	}
	_, err = link.ParseMix("fast:1")
	fmt.Println(err)
	// Output:
	// 256kbit
	// 10mbit
	// 10mbit
	// 10mbit
	// 256kbit
	// 10mbit
	// link: bad mix: rate "fast" wants a unit: bit, kbit, mbit or gbit (a second)
}
