package summary_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// collection are the fingerprints of some keys.
func collection(first, n int) []summary.Fingerprint {
	hasher := summary.Seed{Network: "example"}.Hasher()
	fps := make([]summary.Fingerprint, n)
	for i := range fps {
		fps[i] = hasher.Fingerprint(fmt.Appendf(nil, "key %d", first+i))
	}
	return fps
}

func build(fps []summary.Fingerprint, sequence uint32) *summary.Prefix {
	stream, err := summary.Build(fps, summary.Header{
		Seed:     summary.Seed{Network: "example"}.Tag(),
		Origin:   "peer",
		Epoch:    summary.Epoch{Generation: 1, Sequence: sequence},
		Lifetime: time.Hour,
		Shape:    summary.Shape{Keys: 10_000},
	})
	if err != nil {
		panic(err)
	}
	return stream
}

func Example() {
	// The origin builds a summary and signs its header.
	origin := build(collection(0, 10_000), 1)
	header := origin.Header()

	// A receiver that has verified the signature takes as many parts as its link carries, in messages of any size.
	received, err := summary.NewPrefix(header)
	if err != nil {
		panic(err)
	}
	for _, parts := range []int{1, 3, 8} {
		run, _ := origin.Run(received.Parts(), parts)
		if received, err = received.Extend(run); err != nil {
			panic(err)
		}
		fmt.Printf("%d parts, %d bytes: other keys match with probability %.3f\n", received.Parts(), received.EncodedBytes(), received.FalsePositiveRate())
	}
	hasher := summary.Seed{Network: "example"}.Hasher()
	fmt.Println(received.Contains(hasher.Fingerprint([]byte("key 77"))))

	// Bytes that are not the origin's are refused.
	run, _ := origin.Run(8, 9)
	forged := summary.Run{First: 8, Parts: [][]byte{append([]byte{1}, run.Parts[0]...)}, Next: run.Next}
	_, err = received.Extend(forged)
	fmt.Println(errors.Is(err, summary.ErrChain))
	// Output:
	// 1 parts, 254 bytes: other keys match with probability 0.975
	// 3 parts, 2244 bytes: other keys match with probability 0.445
	// 8 parts, 8917 bytes: other keys match with probability 0.019
	// true
	// true
}

func ExampleEstimateOverlap() {
	a, b := build(collection(0, 10_000), 1), build(collection(6000, 10_000), 1)
	for _, parts := range []int{1, 4, a.Parts()} {
		o, err := summary.EstimateOverlap(a.Truncate(parts), b.Truncate(parts), 0.95)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%.0f of 4000 in common, likely %.0f to %.0f\n", o.Intersection.Value, o.Intersection.Low, o.Intersection.High)
	}
	// Output:
	// 4038 of 4000 in common, likely 3529 to 4547
	// 4026 of 4000 in common, likely 3945 to 4105
	// 4002 of 4000 in common, likely 4000 to 4004
}

// A summary given that of a peer which holds three of four of its keys.
func ExampleRelative() {
	held, wanted := build(collection(0, 10_000), 1), build(collection(2500, 10_000), 2)
	r, err := wanted.RunRelative(0, wanted.Parts(), held, held.Parts())
	if err != nil {
		panic(err)
	}
	message := r.Bytes

	// The receiver holds the base, and has verified the signature of the header.
	if r, err = summary.ParseRelative(message); err != nil {
		panic(err)
	}
	none, err := summary.NewPrefix(wanted.Header())
	if err != nil {
		panic(err)
	}
	p, err := none.ExtendRelative(held, r)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d bytes instead of %d bring %d of %d parts\n", len(message), p.EncodedBytes(), p.Parts(), wanted.Parts())
	// Output:
	// 5819 bytes instead of 16478 bring 14 of 14 parts
}

// The smallest summary of 100,000 keys with a false-positive rate of 1 %.
func ExampleShapeForRate() {
	shape, parts, err := summary.ShapeForRate(100_000, 0.01)
	if err != nil {
		panic(err)
	}
	plan, err := summary.NewPlan(100_000, shape)
	if err != nil {
		panic(err)
	}
	perKey := 8 * float64(plan.EncodedBytes(parts)) / 100_000
	fmt.Printf("a block to level %d, %.1f bits a key, rate %.4f\n", shape.Levels[0], perKey, plan.ExpectedRate(parts))
	// Output:
	// a block to level 23, 8.2 bits a key, rate 0.0099
}

// The best summary of 100,000 keys in 64 KiB.
func ExampleShapeForBytes() {
	shape, parts, err := summary.ShapeForBytes(100_000, 64<<10)
	if err != nil {
		panic(err)
	}
	plan, err := summary.NewPlan(100_000, shape)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d parts of %d bytes, rate %.3f\n", parts, plan.EncodedBytes(parts), plan.ExpectedRate(parts))
	// Output: 46 parts of 65527 bytes, rate 0.067
}
