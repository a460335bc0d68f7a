package store_test

import (
	"context"
	"fmt"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"

	"github.com/venn-p2p/venn/node/store"
	"github.com/venn-p2p/venn/summary"
)

func ExampleOpen() {
	ctx, d, seed := context.Background(), dssync.MutexWrap(ds.NewMapDatastore()), summary.Seed{Network: "venn"}
	s, err := store.Open(ctx, d, seed)
	if err != nil {
		panic(err)
	}
	key := []byte("a key")
	if _, err := s.Add([][]byte{key}, []summary.Fingerprint{seed.Hasher().Fingerprint(key)}); err != nil {
		panic(err)
	}
	// As after a crash: s is not closed.
	again, err := store.Open(ctx, d, seed)
	if err != nil {
		panic(err)
	}
	has, err := again.Has(key)
	fmt.Println(again.Count(), has, err)
	// Output: 1 true <nil>
}
