package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/venn-p2p/venn/node/bounded"
)

// TestNodeScripts runs daemons and what commands say of them.
func TestNodeScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:      filepath.Join("testdata", "node"),
		Deadline: time.Now().Add(5 * time.Minute), // a machine that does nothing else takes 20 s
		Setup: func(e *testscript.Env) error {
			// No peers but those of the script, and nothing asked of a router.
			e.Setenv("VENN_DISCOVERY_MDNS", "false")
			e.Setenv("VENN_NAT_PORT_MAP", "false")
			e.Setenv("LF", "\n")
			return errors.Join(writeLines(filepath.Join(e.WorkDir, "many"), 20_000, "hex:zz"), writeOdd(e.WorkDir))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":     status,
			"eventually": eventually,
			"until":      until,
			"capture":    capture,
		},
	})
}

// writeLines writes a file of the numbers below n and another line, one a line.
func writeLines(name string, n int, last string) error {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	fmt.Fprintln(&b, last)
	return os.WriteFile(name, b.Bytes(), 0o600)
}

// writeOdd writes files of odd keys below dir: words has 10,000 lines with names of commands among them; the others hold
// one line each.
func writeOdd(dir string) error {
	if err := writeLines(filepath.Join(dir, "words"), 9_990, "h\nhelp\nkeys\nadd\nrm\nfind\nconfig\nget\nrepo\n-"); err != nil {
		return err
	}
	for name, key := range map[string]string{
		"nul": "a\x00b", "invalid": "\xff\xfe", "long": strings.Repeat("k", 1025), "longer": strings.Repeat("k", bounded.MaxBytes), "longest": strings.Repeat("k", bounded.MaxBytes+1),
		"marked": "\ufeffmarked\r",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(key+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// eventually ARGS... runs venn with these arguments until it succeeds, or after ! until it fails, for a minute at most:
// ten seconds are what a person may expect of a machine that does nothing else.
func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: eventually ARGS...")
	}
	patiently(ts, args, func(err error) bool { return (err != nil) == neg })
}

// patiently runs venn again and again until what it did is right, for a minute at most.
func patiently(ts *testscript.TestScript, args []string, right func(err error) bool) {
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		err := ts.Exec("venn", args...)
		if right(err) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("venn %q ends with %v even after a minute, or does not say what it should", args, err)
		}
	}
}

// until REGEXP ARGS... runs venn with these arguments until it succeeds with a line on stdout that matches, for a
// minute at most.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP ARGS...")
	}
	expression, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	patiently(ts, args[1:], func(err error) bool { return err == nil && expression.MatchString(ts.ReadFile("stdout")) })
}

// capture VARIABLE FILE REGEXP sets a variable to what the first group of an expression matches in a file.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: capture VARIABLE FILE REGEXP")
	}
	expression, err := regexp.Compile("(?m)" + args[2])
	ts.Check(err)
	match := expression.FindStringSubmatch(ts.ReadFile(args[1]))
	if len(match) < 2 {
		ts.Fatalf("%s has no %s", args[1], args[2])
	}
	ts.Setenv(args[0], match[1])
}
