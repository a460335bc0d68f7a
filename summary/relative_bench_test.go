package summary

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// BenchmarkRelative codes parts given a base that has 70 of a hundred of their keys, and the same parts in plain form,
// in turn. It prints the least time of each for a key, and the speed beside the plain form. To extend is all that a
// receiver does.
func BenchmarkRelative(b *testing.B) {
	for _, n := range []int{500, 5000, 20_000, 100_000} {
		keys := someKeys(1, n)
		base, next := epochs(b, keys, changed(1, keys, n*3/10, n*3/10), Shape{})
		none, _ := NewPrefix(next.Header())
		run, _ := next.Run(0, next.Parts())
		relative := must(next.RunRelative(0, next.Parts(), base, base.Parts()))
		cases := []struct {
			name string
			do   [2]func() error // plain, relative
		}{
			{"encode", [2]func() error{func() error {
				_, err := encodeParts(next.plan, next.tries, 0, next.Parts())
				return err
			}, func() error {
				_, err := next.RunRelative(0, next.Parts(), base, base.Parts())
				return err
			}}},
			{"decode", [2]func() error{func() error {
				d := decoder{plan: next.plan}
				return d.decode(0, run.Parts)
			}, func() error {
				c := newRelativeCoder(none.plan, 0, relative.end(), base, relative.BaseParts)
				_, err := c.decode(relative.Code, nil)
				return err
			}}},
			{"extend", [2]func() error{func() error {
				_, err := none.Extend(run)
				return err
			}, func() error {
				_, err := none.ExtendRelative(base, relative)
				return err
			}}},
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			least := make([][2]float64, len(cases))
			for i := range least {
				least[i] = [2]float64{math.Inf(1), math.Inf(1)}
			}
			for b.Loop() {
				for i, c := range cases {
					for form, do := range c.do {
						began := time.Now()
						if err := do(); err != nil {
							b.Fatal(err)
						}
						least[i][form] = min(least[i][form], float64(time.Since(began)))
					}
				}
			}
			for i, c := range cases {
				b.ReportMetric(least[i][0]/float64(n), c.name+"-plain-ns/key")
				b.ReportMetric(least[i][1]/float64(n), c.name+"-ns/key")
				b.ReportMetric(least[i][0]/least[i][1], c.name+"-speed")
			}
		})
	}
}
