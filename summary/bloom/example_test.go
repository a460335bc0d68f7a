package bloom_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/summary/estimate"
)

func ExampleFilter() {
	p, err := bloom.Goal{Keys: 1000, Rate: 0.01}.Params()
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := bloom.New(p)
	if err != nil {
		fmt.Println(err)
		return
	}
	f.Add([]byte("apple"))
	fmt.Println(f.Contains([]byte("apple")), f.Contains([]byte("pear")))
	fmt.Printf("%d bits, %d hash functions, a rate of %.4f when full\n", p.Bits(), p.Hashes, p.ExpectedRate(1000))
	// Output:
	// true false
	// 9594 bits, 7 hash functions, a rate of 0.0100 when full
}

// A block-partitioned filter is cut to what a link can bear; it goes on working.
func ExampleFilter_Truncate() {
	p, _ := bloom.Goal{Keys: 1000, Bits: 14_430, Partitioned: true}.Params()
	f, _ := bloom.New(p)
	f.Add([]byte("apple"))
	for blocks := p.Blocks; blocks > 0; blocks -= 3 {
		f.Truncate(blocks)
		cut := f.Params()
		fmt.Printf("%2d blocks, %5d bits, rate %.4f, apple %v\n",
			cut.Blocks, cut.Bits(), cut.ExpectedRate(1000), f.Contains([]byte("apple")))
	}
	// Output:
	// 10 blocks, 14430 bits, rate 0.0010, apple true
	//  7 blocks, 10101 bits, rate 0.0078, apple true
	//  4 blocks,  5772 bits, rate 0.0625, apple true
	//  1 blocks,  1443 bits, rate 0.5000, apple true
}

func ExampleParams() {
	p := bloom.Params{Blocks: 8, BlockBits: 1443, Hashes: 1}
	fmt.Printf("%d bits, rate %.5f with 1000 keys\n", p.Bits(), p.ExpectedRate(1000))
	// Output: 11544 bits, rate 0.00391 with 1000 keys
}

func ExampleHasher() {
	key := bloom.Hasher{K0: 0x6f66207468697320, K1: 0x6e6574776f726b2e} // of this network
	p := bloom.Params{Blocks: 1, BlockBits: 100, Hashes: 3, Hasher: key}
	f, _ := bloom.New(p)
	g, _ := bloom.New(p)
	h := key.Hash([]byte("apple")) // hashed once
	f.AddHash(h)
	fmt.Println(f.ContainsHash(h), g.ContainsHash(h))
	// Output: true false
}

func ExampleConcurrent() {
	s, _ := bloom.NewConcurrent(bloom.Params{Blocks: 1, BlockBits: 1000, Hashes: 4})
	done := make(chan bool)
	for _, fruit := range []string{"apple", "pear"} {
		go func() {
			s.Add([]byte(fruit))
			done <- true
		}()
	}
	<-done
	<-done
	fmt.Println(s.Contains([]byte("apple")), s.Contains([]byte("pear")))
	data, _ := s.MarshalBinary()
	frozen, _ := bloom.OpenView(data) // as it was then
	fmt.Println(frozen.Contains([]byte("apple")))
	// Output:
	// true true
	// true
}

// A dynamic filter grows with its set, and is cut afterwards.
func ExampleDynamic() {
	batch, err := bloom.Goal{Keys: 6000, Rate: 0.01, Partitioned: true}.Params()
	if err != nil {
		fmt.Println(err)
		return
	}
	p := bloom.DynamicParams{Batch: batch, Threshold: 6000}
	d, _ := bloom.NewDynamic(p)
	for i := range 20_000 {
		d.Add(fmt.Append(nil, i))
	}
	fmt.Printf("%d keys, batches of %d blocks: rate %.3f\n", d.Len(), batch.Blocks, p.ExpectedRate(d.Len()))
	d.Truncate(6)
	fmt.Printf("cut to %d blocks: rate %.3f\n", d.Params().Batch.Blocks, d.FalsePositiveRate())
	// Output:
	// 20000 keys, batches of 7 blocks: rate 0.030
	// cut to 6 blocks: rate 0.057
}

