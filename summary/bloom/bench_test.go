package bloom

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The filter of the figures: 100,000 keys of 20 bytes at 10.5 bits a key.
func benchParams() []Params {
	return []Params{{Blocks: 1, BlockBits: 1_050_000, Hashes: 7}, {Blocks: 7, BlockBits: 150_000, Hashes: 1}}
}

func forEachShape(b *testing.B, run func(b *testing.B, f *Filter, in, out [][]byte)) {
	in, out := testKeys(100_000, 1), testKeys(100_000, 2)
	for _, p := range benchParams() {
		b.Run(fmt.Sprintf("blocks=%d", p.Blocks), func(b *testing.B) {
			b.ReportAllocs()
			run(b, filled(b, p, in), in, out)
		})
	}
}

func BenchmarkAdd(b *testing.B) {
	forEachShape(b, func(b *testing.B, f *Filter, in, _ [][]byte) {
		f.Reset()
		for i := 0; b.Loop(); i++ {
			f.Add(in[i%len(in)])
		}
	})
}

func BenchmarkContains(b *testing.B) {
	forEachShape(b, func(b *testing.B, f *Filter, in, out [][]byte) {
		b.Run("present", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				f.Contains(in[i%len(in)])
			}
		})
		b.Run("absent", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				f.Contains(out[i%len(out)])
			}
		})
	})
}

func BenchmarkContainsAll(b *testing.B) {
	found := make([]bool, 1000)
	forEachShape(b, func(b *testing.B, f *Filter, in, out [][]byte) {
		for i := 0; b.Loop(); i++ {
			keys := in
			if i%2 == 1 {
				keys = out
			}
			at := i % 100 * 1000
			f.ContainsAll(keys[at:at+1000], found)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/key")
	})
}

// A filter that no cache holds, half full: no key has been added, so a key passes 7 hash functions once in 128 times.
func BenchmarkContainsAllLarge(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	f := must(New(Params{Blocks: 1, BlockBits: 1 << 28, Hashes: 7}))
	for i := range f.words {
		f.words[i] = r.Uint64()
	}
	keys, found := testKeys(100_000, 1), make([]bool, 100_000)
	run := func(name string, ask func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ask()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/key")
		})
	}
	run("batch", func() { f.ContainsAll(keys, found) })
	run("one-by-one", func() {
		for i, key := range keys {
			found[i] = f.Contains(key)
		}
	})
}

func BenchmarkConcurrent(b *testing.B) {
	keys := testKeys(100_000, 1)
	s := must(NewConcurrent(benchParams()[0]))
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			s.Add(keys[i%len(keys)])
		}
	})
}

func BenchmarkAndOnes(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, bytes := range []uint64{16 << 10, 1 << 20} {
		p := Params{Blocks: 1, BlockBits: bytes * 8, Hashes: 1}
		f, g := must(New(p)), must(New(p))
		for i := range f.words {
			f.words[i], g.words[i] = r.Uint64(), r.Uint64()
		}
		b.Run(fmt.Sprintf("bytes=%d", bytes), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(bytes))
			for b.Loop() {
				_, _ = f.AndOnesCount(g)
			}
		})
	}
}

func BenchmarkOr(b *testing.B) {
	p := Params{Blocks: 1, BlockBits: 1 << 20, Hashes: 1}
	f, g := must(New(p)), must(New(p))
	b.SetBytes(1 << 17)
	b.ReportAllocs()
	for b.Loop() {
		_ = f.Merge(g)
	}
}

func BenchmarkDynamic(b *testing.B) {
	p := DynamicParams{Batch: Params{Blocks: 7, BlockBits: 9362, Hashes: 1}, Threshold: 6831, Window: 4}
	d := must(NewDynamic(p))
	keys := testKeys(4*p.Threshold, 1)
	for _, k := range keys {
		d.Add(k)
	}
	b.Run("Contains/4-batches", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			d.Contains(keys[i%len(keys)])
		}
	})
	b.Run("Add", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			d.Add(keys[i%len(keys)])
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	p := Params{Blocks: 1, BlockBits: 140_000, Hashes: 2}
	codec := must(NewCodec(p))
	f := filled(b, p, testKeys(10_000, 1))
	message := must(codec.Append(nil, f, nil))
	b.Run("Marshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			message, _ = codec.Append(message[:0], f, nil)
		}
	})
	b.Run("Decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = codec.Decode(message, nil)
		}
	})
}

func BenchmarkBinary(b *testing.B) {
	f := filled(b, benchParams()[0], testKeys(100_000, 1))
	data, _ := f.MarshalBinary()
	b.SetBytes(int64(len(data)))
	b.Run("Marshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			data, _ = f.MarshalBinary()
		}
	})
	b.Run("Unmarshal", func(b *testing.B) {
		b.ReportAllocs()
		var g Filter
		for b.Loop() {
			_ = g.UnmarshalBinary(data)
		}
	})
}
