package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/venn-p2p/venn/summary"
)

const (
	sketchKeys   = 100_000 // of each of two sets
	sketchTrials = 1000    // of our intervals
	rivalTrials  = 200     // of mean errors, ours and theirs
	confidence   = 0.95
)

// sketchShares are the parts of a set that the other has too, with how many times less than a theta sketch's our error is
// to be.
var sketchShares = []struct{ share, target float64 }{{0.01, 1 / 0.6}, {0.1, 1 / 0.6}, {0.5, 1}}

// sketchSizes are KiB of a sketch, and the bytes that our sample is aimed at: as no part is over 64 KiB, the largest is
// aimed at 60.
var sketchSizes = []struct{ kib, bytes int }{{4, 4 << 10}, {16, 16 << 10}, {64, summary.MaxSampleBytes}}

// sketchArea: how many keys two sets have in common, estimated from as many bytes of each: the first part of a summary, a
// theta sketch, HyperLogLog, b-bit MinHash of the best b. Theirs have never fewer bytes than ours, whose signed header is
// not counted, and know the sizes of the sets as ours does. Errors are relative to the truth, in the mean. The coverage is
// how often, in 1,000 trials, the interval of 95 % confidence holds the truth: "ours" is how many points off 95 %, "theirs"
// the three that are allowed.
func sketchArea(b *bench) {
	b.kibibyte()
	for _, size := range sketchSizes {
		name := func(share float64, what string) string {
			return fmt.Sprintf("overlap %g %%, %d KiB, %s", 100*share, size.kib, what)
		}
		all := b.trials(fmt.Sprintf("%d KiB", size.kib), sketchTrials, func(trial int) []sketched {
			return sketchTrial(uint64(size.kib<<20+trial), size.bytes, size.kib<<10, trial < rivalTrials)
		})
		if b.stopped {
			return
		}
		for i, s := range sketchShares {
			e, off := sumUp(all, i)
			b.amount(name(s.share, "apache/datasketches-go theta"), "error", s.target, e.ours, e.theta)
			b.amount(name(s.share, "axiomhq/hyperloglog"), "error", 0, e.ours, e.hll)
			b.amount(name(s.share, fmt.Sprintf("%d-bit MinHash", bestWidth(s.share))), "error", 0, e.ours, e.minHash)
			b.amount(name(s.share, "coverage, points off"), "points", 1, off, 3)
		}
	}
}

// kibibyte is the sample that every summary begins with: 1 KiB, a tenth in common.
func (b *bench) kibibyte() {
	const share, bytes = 0.1, 1 << 10
	errors := b.trials("1 KiB", rivalTrials, func(trial int) []sketched {
		rng := rand.New(rand.NewPCG(uint64(trial), bytes))
		mine := randomFingerprints(rng, sketchKeys)
		theirs := sharing(rng, mine, share)
		shape := summary.DefaultShape(sketchKeys)
		e := must(summary.EstimateOverlap(sampleOf(mine, shape), sampleOf(theirs, shape), confidence)).Intersection
		return []sketched{{ours: relative(e.Value, share)}}
	})
	if b.stopped {
		return
	}
	sum := 0.0
	for _, e := range errors {
		sum += e[0].ours
	}
	b.amount("overlap 10 %, 1 KiB, at most 0.10", "error", 1, sum/rivalTrials, 0.10)
}

// sketched is the errors of one trial.
type sketched struct {
	ours, theta, hll, minHash float64
	held                      bool // by our interval
}

// sketchTrial estimates every overlap once.
func sketchTrial(seed uint64, bytes, theirBytes int, rivals bool) []sketched {
	rng := rand.New(rand.NewPCG(seed, 1))
	shape := sampleShape(bytes)
	a := randomFingerprints(rng, sketchKeys)
	ours := sampleOf(a, shape)
	var out []sketched
	for _, s := range sketchShares {
		c := sharing(rng, a, s.share)
		o := must(summary.EstimateOverlap(ours, sampleOf(c, shape), confidence)).Intersection
		e := sketched{ours: relative(o.Value, s.share), held: o.Low <= s.share*sketchKeys && s.share*sketchKeys <= o.High}
		if rivals {
			e.theta = relative(thetaOverlap(a, c, theirBytes), s.share)
			e.hll = relative(hllOverlap(a, c, theirBytes), s.share)
			e.minHash = relative(minHashOverlap(rng.Uint64(), a, c, theirBytes, bestWidth(s.share)), s.share)
		}
		out = append(out, e)
	}
	return out
}

// sumUp is the mean errors of one share, and by how many points the intervals' coverage is off.
func sumUp(all [][]sketched, share int) (mean sketched, off float64) {
	held := 0
	for trial, t := range all {
		e := t[share]
		held += count(e.held)
		if trial < rivalTrials {
			mean.ours += e.ours / rivalTrials
			mean.theta += e.theta / rivalTrials
			mean.hll += e.hll / rivalTrials
			mean.minHash += e.minHash / rivalTrials
		}
	}
	off = 100 * math.Abs(float64(held)/sketchTrials-confidence)
	return mean, max(off, 100.0/sketchTrials) // the least that so many trials tell
}

// trials runs work n times on all processors. The results, in order, depend only on the trials' numbers. Nothing when it was
// stopped.
func (b *bench) trials(name string, n int, work func(trial int) []sketched) [][]sketched {
	fmt.Fprintf(b.progress, "%s: %s\n", b.area, name)
	out := make([][]sketched, n)
	for first := 0; first < n && !b.stopping(); first += 50 {
		var wg sync.WaitGroup
		for worker := range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				for i := first + worker; i < min(first+50, n); i += runtime.GOMAXPROCS(0) {
					out[i] = work(i)
				}
			})
		}
		wg.Wait()
	}
	if b.stopped {
		return nil
	}
	return out
}

// sampleShape has a sample of so many bytes, and the least that must follow it. One that takes in most of hash space is cut
// as deep as may be: a lower level would add false matches, not keys.
func sampleShape(bytes int) summary.Shape {
	s := summary.DefaultShape(sketchKeys)
	s.SampleBytes = bytes
	if bytes > 32<<10 {
		s.SampleLevel += 2
	}
	s.Levels = []uint8{s.Levels[0] - 11}
	return s
}

// sampleOf is the first part of a collection's stream.
func sampleOf(fps []summary.Fingerprint, s summary.Shape) *summary.Prefix {
	return must(summary.Build(fps, summary.Header{Origin: "bench", Shape: s})).Prefix().Truncate(1)
}

func randomFingerprints(rng *rand.Rand, n int) []summary.Fingerprint {
	fps := make([]summary.Fingerprint, n)
	for i := range fps {
		fps[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	return fps
}

// sharing is as many random fingerprints, a share of them fps's own.
func sharing(rng *rand.Rand, fps []summary.Fingerprint, share float64) []summary.Fingerprint {
	both := int(share * float64(len(fps)))
	return append(randomFingerprints(rng, len(fps)-both), fps[:both]...)
}

func relative(estimate, share float64) float64 {
	return math.Abs(estimate/(share*sketchKeys) - 1)
}
