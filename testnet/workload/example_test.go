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
	fmt.Println(data.Peers()[0], "holds", len(data.Collection(0)))
	// Output:
	// 121 peers, 423905 keys, 2294084 holdings
	// web-nginx holds 5655
}

func ExampleData_Queries() {
	rng := rand.New(rand.NewPCG(1, 0))
	data, err := workload.Load(workload.Config{Path: "testdata/folder", Rand: rng})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range data.Queries(workload.FindOne, 3, rng) {
		fmt.Printf("%s asks for %s\n", data.Peers()[q.Asker], data.Key(q.Key))
	}
	// Output:
	// cid asks for cherry
	// ann asks for damson
	// ben asks for apple
}
