package bitcode

import (
	"fmt"
	"testing"
)

// benchArrays are arrays of 128 KiB for each method, and small ones.
var benchArrays = []struct{ n, permille int }{
	{1 << 20, 1},
	{1 << 20, 10},
	{1 << 20, 50},
	{1 << 20, 100},
	{1 << 20, 200},
	{1 << 20, 300},
	{1 << 20, 500},
	{1000, 100},
	{12_000, 1},
	{12_000, 50},
	{16_000, 100},
	{20_000, 10},
	{20_000, 100},
}

func BenchmarkAppendBits(b *testing.B) {
	for _, a := range benchArrays {
		b.Run(fmt.Sprintf("n=%d/p=0.%03d", a.n, a.permille), func(b *testing.B) {
			ones := a.n * a.permille / 1000
			words := randomBits(a.n, ones)
			var dst []byte
			b.SetBytes(int64(a.n / 8))
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendBits(dst[:0], words, a.n, ones)
			}
			b.ReportMetric(float64(len(dst))/entropyBytes(a.n, ones), "size/entropy")
		})
	}
}

func BenchmarkDecodeBits(b *testing.B) {
	for _, a := range benchArrays {
		b.Run(fmt.Sprintf("n=%d/p=0.%03d", a.n, a.permille), func(b *testing.B) {
			ones := a.n * a.permille / 1000
			words := randomBits(a.n, ones)
			code := AppendBits(nil, words, a.n, ones)
			b.SetBytes(int64(a.n / 8))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeBits(words, code, a.n, ones); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPredictedBytes(b *testing.B) {
	for b.Loop() {
		PredictedBytes(1<<20, 1<<17)
	}
}

// BenchmarkDecodeSeveral decodes arrays that have the exact code, four at a time. Its time is that of all.
func BenchmarkDecodeSeveral(b *testing.B) {
	const n = 16_000
	for _, ones := range []int{1600, 4000} {
		var arrays [Lanes]Array
		for i := range arrays {
			words := randomBits(n, ones)
			arrays[i] = Array{words, AppendBits(nil, words, n, ones), n, ones}
		}
		b.Run(fmt.Sprint(ones), func(b *testing.B) {
			for b.Loop() {
				if _, err := DecodeSeveral(arrays[:]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
