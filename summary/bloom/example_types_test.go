package bloom_test

import (
	"fmt"

	"github.com/venn-p2p/venn/summary/bloom"
)

// What a filter of batches of 8 KiB costs at 20,000 keys, before it is made.
func ExampleDynamicParams() {
	p := bloom.DynamicParams{Batch: bloom.Params{Blocks: 7, BlockBits: 9362, Hashes: 1}, Threshold: 6800}
	fmt.Printf("rate %.3f\n", p.ExpectedRate(20_000))
	// Output: rate 0.027
}

// A key is hashed once for filters of any size under one seed.
func ExampleHash() {
	small, _ := bloom.NewForRate(100, 0.01)
	large, _ := bloom.NewForRate(1_000_000, 0.001)
	h := bloom.Hasher{}.Hash([]byte("apple"))
	small.AddHash(h)
	large.AddHash(h)
	fmt.Println(small.Contains([]byte("apple")), large.Contains([]byte("apple")))
	// Output: true true
}
