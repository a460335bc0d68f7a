package node_test

import (
	"context"
	"fmt"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	mh "github.com/multiformats/go-multihash"

	"github.com/venn-p2p/venn/node"
)

// A node that keeps its keys through restarts, in any go-datastore.
func ExampleWithDatastore() {
	ctx, disk := context.Background(), dssync.MutexWrap(ds.NewMapDatastore())
	content, err := mh.Sum([]byte("content"), mh.SHA2_256, -1)
	if err != nil {
		panic(err)
	}
	for run := range 2 {
		n, host := start(node.WithDatastore(disk), node.WithNeighbours(2, 1, 3))
		private, err := n.Has([]byte("private"))
		fmt.Printf("run %d begins with %d keys; the private one is held: %v, %v\n", run, n.Len(), private, err)
		if err := n.StartProviding(true, content); err != nil {
			panic(err)
		}
		if _, err := n.AddPrivate(ctx, []byte("private")); err != nil {
			panic(err)
		}
		if run == 1 {
			if err := n.StopProviding(content); err != nil {
				panic(err)
			}
			if _, err := n.RemovePrivate(ctx, []byte("private")); err != nil {
				panic(err)
			}
			fmt.Printf("it ends with %d\n", n.Len())
		}
		if err := n.Close(); err != nil {
			panic(err)
		}
		_ = host.Close()
	}
	// Output:
	// run 0 begins with 0 keys; the private one is held: false, <nil>
	// run 1 begins with 1 keys; the private one is held: true, <nil>
	// it ends with 0
}
