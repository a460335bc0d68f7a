package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestSizes holds the table to what it is for: no structure is over its bytes, and the advice is not contradicted.
func TestSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var out, errs bytes.Buffer
	if code := run([]string{"sizes", "--json"}, &out, &errs); code != 0 {
		t.Fatal(code, errs.String())
	}
	var rows []Sized
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	rates, errors := map[string]float64{}, map[string]float64{}
	for _, r := range rows {
		if r.Bytes > sizesBytes+64 || r.Rate == 0 && r.Error == 0 || r.Advice == "" {
			t.Errorf("%+v", r)
		}
		rates[r.Structure], errors[r.Structure] = r.Rate, r.Error
	}
	if rates["venn/summary, prefix of a stream"] > rates["bits-and-blooms/bloom"]/3 {
		t.Errorf("rates %v", rates)
	}
	ours, measured := errors["venn/summary, a stream cut short"]
	if !measured || ours > errors["apache/datasketches-go theta"] {
		t.Errorf("errors %v", errors)
	}
}
