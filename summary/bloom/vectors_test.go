package bloom

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	data := must(os.ReadFile(filepath.Join("testdata", "vectors", subject+".json")))
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

// near is the one comparison: within the vector's tolerance of the expected number. Where the paper misprints it is
// outside of that, and within the tolerance of the right one.
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

func TestVectorsFalsePositives(t *testing.T) {
	for _, v := range readVectors(t, "fp") {
		p := Params{Blocks: 1, BlockBits: uint64(v.num("m")), Hashes: v.int("k")}
		switch {
		case v.str("rule") != "":
			got := must(paramsForBits(v.int("n"), p.BlockBits))
			v.near(t, "", float64(got.Hashes))
		case v.str("fn") == "H2":
			v.near(t, "", entropy(v.num("p")))
		case v.Inputs["t"] != nil:
			f := must(New(p))
			for i := range v.int("t") {
				f.words[i/64] |= 1 << (i % 64)
			}
			v.near(t, "", f.FalsePositiveRate())
		case v.str("form") == "0.5^(c ln2)":
			c := v.num("bits_per_element")
			v.near(t, "", asymptoticRate(c, c*math.Ln2))
		case v.str("form") == "(1-(1-k/m)^n)^k": // a partitioned filter
			p.Blocks, p.BlockBits, p.Hashes = p.Hashes, p.BlockBits/uint64(p.Hashes), 1
			v.near(t, "", p.ExpectedRate(v.int("n")))
		case v.str("form") == "(1-(1-1/m)^(kn))^k":
			v.near(t, "", p.ExpectedRate(v.int("n")))
		case v.Inputs["bits_per_element"] != nil:
			v.near(t, "", asymptoticRate(v.num("bits_per_element"), v.num("k")))
		default:
			v.near(t, "", asymptoticRate(v.num("m")/v.num("n"), v.num("k")))
		}
	}
}

func TestVectorsBlockPartitioned(t *testing.T) {
	for _, v := range readVectors(t, "bbf") {
		n, blockBits := v.int("n"), uint64(v.num("block_bits"))
		switch {
		case strings.HasPrefix(v.Name, "mixed_"):
			continue // blocks of different lengths are package summary's
		case strings.HasPrefix(v.Name, "config_"):
			p := must(partitionedForBits(n, uint64(v.num("m"))))
			v.near(t, "block_bits", float64(p.BlockBits))
			v.near(t, "blocks_real", v.num("m")/float64(p.BlockBits))
			if want := int(v.fields(t)["blocks_real"]); p.Blocks != want {
				t.Errorf("%s: %d blocks, want %d", v.Name, p.Blocks, want)
			}
		case strings.HasPrefix(v.Name, "kb_"): // package papers has it
		case v.Inputs["m"] != nil:
			v.near(t, "", Params{Blocks: 1, BlockBits: uint64(v.num("m")), Hashes: v.int("k")}.ExpectedRate(n))
		default:
			v.near(t, "", Params{Blocks: v.int("blocks"), BlockBits: blockBits, Hashes: v.int("k_b")}.ExpectedRate(n))
		}
	}
}
