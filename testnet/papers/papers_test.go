package papers

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/summary/bloom"
)

// vector is a number from a paper, or computed from its formulas, with where it stands and how near we must come.
type vector struct {
	Name       string             `json:"name"`
	Source     string             `json:"source"`
	Inputs     map[string]any     `json:"inputs"`
	Expected   json.RawMessage    `json:"expected"`
	Tolerance  map[string]float64 `json:"tolerance"`
	Oracle     float64            `json:"oracle"`
	Reproduces *bool              `json:"reproduces"` // false: misprinted; the oracle is right
}

func readVectors(t *testing.T, subject string) []vector {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "summary", "bloom", "testdata", "vectors", subject+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Vectors
}

func (v vector) num(name string) float64 { x, _ := v.Inputs[name].(float64); return x }
func (v vector) int(name string) int     { return int(v.num(name)) }
func (v vector) str(name string) string  { x, _ := v.Inputs[name].(string); return x }

// fields are the expected numbers by name; a single number has the name "".
func (v vector) fields(t *testing.T) map[string]float64 {
	t.Helper()
	var one float64
	if json.Unmarshal(v.Expected, &one) == nil {
		return map[string]float64{"": one}
	}
	var many map[string]float64
	if err := json.Unmarshal(v.Expected, &many); err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	return many
}

// near is the one comparison: got must be within the vector's tolerance of the expected number. Where the paper
// misprints, it must be outside of that and within the tolerance of the right number.
func (v vector) near(t *testing.T, field string, got float64) {
	t.Helper()
	want, ok := v.fields(t)[field]
	if !ok {
		t.Fatalf("%s has no %q", v.Name, field)
	}
	if v.Reproduces != nil && !*v.Reproduces {
		if v.within(got, want) {
			t.Errorf("%s: %v agrees with the misprint %v", v.Name, got, want)
		}
		want = v.Oracle
	}
	if !v.within(got, want) {
		t.Errorf("%s (%s): %s %v, want %v ± %v", v.Name, v.Source, field, got, want, v.Tolerance)
	}
}

func (v vector) within(got, want float64) bool {
	tolerance := v.Tolerance["abs"] + v.Tolerance["rel"]*math.Abs(want)
	return math.Abs(got-want) <= tolerance*(1+1e-12)
}

func TestVectorsDelta(t *testing.T) {
	for _, v := range readVectors(t, "delta") {
		c, k, change := v.num("m_over_n"), v.num("k"), v.num("change_fraction")
		switch {
		case strings.HasPrefix(v.Name, "optimise"): // no experiment prints it
		case strings.HasSuffix(v.Name, "_f"):
			v.near(t, "", AsymptoticRate(c, k))
		case strings.HasSuffix(v.Name, "_z"):
			v.near(t, "", DeltaBitsPerKey(c, k, change))
		case strings.HasPrefix(v.Name, "computed_"):
			z := DeltaBitsPerKey(c, k, change)
			v.near(t, "q", DeltaFill(c, k, change))
			v.near(t, "z_over_n", z)
			v.near(t, "z_over_cn", z/change)
		case strings.HasPrefix(v.Name, "theory_bytes"):
			n := v.num("n")
			v.near(t, "", DeltaBitsPerKey(v.num("m")/n, k, change)*n/8)
		case strings.HasPrefix(v.Name, "sim_avg"): // package bloom measures it
		default:
			t.Errorf("%s: no test", v.Name)
		}
	}
}

func TestVectorsOthers(t *testing.T) {
	seen := map[string]int{}
	for _, v := range readVectors(t, "compressed") {
		if strings.HasPrefix(v.Name, "beta") {
			seen["beta"]++
			v.near(t, "", CompressedBase(v.num("p")))
		}
	}
	for _, v := range readVectors(t, "dbbf") {
		if strings.HasPrefix(v.Name, "eq2_") {
			seen["eq2"]++
			p := bloom.DynamicParams{
				Batch:     bloom.Params{Blocks: v.int("mu_full"), BlockBits: uint64(v.num("block_bits")), Hashes: 1},
				Threshold: v.int("n_thres"),
			}
			p.Batch.Blocks = int(v.fields(t)["mu_reduced"])
			v.near(t, "union_bound", DynamicRateBound(p, v.int("n")))
		}
	}
	if len(seen) != 2 {
		t.Errorf("only %v checked", seen)
	}
}

// filter is what both kinds of filter can do.
type filter interface {
	AddHash(bloom.Hash)
	ContainsHash(bloom.Hash) bool
}

// schemed is a Filter as a filter.
type schemed struct{ *Filter }

func (s schemed) AddHash(h bloom.Hash)           { s.Add(h) }
func (s schemed) ContainsHash(h bloom.Hash) bool { return s.Contains(h) }

// measuredRate fills filters with random hashes and asks for others: hashing keys first would only cost time.
func measuredRate(empty func() filter, n, trials, queries int, seed uint64) float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	hits := 0
	for range trials {
		f := empty()
		for range n {
			f.AddHash(bloom.Hash{A: r.Uint64(), B: r.Uint64()})
		}
		for range queries {
			if f.ContainsHash(bloom.Hash{A: r.Uint64(), B: r.Uint64()}) {
				hits++
			}
		}
	}
	return float64(hits) / float64(trials) / float64(queries)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestVectorsHashing(t *testing.T) {
	schemeOf := map[string]Scheme{"partition_dh": Double, "double": Double, "enhanced_i2": EnhancedSquare}
	for _, v := range readVectors(t, "hashing") {
		n := v.int("n")
		switch {
		case v.Inputs["blocks"] != nil:
			p := bloom.Params{Blocks: v.int("blocks"), BlockBits: uint64(v.num("block_bits")), Hashes: 1}
			v.near(t, "independent", p.ExpectedRate(n))
		case v.Inputs["scheme"] == nil:
			v.near(t, "", AsymptoticRate(v.num("m")/v.num("n"), v.num("k")))
		default:
			if testing.Short() {
				continue
			}
			p := bloom.Params{Blocks: 1, BlockBits: uint64(v.num("m")), Hashes: v.int("k")}
			if v.str("scheme") == "partition_dh" {
				p.Blocks, p.BlockBits, p.Hashes = p.Hashes, p.BlockBits/uint64(p.Hashes), 1
			}
			// Filters of few keys differ more among themselves. Standard errors are 5e-5 and 8e-6.
			trials, queries := 1_000_000/n, max(10_000, 8*n)
			empty := func() filter { return schemed{NewFilter(schemeOf[v.str("scheme")], p)} }
			if v.str("scheme") == "standard" {
				empty = func() filter { return must(bloom.New(p)) }
			}
			v.near(t, "", measuredRate(empty, n, trials, queries, 5))
		}
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