// The last 2,000 to 3,000 keys are remembered, and older ones forgotten.
func ExampleDynamicParams_window() {
	batch, _ := bloom.Goal{Keys: 1000, Rate: 0.001, Partitioned: true}.Params()
	d, _ := bloom.NewDynamic(bloom.DynamicParams{Batch: batch, Threshold: 1000, Window: 3})
	for i := range 10_000 {
		d.Add(fmt.Append(nil, i))
	}
	fmt.Println(d.Len(), d.Contains([]byte("9999")), d.Contains([]byte("7000")), d.Contains([]byte("6999")))
	// Output: 3000 true true false
}

// At 8 bits a key to send, a longer and sparser filter is better than a plain one; it is sent coded.
func ExampleCodec() {
	const n = 1000
	best, err := bloom.Goal{Keys: n, Bits: 0.99 * 8 * n, MaxBits: 16 * n}.Params()
	if err != nil {
		fmt.Println(err)
		return
	}
	plain, _ := bloom.Goal{Keys: n, Bits: 8 * n}.Params()
	codec, _ := bloom.NewCodec(best, plain)
	f, _ := bloom.New(best)
	for i := range n {
		f.Add(fmt.Append(nil, i))
	}
	message, _ := codec.Append(nil, f, nil)
	fmt.Printf("%d bits, %d hash functions: %d bytes, rate %.4f\n", f.Params().Bits(), f.Params().Hashes, len(message), best.ExpectedRate(n))
	fmt.Printf("plain: %d bytes, rate %.4f\n", plain.Bits()/8, plain.ExpectedRate(n))

	g, err := codec.Decode(message, nil)
	fmt.Println(err, g.Equal(f))

	f.Add([]byte("one more"))
	delta, _ := codec.Append(nil, f, g)
	g, err = codec.Decode(delta, g)
	fmt.Println(len(delta), "bytes;", err, g.Equal(f))
	// Output:
	// 13986 bits, 2 hash functions: 995 bytes, rate 0.0178
	// plain: 1000 bytes, rate 0.0216
	// <nil> true
	// 10 bytes; <nil> true
}

// At 8 bits a key to send and 14 in memory, and for a rate of 2 %.
func ExampleGoal() {
	best, _ := bloom.Goal{Keys: 10_000, Bits: 80_000, MaxBits: 140_000}.Params()
	fmt.Printf("m=%d k=%d z=%.0f f=%.4f\n", best.Bits(), best.Hashes, best.CompressedBits(10_000), best.ExpectedRate(10_000))
	best, _ = bloom.Goal{Keys: 10_000, Rate: 0.02, MaxBits: 140_000}.Params()
	fmt.Printf("m=%d k=%d z=%.0f f=%.4f\n", best.Bits(), best.Hashes, best.CompressedBits(10_000), best.ExpectedRate(10_000))
	_, err := bloom.Goal{Keys: 10_000, Rate: 2}.Params()
	fmt.Println(err)
	// Output:
	// m=140000 k=2 z=79232 f=0.0177
	// m=131168 k=2 z=77120 f=0.0200
	// bloom: parameter out of range: rate 2 is not between 0 and 1
}

func ExampleNewForRate() {
	f, err := bloom.NewForRate(1000, 0.01) // 1000 keys, 1 % false positives
	if err != nil {
		log.Fatal(err)
	}
	f.Add([]byte("apple"))
	fmt.Println(f.Contains([]byte("apple")), f.Contains([]byte("pear")))
	// Output: true false
}

// All filters do the same; which to take is a matter of what else is wanted.
func ExampleSet() {
	p := bloom.Params{Blocks: 7, BlockBits: 1443, Hashes: 1} // 1000 keys, 1 % false positives
	filter, _ := bloom.New(p)
	blocked, _ := bloom.NewBlockedForRate(1000, 0.01)
	concurrent, _ := bloom.NewConcurrent(p)
	growing, _ := bloom.NewDynamic(bloom.DynamicParams{Batch: p, Threshold: 500})
	for _, set := range []bloom.Set{filter, blocked, concurrent, growing} {
		for i := range 1000 {
			set.Add(fmt.Append(nil, i))
		}
		again, fresh := set.TestAndAdd([]byte("7")), set.TestAndAdd([]byte("pear"))
		b, err := set.MarshalBinary()
		if err != nil {
			log.Fatal(err)
		}
		set.Reset()
		empty := set.Contains([]byte("pear"))
		if err := set.UnmarshalBinary(b); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%T: %v %v %v %v, %d bytes, rate %.3f\n", set, again, fresh, empty, set.Contains([]byte("pear")), set.SizeBytes(), set.FalsePositiveRate())
	}
	// Output:
	// *bloom.Filter: true false false true, 1264 bytes, rate 0.008
	// *bloom.Blocked: true false false true, 1408 bytes, rate 0.009
	// *bloom.Concurrent: true false false true, 1264 bytes, rate 0.008
	// *bloom.Dynamic: true false false true, 3792 bytes, rate 0.000
}

