package summary

import (
	"fmt"
	"testing"
)

var benchSizes = []int{12_000, 100_000, 1_000_000}

func BenchmarkBuild(b *testing.B) {
	for _, n := range benchSizes {
		fps := someKeys(1, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustBuild(b, fps, Shape{})
			}
		})
	}
}

func BenchmarkExtend(b *testing.B) {
	for _, n := range benchSizes {
		full := mustBuild(b, someKeys(1, n), Shape{})
		none, _ := NewPrefix(full.Header())
		r, _ := full.Run(0, full.Parts())
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(none.Extend(r))
			}
		})
	}
}

// BenchmarkTruncate takes off the last part, of a prefix with its encoded parts and of a compact one.
func BenchmarkTruncate(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		full := mustBuild(b, someKeys(1, n), Shape{})
		for name, p := range map[string]*Prefix{"whole": full, "compact": full.Compact()} {
			b.Run(fmt.Sprint(n, "/", name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					p.Truncate(p.Parts() - 1)
				}
			})
		}
	}
}

func BenchmarkContains(b *testing.B) {
	for _, n := range benchSizes {
		fps := someKeys(1, n)
		p := mustBuild(b, fps[:n/2], Shape{})
		b.Run(fmt.Sprint(n/2), func(b *testing.B) {
			i := 0
			for b.Loop() {
				p.Contains(fps[i])
				if i++; i == n {
					i = 0
				}
			}
		})
	}
}

func BenchmarkOverlap(b *testing.B) {
	for _, n := range benchSizes {
		fps := someKeys(1, n)
		p, q := mustBuild(b, fps[:n*2/3], Shape{}), mustBuild(b, fps[n/3:], Shape{})
		b.Run(fmt.Sprint(n*2/3), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(EstimateOverlap(p, q, 0.95))
			}
		})
	}
}

func BenchmarkFingerprint(b *testing.B) {
	h := Seed{Network: "test"}.Hasher()
	key := make([]byte, 36)
	b.ReportAllocs()
	for b.Loop() {
		key[0]++
		h.Fingerprint(key)
	}
}
