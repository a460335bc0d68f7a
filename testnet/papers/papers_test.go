package papers

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/summary/estimate"
)

// vector is a number from a paper, or computed from its formulas, with where it stands and how near we must come.
type vector struct {
	Name       string             `json:"name"`
	Source     string             `json:"source"`
	Inputs     map[string]any     `json:"inputs"`
	Expected   json.RawMessage    `json:"expected"`
	Tolerance  map[string]float64 `json:"tolerance"`
	Oracle     json.RawMessage    `json:"oracle"`
	Reproduces *bool              `json:"reproduces"` // false: misprinted; the oracle is right
}

// readVectors reads a file, below the repository's folder.
func readVectors(t *testing.T, path string) []vector {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", path))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Vectors
}

// bloomVectors are those of package bloom.
const bloomVectors = "summary/bloom/testdata/vectors/"

func (v vector) num(name string) float64 { x, _ := v.Inputs[name].(float64); return x }
func (v vector) int(name string) int     { return int(v.num(name)) }
func (v vector) str(name string) string  { x, _ := v.Inputs[name].(string); return x }

// numbers reads a number, or several.
func numbers(t *testing.T, raw json.RawMessage) (all []float64) {
	t.Helper()
	var one float64
	if json.Unmarshal(raw, &one) == nil {
		return []float64{one}
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatalf("cannot read %s", raw)
	}
	return all
}

// near holds numbers to the expected ones, all of them within the vector's tolerance. Where the paper misprints, they
// must be outside of that, and within the tolerance of the right numbers.
func (v vector) near(t *testing.T, got ...float64) {
	t.Helper()
	want := numbers(t, v.Expected)
	if v.Reproduces != nil && !*v.Reproduces {
		if v.within(got, want) {
			t.Errorf("%s: %v agrees with the misprint %v", v.Name, got, want)
		}
		want = numbers(t, v.Oracle)
	}
	if !v.within(got, want) {
		t.Errorf("%s (%s): %v, want %v ± %v", v.Name, v.Source, got, want, v.Tolerance)
	}
}

// field returns the vector of one of several expected numbers, which have names.
func (v vector) field(t *testing.T, name string) vector {
	t.Helper()
	var many map[string]json.RawMessage
	if err := json.Unmarshal(v.Expected, &many); err != nil || many[name] == nil {
		t.Fatalf("%s has no %q: %v", v.Name, name, err)
	}
	v.Expected = many[name]
	return v
}

func (v vector) within(got, want []float64) bool {
	for i, x := range want {
		tolerance := v.Tolerance["abs"] + v.Tolerance["rel"]*math.Abs(x)
		if math.Abs(got[i]-x) > tolerance*(1+1e-12) {
			return false
		}
	}
	return len(got) == len(want)
}

func TestVectorsDelta(t *testing.T) {
	for _, v := range readVectors(t, bloomVectors+"delta.json") {
		c, k, change := v.num("m_over_n"), v.num("k"), v.num("change_fraction")
		switch {
		case strings.HasPrefix(v.Name, "optimise"): // no experiment prints it
		case strings.HasSuffix(v.Name, "_f"):
			v.near(t, AsymptoticRate(c, k))
		case strings.HasSuffix(v.Name, "_z"):
			v.near(t, DeltaBitsPerKey(c, k, change))
		case strings.HasPrefix(v.Name, "computed_"):
			z := DeltaBitsPerKey(c, k, change)
			v.field(t, "q").near(t, DeltaFill(c, k, change))
			v.field(t, "z_over_n").near(t, z)
			v.field(t, "z_over_cn").near(t, z/change)
		case strings.HasPrefix(v.Name, "theory_bytes"):
			n := v.num("n")
			v.near(t, DeltaBitsPerKey(v.num("m")/n, k, change)*n/8)
		case strings.HasPrefix(v.Name, "sim_avg"): // package bloom measures it
		default:
			t.Errorf("%s: no test", v.Name)
		}
	}
}

func TestVectorsOthers(t *testing.T) {
	seen := map[string]int{}
	for _, v := range readVectors(t, bloomVectors+"compressed.json") {
		if strings.HasPrefix(v.Name, "beta") {
			seen["beta"]++
			v.near(t, CompressedBase(v.num("p")))
		}
	}
	for _, v := range readVectors(t, bloomVectors+"dbbf.json") {
		if strings.HasPrefix(v.Name, "eq2_") {
			seen["eq2"]++
			p := bloom.DynamicParams{
				Batch:     bloom.Params{Blocks: v.int("mu_full"), BlockBits: uint64(v.num("block_bits")), Hashes: 1},
				Threshold: v.int("n_thres"),
			}
			p.Batch.Blocks = int(numbers(t, v.field(t, "mu_reduced").Expected)[0])
			v.field(t, "union_bound").near(t, DynamicRateBound(p, v.int("n")))
		}
	}
	if len(seen) != 2 {
		t.Errorf("only %v checked", seen)
	}
}

