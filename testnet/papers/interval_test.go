package papers

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/summary/estimate"
)

// interval is one checked number; testdata says where each comes from.
type interval struct {
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
	TAnd                    int `json:"t_and"`
	TTotal                  int `json:"t_total"`
	Confidence, Alpha       float64
	Rule, Quantity, Formula string
}

func (in inputs) array() Array {
	return Array{estimate.Array{Bits: uint64(max(in.M, in.BlockBits)), Blocks: in.Blocks, Hashes: max(in.K, in.KB), Sample: uint64(in.SliceBits)}}
}

func (in inputs) counts() estimate.Counts {
	return estimate.Counts{First: in.T1, Second: in.T2, Both: in.TAnd}
}

// compute returns what this package says for a vector, by the first matching name.
func compute(v interval) []float64 {
	in, a := v.Inputs, v.Inputs.array()
	pair := func(i Interval) []float64 { return []float64{i.Low, i.High} }
	is := func(prefix string) bool { return strings.HasPrefix(v.Name, prefix) }
	has := func(part string) bool { return strings.Contains(v.Name, part) }
	switch {
	case is("T3_bounds"):
		if in.T == 0 {
			in.T = int(a.ExpectedOnes(in.N))
		}
		return pair(a.CardinalityPrinted(float64(in.T), in.Confidence))
	case is("T6_bounds"):
		return pair(a.CardinalityPrinted(float64(in.TTotal), in.Confidence))
	case has("_bounds"):
		return pair(a.IntersectionPrinted(in.counts(), in.Confidence))
	}
	return nil // package estimate has it, or no table prints it
}

// expected decodes a number, a pair, or the triple of theorem 3.
func expected(t *testing.T, raw json.RawMessage) []float64 {
	t.Helper()
	var one float64
	var many []float64
	switch {
	case json.Unmarshal(raw, &one) == nil:
		return []float64{one}
	case json.Unmarshal(raw, &many) == nil:
		return many
	}
	t.Fatalf("cannot read %s", raw)
	return nil
}

func allWithin(got, want []float64, abs, rel float64) bool {
	for i := range want {
		if math.Abs(got[i]-want[i]) > abs+rel*math.Abs(want[i]) {
			return false
		}
	}
	return len(got) == len(want)
}

func TestIntervals(t *testing.T) {
	for _, file := range []string{"cardinality", "intersection"} {
		data, err := os.ReadFile("../../summary/estimate/testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var all struct{ Vectors []interval }
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
		checked := 0
		for _, v := range all.Vectors {
			got := compute(v)
			if got == nil {
				continue
			}
			checked++
			want := expected(t, v.Expected)
			agrees := allWithin(got, want, v.Tolerance.Abs, v.Tolerance.Rel)
			if misprint := v.Reproduces != nil && !*v.Reproduces; agrees == misprint {
				t.Errorf("%s (%s): got %v, want %v (misprint: %v %s)", v.Name, v.Source, got, want, misprint, v.Note)
			}
			if v.Oracle != nil { // our own independent computation of the same number, also where the paper misprints
				if oracle := expected(t, v.Oracle); !allWithin(got, oracle, 1e-6, 1e-6) {
					t.Errorf("%s: got %v, oracle %v", v.Name, got, oracle)
				}
			}
		}
		if checked == 0 {
			t.Errorf("%s: no vector checked", file)
		}
	}
}

// TestTailInverted compares the closed form with what it inverts, by bisection.
func TestTailInverted(t *testing.T) {
	for _, count := range []float64{2, 3, 10, 1000, 1e6, 1e9} {
		for _, alpha := range []float64{0.5, 0.15, 0.025, 1e-6, 1e-12} {
			tail := -math.Log(alpha)
			high := bisect(count+1, 100*count+1000, func(s float64) bool { return highTail(count, s) <= alpha })
			if got := moreOnes(count, tail); math.Abs(got-high) > 1e-6*high {
				t.Errorf("more than %v at %v: %v, bisected %v", count, alpha, got, high)
			}
		}
	}
}
