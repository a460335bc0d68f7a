package summary

import (
	"fmt"
	"testing"
)

// BenchmarkRelative codes parts given a base that has 70 of a hundred of their keys, beside the plain code. Extend
// counts what a receiver does in all.
func BenchmarkRelative(b *testing.B) {
	for _, n := range []int{500, 5000, 30_000, 100_000} {
		keys := someKeys(1, n)
		base, next := epochs(b, keys, changed(1, keys, n*3/10, n*3/10), Shape{})
		none, _ := NewPrefix(next.Header())
		run, _ := next.Run(0, next.Parts())
		relative, err := next.RunRelative(0, next.Parts(), base, base.Parts())
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range []struct {
			name string
			do   func() error
		}{
			{"encode/plain", func() error {
				_, err := encodeParts(next.plan, next.blocks(), 0, next.Parts())
				return err
			}},
			{"encode/relative", func() error {
				_, err := next.RunRelative(0, next.Parts(), base, base.Parts())
				return err
			}},
			{"decode/plain", func() error {
				d := decoder{plan: next.plan}
				return d.decode(0, run.Parts)
			}},
			{"decode/relative", func() error {
				c := newRelativeCoder(none.plan, 0, relative.end(), base, relative.BaseParts)
				_, err := c.decode(relative.Code, nil)
				return err
			}},
			{"extend/plain", func() error {
				_, err := none.Extend(run)
				return err
			}},
			{"extend/relative", func() error {
				_, err := none.ExtendRelative(base, relative)
				return err
			}},
		} {
			b.Run(fmt.Sprint(n, "/", c.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := c.do(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
