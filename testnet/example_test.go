package testnet_test

import (
	"context"
	"fmt"
	"time"

	"github.com/venn-p2p/venn/testnet"
)

// A small network with the default data, dealt to its first six peers.
func ExampleRun() {
	report, err := testnet.Run(context.Background(), testnet.Config{
		Peers: 6, Chunk: 1 << 20, Queries: 10, Warmup: 4 * time.Second, FindTimeout: time.Minute, Seed: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Peers, "peers,", report.Keys, "keys,", report.Queries, "queries")
	fmt.Println("recall above 0.9:", *report.FindOne.Recall > 0.9 && *report.FindAll.Recall > 0.9)
	fmt.Println("goroutines left:", *report.GoroutinesLeft)
	// Output:
	// 6 peers, 464 keys, 20 queries
	// recall above 0.9: true
	// goroutines left: 0
}
