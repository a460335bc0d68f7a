package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sort"
	"sync"

	"github.com/venn-p2p/venn/summary"
)

const (
	sketchKeys   = 100_000 // keys of each of two sets
	sketchTrials = 1000    // number of trials of our intervals
	rivalTrials  = 200     // number of trials of mean errors, ours and the rivals'
	confidence   = 0.95
)

// sketchShares has the shares of a set that the other set has, too. A theta sketch's error should be at least target
// times ours.
var sketchShares = []struct{ share, target float64 }{{0.01, 1 / 0.6}, {0.1, 1 / 0.6}, {0.5, 1}}

// sketchSizes has the sizes of sketches, in KiB.
var sketchSizes = []int{4, 16, 64}

// sketchArea compares estimates of the number of keys that two sets have in common, from the same number of bytes of
// each set. Ours are the first parts of a summary as nodes publish it. The rivals are a theta sketch, HyperLogLog, CPC,
// and b-bit MinHash of the best b. Ours never have more bytes; the header counts, signatures do not on either side. All
// know the sizes of the sets.
//
// Errors are relative to the truth, in the mean. The coverage is the share of 1,000 trials in which the 95 % confidence
// interval contains the truth. In its rows "ours" is its distance from 95 % in points, and "theirs" the three points
// that are allowed.
func sketchArea(b *bench) {
	b.kibibyte()
	all := b.trials("4, 16 and 64 KiB", sketchTrials, func(trial int) []sketched {
		return sketchTrial(uint64(trial), sketchSizes, trial < rivalTrials)
	})
	if b.stopped {
		return
	}
	for i, size := range sketchSizes {
		for j, s := range sketchShares {
			name := func(what string) string { return fmt.Sprintf("overlap %g %%, %d KiB, %s", 100*s.share, size, what) }
			e, off := sumUp(all, i*len(sketchShares)+j)
			b.amount(name("apache/datasketches-go theta"), "error", s.target, e.ours, e.theta)
			b.amount(name("axiomhq/hyperloglog"), "error", 0, e.ours, e.hll)
			b.amount(name("apache/datasketches-go CPC"), "error", 0, e.ours, e.cpc)
			b.amount(name(fmt.Sprintf("%d-bit MinHash", bestWidth(s.share))), "error", 0, e.ours, e.minHash)
			b.amount(name("coverage, points off"), "points", 1, off, 3)
		}
	}
}

// kibibyte measures our error with the sample that every summary begins with: 1 KiB, and a tenth of the keys in
// common.
func (b *bench) kibibyte() {
	const share, bytes = 0.1, 1 << 10
	errors := b.trials("1 KiB", rivalTrials, func(trial int) []sketched {
		rng := rand.New(rand.NewPCG(uint64(trial), bytes))
		mine := randomFingerprints(rng, sketchKeys)
		theirs := sharing(rng, mine, share)
		e := must(summary.EstimateOverlap(published(mine).Truncate(1), published(theirs).Truncate(1), confidence)).Intersection
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

// sketched has the relative errors of one trial.
type sketched struct {
	ours, theta, hll, cpc, minHash float64
	held                           bool // our interval contains the truth
}

// sketchTrial estimates each overlap once, from sketches of the given sizes in KiB. rivals adds the rivals'
// estimates.
func sketchTrial(seed uint64, sizes []int, rivals bool) []sketched {
	rng := rand.New(rand.NewPCG(seed, 1))
	a := randomFingerprints(rng, sketchKeys)
	ours := published(a)
	others := make([][]summary.Fingerprint, len(sketchShares))
	theirs := make([]*summary.Prefix, len(sketchShares))
	for i, s := range sketchShares {
		others[i] = sharing(rng, a, s.share)
		theirs[i] = published(others[i])
	}
	var out []sketched
	for _, size := range sizes {
		bytes := size << 10
		for i, s := range sketchShares {
			o := must(summary.EstimateOverlap(cut(ours, bytes), cut(theirs[i], bytes), confidence)).Intersection
			e := sketched{ours: relative(o.Value, s.share), held: o.Low <= s.share*sketchKeys && s.share*sketchKeys <= o.High}
			if rivals {
				e.theta = relative(thetaOverlap(a, others[i], bytes), s.share)
				e.hll = relative(hllOverlap(a, others[i], bytes), s.share)
				fromCPC, _ := cpcOverlap(a, others[i], bytes)
				e.cpc = relative(fromCPC, s.share)
				e.minHash = relative(minHashOverlap(rng.Uint64(), a, others[i], bytes, bestWidth(s.share)), s.share)
			}
			out = append(out, e)
		}
	}
	return out
}

// sumUp returns the mean errors for one share and size, and the distance of the intervals' coverage from 95 %, in
// points. which is the index of the share and size in a trial's results.
func sumUp(all [][]sketched, which int) (mean sketched, off float64) {
	held := 0
	for trial, t := range all {
		e := t[which]
		held += count(e.held)
		if trial < rivalTrials {
			mean.ours += e.ours / rivalTrials
			mean.theta += e.theta / rivalTrials
			mean.hll += e.hll / rivalTrials
			mean.cpc += e.cpc / rivalTrials
			mean.minHash += e.minHash / rivalTrials
		}
	}
	off = 100 * math.Abs(float64(held)/sketchTrials-confidence)
	return mean, max(off, 100.0/sketchTrials) // the least distance that this number of trials can show
}

// trials runs work n times on all processors. The results are in order, and depend only on the trials' numbers. It
// returns nil if the user has interrupted.
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

// published returns the summary that a node publishes of a collection.
func published(fps []summary.Fingerprint) *summary.Prefix {
	return must(summary.Build(fps, summary.Header{Origin: "bench"}))
}

// cut returns the longest prefix of a summary that fits into the bytes, header included.
func cut(p *summary.Prefix, bytes int) *summary.Prefix {
	bytes -= len(must(p.Header().AppendBinary(nil)))
	parts := sort.Search(p.Parts(), func(i int) bool { return p.Plan().EncodedBytes(i+1) > bytes })
	for p.Truncate(parts).EncodedBytes() > bytes { // the plan only predicts
		parts--
	}
	return p.Truncate(parts)
}

func randomFingerprints(rng *rand.Rand, n int) []summary.Fingerprint {
	fps := make([]summary.Fingerprint, n)
	for i := range fps {
		fps[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	return fps
}

// sharing returns as many random fingerprints as fps has, with a share of them taken from fps.
func sharing(rng *rand.Rand, fps []summary.Fingerprint, share float64) []summary.Fingerprint {
	both := int(share * float64(len(fps)))
	return append(randomFingerprints(rng, len(fps)-both), fps[:both]...)
}

func relative(estimate, share float64) float64 {
	return math.Abs(estimate/(share*sketchKeys) - 1)
}
