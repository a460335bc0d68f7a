package experiment

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/venn-p2p/venn/testnet/runs"
)

// Parts of an experiment are the whole.
func TestParts(t *testing.T) {
	names := []string{"countmin", "delta"}
	papers, err := Run(t.Context(), names, Options{Trials: 5})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rows := 0
	for i := range 2 {
		r, err := Run(t.Context(), names, Options{Trials: 5, Out: dir, Work: runs.Work{Part: runs.Part{I: i, Of: 2}, Jobs: 1}})
		if err != nil || len(r.Files) > 0 {
			t.Fatalf("%v, %v", r.Files, err)
		}
		if i == 0 {
			rows = len(r.Rows)
		}
	}
	if rows == 0 || rows == len(papers.Rows) {
		t.Errorf("the first part has %d of %d rows", rows, len(papers.Rows))
	}
	got, err := Run(t.Context(), names, Options{Trials: 5, Out: dir})
	if err != nil || !reflect.DeepEqual(got.Rows, papers.Rows) || len(got.Files) == 0 {
		t.Errorf("%d files, %v, rows\n%v\n%v", len(got.Files), err, got.Rows, papers.Rows)
	}
	ledgers, err := filepath.Glob(filepath.Join(dir, "papers.runs*"))
	if err != nil || len(ledgers) != 3 {
		t.Fatal(ledgers, err)
	}
	for _, l := range ledgers {
		if b, err := os.ReadFile(l); err != nil || (len(b) == 0) != (filepath.Base(l) == "papers.runs.jsonl") {
			t.Errorf("%s has %d bytes, %v", l, len(b), err)
		}
	}
}
