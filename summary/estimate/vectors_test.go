package estimate

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/summary/internal/variance"
)

// vector is one checked number; testdata says where each comes from.
type vector struct {
	Name       string
	Source     string
	Kind       string
	Inputs     inputs
	Expected   any // a number; several in what package papers has
	Tolerance  struct{ Abs, Rel float64 }
	Oracle     any
	Reproduces *bool
	Note       string
}

type inputs struct {
	M, K, Blocks            int
	BlockBits               int `json:"block_bits"`
	KB                      int `json:"k_b"`
	SliceBits               int `json:"slice_bits"`
	N, N1, N2, N12          float64
	T, T1, T2               int
	TAnd                    int     `json:"t_and"`
	TTotal                  int     `json:"t_total"`
	NL                      float64 `json:"n_l"`
	NR                      float64 `json:"n_r"`
	Confidence, Alpha       float64
	Rule, Quantity, Formula string
}

func (in inputs) array() Array {
	return Array{Bits: uint64(max(in.M, in.BlockBits)), Blocks: in.Blocks, Hashes: max(in.K, in.KB), Sample: uint64(in.SliceBits)}
}

func (in inputs) counts() Counts { return Counts{in.T1, in.T2, in.TAnd} }

// compute returns what this package says for a vector, by the first matching name; false for what package papers has.
func compute(t *testing.T, v vector) (got float64, known bool) {
	t.Helper()
	in, a := v.Inputs, v.Inputs.array()
	is := func(prefix string) bool { return strings.HasPrefix(v.Name, prefix) }
	has := func(part string) bool { return strings.Contains(v.Name, part) }
	switch {
	case has("_bounds"), is("thm"):
		return 0, false
	case is("T3_density"):
		return a.expectedOnes(in.N) / float64(in.M), true
	case is("T3_avgrelerr"):
		return math.Sqrt(2/math.Pi) * a.cardinalityDeviation(in.N) / in.N, true
	case is("Sinv_"):
		return a.elements(float64(in.T)), true
	case is("S_n"):
		return a.expectedOnes(in.N), true
	case is("delta_sd"):
		return math.Sqrt(a.variances().Covariance(a.loadOf(float64(in.T)))), true
	case is("saturated"):
		i, err := a.EstimateCardinality(in.M, 1-in.Alpha)
		if err != nil || !i.Saturated || !math.IsInf(i.Value, 1) || !math.IsInf(i.High, 1) {
			t.Errorf("%s: %+v, %v", v.Name, i, err)
		}
		return i.Low, true
	case has("_density"):
		t1, t2 := a.expectedOnes(in.N1), a.expectedOnes(in.N2)
		return bothOnes(a, t1, t2, in.N12) / float64(in.M), true
	case has("_rbits"):
		t1, t2 := a.expectedOnes(in.N1), a.expectedOnes(in.N2)
		return 1 - a.expectedOnes(in.N12)/bothOnes(a, t1, t2, in.N12), true
	case is("T45_avgrelerr"):
		return math.Sqrt(2/math.Pi) * a.intersectionDeviation(in.N1, in.N2, in.N12) / in.N12, true
	case is("T45_std"):
		return math.Sqrt(1-2/math.Pi) * a.intersectionDeviation(in.N1, in.N2, in.N12) / in.N12, true
	case is("sigma_known"):
		v := a.variances()
		_, _, left := v.Control(variance.Loads{First: v.Load(in.N1), Second: v.Load(in.N2), Both: v.Load(in.N12)})
		return math.Sqrt(left), true
	case is("sigma_"), is("slice_sigma"):
		return a.intersectionDeviation(in.N1, in.N2, in.N12), true
	case is("S_and"):
		return bothOnes(a, float64(in.T1), float64(in.T2), in.N12), true
	case is("estimate_"):
		return a.common(in.counts()), true
	}
	t.Fatalf("%s: no rule for this vector", v.Name)
	return 0, false
}

// bothOnes is the expected number of ones in the AND of two filters with t1 and t2 ones (Lemma 3). Their sets have n
// elements in common.
func bothOnes(a Array, t1, t2, n float64) float64 {
	s, m := a.expectedOnes(n), a.counted()
	return (t1*t2 + s*(m-t1-t2)) / (m - s)
}

// within reports whether a number is near what a file has in its place.
func within(t *testing.T, got float64, file any, abs, rel float64) bool {
	t.Helper()
	want, ok := file.(float64)
	if !ok {
		t.Fatalf("%v is no number", file)
	}
	return math.Abs(got-want) <= abs+rel*math.Abs(want)
}

func TestVectors(t *testing.T) {
	for _, file := range []string{"cardinality", "intersection"} {
		data, err := os.ReadFile("testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var all struct{ Vectors []vector }
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		for _, v := range all.Vectors {
			got, known := compute(t, v)
			if !known {
				continue
			}
			agrees := within(t, got, v.Expected, v.Tolerance.Abs, v.Tolerance.Rel)
			if misprint := v.Reproduces != nil && !*v.Reproduces; agrees == misprint {
				t.Errorf("%s (%s): got %v, want %v (misprint: %v %s)", v.Name, v.Source, got, v.Expected, misprint, v.Note)
			}
			if v.Oracle != nil { // our own independent computation of the same number, also where the paper misprints
				if !within(t, got, v.Oracle, 1e-6, 1e-6) {
					t.Errorf("%s: got %v, oracle %v", v.Name, got, v.Oracle)
				}
			}
		}
		t.Logf("%s: %d vectors", file, len(all.Vectors))
	}
}

// cardinalityDeviation returns the standard deviation of [Array.EstimateCardinality]'s value for a set of n elements.
func (a Array) cardinalityDeviation(n float64) float64 {
	v := a.variances()
	return math.Sqrt(v.Covariance(v.Load(n)))
}

// intersectionDeviation returns the standard deviation of [Array.EstimateOverlap]'s value for sets of n1 and n2
// elements, n12 of them common.
func (a Array) intersectionDeviation(n1, n2, n12 float64) float64 {
	v := a.variances()
	return math.Sqrt(v.Intersection(variance.Loads{First: v.Load(n1), Second: v.Load(n2), Both: v.Load(n12)}))
}
