package experiment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/runs"
)

func collectionValue(t *testing.T, r Result, name, by, quantity string, bytes int) float64 {
	t.Helper()
	for _, x := range r.Rows.(CollectionRows) {
		if x.Case == name && x.By == by && x.Quantity == quantity && (bytes == 0 || x.Bytes == bytes) {
			return x.Value
		}
	}
	t.Fatalf("no row %s %s %s %d", name, by, quantity, bytes)
	return 0
}

// TestNeighbours holds the policies to what the documentation of package rank says of them.
func TestNeighbours(t *testing.T) {
	r, err := Run(t.Context(), []string{Neighbours}, Options{Trials: 2})
	if err != nil {
		t.Fatal(err)
	}
	value := func(policy, quantity string) float64 { return collectionValue(t, r, policy, "sample", quantity, 0) }
	const withheld, lacked = "withheld keys answered", "lacked keys answered"
	if s, random := value("similar", withheld), value("random", withheld); s < 2*random {
		t.Errorf("similar neighbours answer %.3f of withheld keys, random ones %.3f: want twice as many", s, random)
	}
	if c, random := value("complementary", lacked), value("random", lacked); c < 2*random {
		t.Errorf("complementary neighbours answer %.3f of lacked keys, random ones %.3f: want twice as many", c, random)
	}
	if m := value("mixed", "pairs connected"); m < 1 {
		t.Errorf("with the mixed policy %.3f of the pairs are connected", m)
	}
}

func TestOverlapsAndBudget(t *testing.T) {
	out := t.TempDir()
	r, err := Run(t.Context(), []string{Overlaps}, Options{Trials: 1, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "CASE") || !strings.HasSuffix(text.String(), "report.html\n") {
		t.Errorf("%v: %s", err, text.String())
	}
	const quantity = "error, share of the smaller collection"
	for _, bytes := range []int{1024, 4096} {
		ours := collectionValue(t, r, "venn", "", quantity, bytes)
		for _, other := range []string{"theta", "HyperLogLog"} {
			if theirs := collectionValue(t, r, other, "", quantity, bytes); ours > theirs {
				t.Errorf("%d bytes: error %.4f, %s has %.4f", bytes, ours, other, theirs)
			}
		}
	}
	for _, f := range r.Files {
		if s, err := os.Stat(f); err != nil || s.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	r, err = Run(t.Context(), []string{Budget}, Options{Trials: 1})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Run(t.Context(), []string{Budget}, Options{Trials: 1})
	if err != nil || !reflect.DeepEqual(r, again) {
		t.Errorf("the same seed gave other rows (%v)", err)
	}
	last := map[string]CollectionRow{}
	for _, x := range r.Rows.(CollectionRows) {
		last[x.Quantity] = x // the largest budget
	}
	if v := last["recall"].Value; v != 1 {
		t.Errorf("recall %.4f with all summaries in full", v)
	}
	if v := last["wasted probes per query"].Value; v > 0.2 {
		t.Errorf("%.3f wasted probes with all summaries in full", v)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Trials: -1}, {Peers: 1}, {Peers: -3}, {Peers: 2}, {Sweep: "share="}, {Sweep: "slots=8"}, {Sweep: "share=2"}, {Sweep: "bytes=many"},
	} {
		o.Progress = func(what string, _ float64) { t.Errorf("%s began", what) }
		if _, err := Run(t.Context(), []string{Budget}, o); !errors.Is(err, runs.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Run(ctx, []string{Budget}, Options{}); !errors.Is(err, context.Canceled) || r.Rows.Len() > 0 {
		t.Errorf("cancelled: %d rows, %v", r.Rows.Len(), err)
	}
}

// An experiment goes on with the data it began with. What was found with another table or folder of the same name is
// not its own.
func TestDataChanges(t *testing.T) {
	data, out := t.TempDir(), t.TempDir()
	write := func(name, keys string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(data, name), []byte(keys), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, peer := range []string{"a", "b", "c"} {
		write(peer, "common\nthe key of "+peer+"\n")
	}
	for _, step := range []struct {
		name, keys string // what is written
		runs       int
	}{
		{"d", "common\nthe key of d\n", 1},
		{".hidden", "nobody's", 0},
		{"d", "common\nthe key of e\n", 1}, // as long
	} {
		write(step.name, step.keys)
		collection := 0
		_, err := Run(t.Context(), []string{Neighbours}, Options{Data: data, Trials: 1, Out: out, Progress: func(string, float64) {
			collection++
		}})
		if err != nil {
			t.Fatal(err)
		}
		if collection != step.runs {
			t.Errorf("%s: %q: %d runs, want %d", step.name, step.keys, collection, step.runs)
		}
	}
}

// ± is the half of the 95 % interval, as in all tables of experiments.
func TestCollectionInterval(t *testing.T) {
	of := func(x float64) *found { return &found{Measures: []Measure{{Case: "a", Quantity: "q", Value: x}}} }
	c := collectionTrials{settings: make([]collectionSetting, 3)}
	c.rows([]*found{of(1), of(2), of(3)})
	if cells := collectionTable(c.found).Rows[0]; cells[1] != "2.000 ± 2.5" {
		t.Errorf("%v", cells)
	}
}

// What is compared with sketches of a number of bytes has no more of them, its header included.
func TestCutFits(t *testing.T) {
	all, err := loadCollections(debian, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []int{256, 512, 1024, 1100, 4096} {
		run := collectionRun{collections: all, collectionSetting: collectionSetting{Bytes: bytes}}
		for i := range all.fps {
			p := run.cut(i)
			header, err := p.Header().AppendBinary(nil)
			if err != nil || p.Parts() < 1 || len(header)+p.EncodedBytes() > bytes {
				t.Errorf("peer %d: %d bytes of header and %d of %d parts, want %d at most, %v", i, len(header), p.EncodedBytes(), p.Parts(), bytes, err)
			}
		}
	}
}

// The sketches beside ours work as their papers say.
func TestSketches(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, common, bytes = 30000, 10000, 4096
	fps := randomFingerprints(rng, 2*n-common)
	a, b := sketch(fps[:n], bytes, 7), sketch(fps[n-common:], bytes, 7)
	if v := theta(a.lowest, b.lowest); math.Abs(v-common) > 0.25*common {
		t.Errorf("theta says %.0f of %d", v, common)
	}
	if v := minHash(a.buckets, b.buckets, n, n); math.Abs(v-common) > 0.15*common {
		t.Errorf("MinHash says %.0f of %d", v, common)
	}
	if v := hyperLogLog(a.registers, b.registers); math.Abs(v-(2*n-common)) > 0.1*n {
		t.Errorf("HyperLogLog says a union of %.0f, it is %d", v, 2*n-common)
	}
}

func randomFingerprints(rng *rand.Rand, n int) []summary.Fingerprint {
	out := make([]summary.Fingerprint, n)
	for i := range out {
		out[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	return out
}