func ExampleBlocked() {
	f, err := bloom.NewBlockedForRate(1_000_000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.TestAndAdd([]byte("apple")), f.TestAndAdd([]byte("apple")))
	f.AddHash(bloom.Hash64(0xb9a28d3a7c30f6ce)) // a hash that is at hand
	fmt.Println(f.ContainsHash(bloom.Hash64(0xb9a28d3a7c30f6ce)), f.Contains([]byte("pear")))
	// Output:
	// false true
	// true false
}

// A filter in a file is used where it lies.
func ExampleView() {
	f, _ := bloom.NewForRate(1000, 0.01)
	fmt.Println(f.TestAndAdd([]byte("apple")), f.TestAndAdd([]byte("apple")))
	file, _ := f.MarshalBinary() // or a mapped file
	v, err := bloom.OpenView(file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Contains([]byte("apple")), v.Contains([]byte("pear")))
	_, err = bloom.OpenView(file[1:])
	fmt.Println(errors.Is(err, bloom.ErrMalformed))
	// Output:
	// false true
	// true false
	// true
}

// Blocked filters of one form are merged, and asked for many keys at once.
func ExampleBlocked_Merge() {
	a, _ := bloom.NewBlockedForRate(1000, 0.01)
	b, _ := bloom.NewBlockedForRate(1000, 0.01)
	a.Add([]byte("apple"))
	b.Add([]byte("pear"))
	fmt.Println(a.Merge(b))
	found := make([]bool, 3)
	a.ContainsAll([][]byte{[]byte("apple"), []byte("pear"), []byte("plum")}, found)
	fmt.Println(found)
	other, _ := bloom.NewBlockedForRate(2000, 0.01)
	fmt.Println(errors.Is(a.Merge(other), bloom.ErrMismatch))
	// Output:
	// <nil>
	// [true true false]
	// true
}

// Two filters that grew apart become one, and shorter.
func ExampleDynamic_Merge() {
	p := bloom.DynamicParams{Batch: bloom.Params{Blocks: 8, BlockBits: 2048, Hashes: 1}, Threshold: 1000}
	a, _ := bloom.NewDynamic(p)
	b, _ := bloom.NewDynamic(p)
	for i := range 1500 {
		a.Add(fmt.Append(nil, "a", i))
		b.Add(fmt.Append(nil, "b", i))
	}
	if err := a.Merge(b); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Len(), "keys,", a.Contains([]byte("b7")))
	a.Truncate(6)
	fmt.Printf("%v, rate %.2f\n", a.Contains([]byte("a7")), a.FalsePositiveRate())
	// Output:
	// 3000 keys, true
	// true, rate 0.01
}

// How full a filter is says how many keys it has, and how many it shares with another.
func ExampleView_AndOnesCount() {
	a, _ := bloom.NewForRate(10_000, 0.01)
	b, _ := bloom.NewForRate(10_000, 0.01)
	for i := range 10_000 {
		a.Add([]byte(fmt.Sprint("key ", i)))
		b.Add([]byte(fmt.Sprint("key ", i+5000)))
	}
	both, err := a.AndOnesCount(b)
	if err != nil {
		log.Fatal(err)
	}
	p := a.Params()
	array := estimate.Array{Bits: p.BlockBits, Blocks: p.Blocks, Hashes: p.Hashes}
	n, _ := array.EstimateCardinality(a.OnesCount(), 0.95)
	o, _ := array.EstimateOverlap(estimate.Counts{First: a.OnesCount(), Second: b.OnesCount(), Both: both}, 0.95)
	fmt.Printf("%.0f keys (%.0f to %.0f), rate %.5f\n", n.Value, n.Low, n.High, a.FalsePositiveRate())
	fmt.Printf("%.0f keys in both (%.0f to %.0f), Jaccard %.2f\n", o.Intersection.Value, o.Intersection.Low, o.Intersection.High, o.Jaccard)
	// Output:
	// 10016 keys (9965 to 10067), rate 0.01008
	// 4988 keys in both (4936 to 5040), Jaccard 0.33
}
