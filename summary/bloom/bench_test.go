package bloom

import "testing"

// benchParams are of the filter of the figures: 100,000 keys of 20 bytes at 10.5 bits a key.
var benchParams = Params{Blocks: 1, BlockBits: 1_050_000, Hashes: 7}

func BenchmarkConcurrent(b *testing.B) {
	keys := testKeys(100_000, 1)
	s := must(NewConcurrent(benchParams))
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			s.Add(keys[i%len(keys)])
		}
	})
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
	f := filled(b, benchParams, testKeys(100_000, 1))
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
