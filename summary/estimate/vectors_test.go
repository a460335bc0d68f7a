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
	Expected   json.RawMessage
	Tolerance  struct{ Abs, Rel float64 }
	Oracle     json.RawMessage
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

// compute returns what this package says for a vector, by the first matching name.
func compute(t *testing.T, v vector) []float64 {
	t.Helper()
	in, a := v.Inputs, v.Inputs.array()
	is := func(prefix string) bool { return strings.HasPrefix(v.Name, prefix) }
	has := func(part string) bool { return strings.Contains(v.Name, part) }
	switch {
	case has("_bounds"), is("thm"): // package papers has them
		return nil
	case is("T3_density"):
		return []float64{a.expectedOnes(in.N) / float64(in.M)}
	case is("T3_avgrelerr"):
		return []float64{math.Sqrt(2/math.Pi) * a.cardinalityDeviation(in.N) / in.N}
	case is("Sinv_"):
		return []float64{a.elements(float64(in.T))}
	case is("S_n"):
		return []float64{a.expectedOnes(in.N)}
	case is("delta_sd"):
		return []float64{math.Sqrt(a.variances().Covariance(a.loadOf(float64(in.T))))}
	case is("saturated"):
		i, err := a.EstimateCardinality(in.M, 1-in.Alpha)
		if err != nil || !i.Saturated || !math.IsInf(i.Value, 1) || !math.IsInf(i.High, 1) {
			t.Errorf("%s: %+v, %v", v.Name, i, err)
		}
		return []float64{i.Low}
	case has("_density"):
		t1, t2 := a.expectedOnes(in.N1), a.expectedOnes(in.N2)
		return []float64{bothOnes(a, t1, t2, in.N12) / float64(in.M)}
	case has("_rbits"):
		t1, t2 := a.expectedOnes(in.N1), a.expectedOnes(in.N2)
		return []float64{1 - a.expectedOnes(in.N12)/bothOnes(a, t1, t2, in.N12)}
	case is("T45_avgrelerr"):
		return []float64{math.Sqrt(2/math.Pi) * a.intersectionDeviation(in.N1, in.N2, in.N12) / in.N12}
	case is("T45_std"):
		return []float64{math.Sqrt(1-2/math.Pi) * a.intersectionDeviation(in.N1, in.N2, in.N12) / in.N12}
	case is("sigma_known"):
		v := a.variances()
		_, _, left := v.Control(variance.Loads{First: v.Load(in.N1), Second: v.Load(in.N2), Both: v.Load(in.N12)})
		return []float64{math.Sqrt(left)}
	case is("sigma_"), is("slice_sigma"):
		return []float64{a.intersectionDeviation(in.N1, in.N2, in.N12)}
	case is("S_and"):
		return []float64{bothOnes(a, float64(in.T1), float64(in.T2), in.N12)}
	case is("estimate_"):
		return []float64{a.common(in.counts())}
	}
	t.Fatalf("%s: no rule for this vector", v.Name)
	return nil
}

// bothOnes is the expected number of ones in the AND of two filters with t1 and t2 ones (Lemma 3). Their sets have n
// elements in common.
func bothOnes(a Array, t1, t2, n float64) float64 {
	s, m := a.expectedOnes(n), a.counted()
	return (t1*t2 + s*(m-t1-t2)) / (m - s)
}

// expected decodes a number, a pair, or the triple of theorem 3.
func expected(t *testing.T, raw json.RawMessage) []float64 {
	t.Helper()
	var one float64
	var many []float64
	var named struct {
		Nhat float64 `json:"nhat"`
		NL   float64 `json:"n_l"`
		NR   float64 `json:"n_r"`
	}
	switch {
	case json.Unmarshal(raw, &one) == nil:
		return []float64{one}
	case json.Unmarshal(raw, &many) == nil:
		return many
	case json.Unmarshal(raw, &named) == nil:
		return []float64{named.Nhat, named.NL, named.NR}
	}
	t.Fatalf("cannot read %s", raw)
	return nil
}

func within(got, want []float64, abs, rel float64) bool {
	for i := range want {
		if math.Abs(got[i]-want[i]) > abs+rel*math.Abs(want[i]) {
			return false
		}
	}
	return len(got) == len(want)
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
			got, want := compute(t, v), expected(t, v.Expected)
			if got == nil {
				continue
			}
			agrees := within(got, want, v.Tolerance.Abs, v.Tolerance.Rel)
			if misprint := v.Reproduces != nil && !*v.Reproduces; agrees == misprint {
				t.Errorf("%s (%s): got %v, want %v (misprint: %v %s)", v.Name, v.Source, got, want, misprint, v.Note)
			}
			if v.Oracle != nil { // our own independent computation of the same number, also where the paper misprints
				if oracle := expected(t, v.Oracle); !within(got, oracle, 1e-6, 1e-6) {
					t.Errorf("%s: got %v, oracle %v", v.Name, got, oracle)
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