func TestFluidLimit(t *testing.T) {
	limits, checked := map[float64][]float64{}, 0 // by load
	for _, v := range readVectors(t, "summary/counting/testdata/dlcbf.json") {
		load, at := v.num("load"), v.Inputs["tail"] != nil
		if load == 0 || !at || strings.HasPrefix(v.Name, "T1_sim") || strings.HasPrefix(v.str("state"), "insertion") {
			continue
		}
		if limits[load] == nil {
			limits[load] = FluidLimit(4, 9, load)
		}
		v.near(t, limits[load][v.int("tail")])
		checked++
	}
	if checked < 10 {
		t.Errorf("only %d vectors checked", checked)
	}
}

// TestIntervals holds the bounds of the tables to the closed forms.
func TestIntervals(t *testing.T) {
	checked := 0
	const of = "summary/estimate/testdata/"
	for _, v := range append(readVectors(t, of+"cardinality.json"), readVectors(t, of+"intersection.json")...) {
		a := Array{estimate.Array{
			Bits: uint64(max(v.int("m"), v.int("block_bits"))), Blocks: v.int("blocks"),
			Hashes: max(v.int("k"), v.int("k_b")), Sample: uint64(v.int("slice_bits")),
		}}
		var i Interval
		switch confidence := v.num("confidence"); {
		case strings.HasPrefix(v.Name, "T3_bounds") || strings.HasPrefix(v.Name, "T6_bounds"):
			ones := v.num("t") + v.num("t_total")
			if ones == 0 {
				ones = math.Trunc(a.ExpectedOnes(v.num("n")))
			}
			i = a.CardinalityPrinted(ones, confidence)
		case strings.Contains(v.Name, "_bounds"):
			counts := estimate.Counts{First: v.int("t1"), Second: v.int("t2"), Both: v.int("t_and")}
			i = a.IntersectionPrinted(counts, confidence)
		default:
			continue // package estimate has it, or no table prints it
		}
		checked++
		v.near(t, i.Low, i.High)
		if v.Oracle != nil { // our own independent computation of the same numbers, also where the paper misprints
			v.Expected, v.Reproduces, v.Tolerance = v.Oracle, nil, map[string]float64{"abs": 1e-6, "rel": 1e-6}
			v.near(t, i.Low, i.High)
		}
	}
	if checked < 10 {
		t.Errorf("only %d vectors checked", checked)
	}
}

// TestCountMinVectors: parameters and bounds are those of Theorem 9.1.
func TestCountMinVectors(t *testing.T) {
	for _, v := range readVectors(t, "testnet/papers/testdata/countmin.json") {
		eps := v.num("eps")
		switch kind, _, _ := strings.Cut(v.Name, "_"); kind {
		case "params":
			p := CountMinFor(eps, eps)
			v.field(t, "w").near(t, float64(p.Width))
			v.field(t, "d").near(t, float64(p.Depth))
			if v.field(t, "bound").near(t, CountMinExceeds(p, eps)); p.Copies != 1 {
				t.Errorf("%s: %+v", v.Name, p)
			}
		case "classic": // the sketch with one hash function a row: no experiment has it
		case "bound":
			v.near(t, CountMinExceeds(CountMinParams{Width: v.int("w"), Depth: v.int("d"), Copies: 1}, eps))
		case "hashes":
			v.near(t, float64(2*CountMinFor(eps, v.num("delta")).Copies))
		default:
			t.Errorf("nothing checks %s", v.Name)
		}
	}
}

func TestVectorsHashing(t *testing.T) {
	for _, v := range readVectors(t, bloomVectors+"hashing.json") {
		if v.Inputs["blocks"] == nil {
			v.near(t, AsymptoticRate(v.num("m")/v.num("n"), v.num("k")))
			continue
		}
		p := bloom.Params{Blocks: v.int("blocks"), BlockBits: uint64(v.num("block_bits")), Hashes: 1}
		v.field(t, "independent").near(t, p.ExpectedRate(v.int("n")))
	}
}

// TestSchemePositions holds the positions by finite differences to the formulas.
func TestSchemePositions(t *testing.T) {
	const m = 1009
	h := bloom.Hash{A: 123_456_789_012, B: 987_654_321_098}
	h1, h2 := h.A%m, h.B%m
	for s, position := range map[Scheme]func(i uint64) uint64{
		Double:         func(i uint64) uint64 { return h1 + i*h2 },
		EnhancedSquare: func(i uint64) uint64 { return h1 + i*h2 + i*i },
		EnhancedCube:   func(i uint64) uint64 { return h1 + i*h2 + i*i*i },
	} {
		p := newProgression(s, h, m)
		for i := range uint64(100) {
			if got, want := p.next(), position(i)%m; got != want {
				t.Fatalf("scheme %d, hash function %d: %d, want %d", s, i, got, want)
			}
		}
	}
}
