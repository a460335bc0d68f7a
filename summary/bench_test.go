package summary

import (
	"fmt"
	"testing"
)

var benchSizes = []int{12_000, 100_000, 1_000_000}

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
