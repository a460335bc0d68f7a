package workload_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/venn-p2p/venn/testnet/workload"
)

func ExampleLoad() {
	data, err := workload.Load(workload.Config{Rand: rand.New(rand.NewPCG(1, 0))})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(data.Peers()), "peers,", data.Keys(), "keys,", data.Holdings(), "holdings")
	fmt.Println(data.Peers()[0], "holds", len(data.Collections()[0]))
	// Output:
	// 121 peers, 423905 keys, 2294084 holdings
	// web-nginx holds 5655
}
