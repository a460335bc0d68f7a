package main

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"testing"
)

func TestMergeArea(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var out bytes.Buffer
	if code := run([]string{"merge", "--json"}, &out, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	var report struct{ Rows []Row }
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Rows) != 2 {
		t.Fatalf("rows %+v", report.Rows)
	}
	for _, r := range report.Rows {
		if r.Area != "merge" || !(r.Ratio > 0) || r.Ours <= 0 || r.OK != (r.Ratio >= r.Target) {
			t.Errorf("%+v", r)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"nonsense"}, {"--nonsense"}} {
		if code := run(args, io.Discard, io.Discard); code != 2 {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}
