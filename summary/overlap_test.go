package summary

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/summary/estimate"
	"github.com/venn-p2p/venn/summary/internal/trie"
)

// trials makes statistical tests quick or thorough.
var trials = flag.Int("trials", 100, "trials of statistical tests; the figures quoted are those of 1000")

// pair is two collections that share some keys.
func pair(seed uint64, n1, n2, both int) (a, b []Fingerprint) {
	keys := someKeys(seed, n1+n2-both)
	return keys[:n1], keys[n1-both:]
}

// tally counts how often intervals hold the truth, and sums up errors.
type tally struct {
	trials, held int
	errors       float64
}

func (c *tally) add(i estimate.Interval, want float64) {
	c.trials++
	if i.Low <= want && want <= i.High {
		c.held++
	}
	c.errors += math.Abs(i.Value - want)
}

func (c *tally) coverage() float64 { return float64(c.held) / float64(c.trials) }

// TestOverlapCoverage checks that intervals hold the truth as often as they claim. The prefixes have several depths and
// sizes, from the sample alone to the middle of a step.
func TestOverlapCoverage(t *testing.T) {
	const n = 3000
	trials := *trials
	for _, c := range []struct {
		share          float64
		n2             int
		parts1, parts2 int
	}{
		{0.02, n, 1, 1},
		{0.5, n, 1, 1},
		{0.95, n, 1, 1},
		{0.1, n, 3, 3},
		{0.5, n, 4, 2},
		{0.3, n / 3, 3, 4},
	} {
		both := int(c.share * float64(min(n, c.n2)))
		confidences := []float64{0.7, 0.95}
		var merged, own [2]tally
		for trial := range trials {
			k1, k2 := pair(uint64(trial)<<8+uint64(c.n2)+uint64(100*c.share), n, c.n2, both)
			a, b := known(t, k1, Shape{}, c.parts1), known(t, k2, Shape{}, c.parts2)
			for i, confidence := range confidences {
				o, err := EstimateOverlap(a, b, confidence)
				if err != nil {
					t.Fatal(err)
				}
				merged[i].add(o.Intersection, float64(both))
				if o, err = EstimateOwnOverlap(k1, b, confidence); err != nil {
					t.Fatal(err)
				}
				own[i].add(o.Intersection, float64(both))
			}
		}
		for i, confidence := range confidences {
			slack := 0.03 // at 0.95, over 1,000 trials
			if confidence < 0.95 || trials < 1000 {
				slack += 2 * math.Sqrt(confidence*(1-confidence)/float64(trials))
			}
			for name, got := range map[string]tally{"merged": merged[i], "own": own[i]} {
				t.Logf("%v: %s %.3f at %v, mean error %.1f of %d", c, name, got.coverage(), confidence, got.errors/float64(trials), both)
				if confidence < 0.95 && got.errors < 5*float64(trials) {
					continue // the number of false matches is so small that intervals can only be too long or too short
				}
				if math.Abs(got.coverage()-confidence) > slack {
					t.Errorf("%v: %s intervals of confidence %v hold the truth in %.3f of %d trials", c, name, confidence, got.coverage(), trials)
				}
			}
		}
	}
}

// known is what the first parts of a collection's stream say, without the bytes that say it.
func known(t testing.TB, keys []Fingerprint, s Shape, parts int) *Prefix {
	t.Helper()
	h := testHeader(s.normal(len(keys)))
	h.N = len(keys)
	plan := must(h.plan())
	var tries []*trie.Block
	for block := range plan.blocks {
		positions := make([]uint64, len(keys))
		for i, f := range keys {
			positions[i] = position(f, block)
		}
		slices.Sort(positions)
		if len(plan.knowledge(block, parts)) > 0 {
			tries = append(tries, newTrie(plan, parts, block, positions))
		}
	}
	return newPrefix(h, plan, nil, nil, tries)
}

// TestOverlapSample is what a part 0 of 1 KiB says of 100,000 keys.
func TestOverlapSample(t *testing.T) {
	trials := max(20, *trials/5)
	const n, both = 100_000, 10_000
	var sum tally
	shape := DefaultShape(n)
	shape.SampleBytes = 1 << 10
	for trial := range trials {
		k1, k2 := pair(uint64(trial), n, n, both)
		o := must(EstimateOverlap(known(t, k1, shape, 1), known(t, k2, shape, 1), 0.95))
		sum.add(o.Intersection, both)
	}
	mean := sum.errors / both / float64(trials)
	t.Logf("mean relative error %.4f over %d trials", mean, trials)
	if mean > 0.10 {
		t.Errorf("mean relative error %.4f, at most 0.10", mean)
	}
}

// TestOverlapShapes checks pairs of different shapes against the truth, within five deviations.
func TestOverlapShapes(t *testing.T) {
	shapes := []Shape{{}, {Levels: []uint8{14, 15, 16}}, {Levels: []uint8{20}}, {SampleBytes: 200, SampleLevel: 20, Levels: []uint8{15, 13}}}
	const n1, n2, both = 8000, 20000, 3000
	k1, k2 := pair(1, n1, n2, both)
	for i, s1 := range shapes {
		for j, s2 := range shapes {
			a, b := mustBuild(t, k1, s1), mustBuild(t, k2, s2)
			o := must(EstimateOverlap(a, b, 0.999999))
			t.Logf("%d %d: %v %s", i, j, o.Intersection, o.Method)
			if o.Intersection.Low > both || o.Intersection.High < both {
				t.Errorf("shapes %d and %d: %v does not hold %d", i, j, o.Intersection, both)
			}
			back, _ := EstimateOverlap(b, a, 0.999999)
			if math.Abs(back.Intersection.Value-o.Intersection.Value) > 1e-6*both {
				t.Errorf("shapes %d and %d: %v the other way round %v", i, j, o.Intersection, back.Intersection)
			}
		}
	}
}

func TestOverlapEdges(t *testing.T) {
	k, _ := pair(1, 5000, 0, 0)
	full := mustBuild(t, k, Shape{})
	none := full.Truncate(0)
	empty := mustBuild(t, nil, Shape{})
	dense := mustBuild(t, k, Shape{Levels: []uint8{4}})
	for _, c := range []struct {
		a, b      *Prefix
		value     float64
		saturated bool
	}{
		{full, full, 5000, false},
		{full, none, math.Inf(1), true},
		{none, none, math.Inf(1), true},
		{full, empty, 0, false},
		{none, empty, 0, false},
		{empty, empty, 0, false},
		{dense, full, math.Inf(1), true},
	} {
		o := must(EstimateOverlap(c.a, c.b, 0.95))
		if got := o.Intersection; got.Saturated != c.saturated || math.Abs(got.Value-c.value) > 0.01*c.value && !c.saturated {
			t.Errorf("%s: %+v, not %v", o.Method, got, c.value)
		}
		if got := fmt.Sprint(o.Jaccard, o.Containment); got == "NaN NaN" {
			t.Errorf("%s: %s", o.Method, got)
		}
	}
	if o, err := EstimateOwnOverlap(k, dense, 0.9); err != nil || !o.Intersection.Saturated {
		t.Errorf("own keys in a full array: %+v, %v", o, err)
	}
	other, _ := Build(k, Header{Origin: "x", Seed: Seed{Network: "other"}.Tag()})
	if _, err := EstimateOverlap(full, other, 0.95); !errors.Is(err, ErrSeed) {
		t.Error(err)
	}
	for _, bad := range []float64{0, 1, -1, math.NaN()} {
		if _, err := EstimateOverlap(full, full, bad); err == nil {
			t.Errorf("confidence %v accepted", bad)
		}
	}
}
