package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// truncate FILE BYTES TO copies the beginning of a file.
func truncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: truncate FILE BYTES TO")
	}
	var n int
	_, err := fmt.Sscan(args[1], &n)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ts.ReadFile(args[0])[:n]), 0o666))
}

// venn runs a command line in this process.
func venn(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), append([]string{"venn"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func mustVenn(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := venn(args...)
	if code != exitDone {
		t.Fatalf("venn %q ended with %d: %s", args, code, stderr)
	}
	return stdout
}

// writeKeys makes a file of the keys from first to last.
func writeKeys(t *testing.T, file string, first, last int) string {
	t.Helper()
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, "key %d\n", i)
	}
	noErr(t, os.WriteFile(file, []byte(b.String()), 0o666))
	return file
}

// TestEveryByte changes every byte of a small summary and of a delta: each is refused, and nothing is written.
func TestEveryByte(t *testing.T) {
	t.Chdir(t.TempDir())
	mustVenn(t, "summary", "build", writeKeys(t, "keys", 1, 60), "-o", "old")
	mustVenn(t, "summary", "build", writeKeys(t, "keys", 1, 61), "-o", "new", "--after", "old")
	mustVenn(t, "summary", "delta", "old", "new", "-o", "delta")
	for file, command := range map[string][]string{
		"old":   {"summary", "cut", "--parts", "1", "changed", "-o", "out"},
		"new":   {"summary", "inspect", "changed"},
		"delta": {"summary", "apply", "old", "changed", "-o", "out"},
	} {
		b := must(os.ReadFile(file))
		for i := range b {
			for _, x := range []byte{0x01, 0x80, 0xff} {
				b[i] ^= x
				noErr(t, os.WriteFile("changed", b, 0o666))
				code, stdout, stderr := venn(command...)
				if code != exitFailed || strings.Count(stderr, "\n") != 1 || strings.Contains(stdout, `"valid"`) {
					t.Errorf("%s: byte %d changed by %#x: code %d, %s%s", file, i, x, code, stdout, stderr)
				}
				b[i] ^= x
			}
		}
	}
	if left, _ := filepath.Glob("out*"); len(left) > 0 {
		t.Error("written:", left)
	}
	if left, _ := filepath.Glob(".*"); len(left) > 0 {
		t.Error("left behind:", left)
	}
}

// TestUnsigned: a summary without a valid signature is still described, with the reason.
func TestUnsigned(t *testing.T) {
	t.Chdir(t.TempDir())
	mustVenn(t, "summary", "build", writeKeys(t, "keys", 1, 60), "-o", "file")
	var r inspected
	noErr(t, json.Unmarshal([]byte(mustVenn(t, "summary", "inspect", "file", "--json")), &r))
	b, _ := os.ReadFile("file")
	b[r.Parts[0].Offset-10] ^= 1 // in the signature, with which the signed header ends
	noErr(t, os.WriteFile("file", b, 0o666))
	code, stdout, stderr := venn("summary", "inspect", "file", "--json")
	noErr(t, json.Unmarshal([]byte(stdout), &r))
	if code != exitFailed || r.N != 60 || !strings.Contains(r.Signature, "signature") || !strings.Contains(stderr, r.Signature) {
		t.Errorf("code %d, %+v, %s", code, r, stderr)
	}
}

// TestEveryPrefix: cut after any part, a file verifies, has the size it was said to have, and denies no key.
func TestEveryPrefix(t *testing.T) {
	t.Chdir(t.TempDir())
	mustVenn(t, "summary", "build", writeKeys(t, "keys", 1, 5000), "-o", "whole")
	var whole inspected
	noErr(t, json.Unmarshal([]byte(mustVenn(t, "summary", "inspect", "whole", "--json")), &whole))
	for k, part := range whole.Parts {
		mustVenn(t, "summary", "cut", "whole", "--parts", fmt.Sprint(k+1), "-o", "cut")
		var cut inspected
		noErr(t, json.Unmarshal([]byte(mustVenn(t, "summary", "inspect", "cut", "--json")), &cut))
		if cut.Signature != "valid" || cut.Bytes != part.Bytes || math.Abs(cut.Rate/part.Rate-1) > 1e-9 {
			t.Errorf("%d parts: %+v, said to be %+v", k+1, cut, part)
		}
		if got := mustVenn(t, "summary", "test", "cut", "keys", "--totals", "--json"); got != "{\"tested\":5000,\"matched\":5000}\n" {
			t.Error(k+1, got)
		}
		mustVenn(t, "summary", "cut", "whole", "--bytes", fmt.Sprint(part.Bytes), "-o", "same")
		a, _ := os.ReadFile("cut")
		if b, _ := os.ReadFile("same"); !bytes.Equal(a, b) {
			t.Errorf("%d parts are not what fits in %d bytes", k+1, part.Bytes)
		}
	}
}
