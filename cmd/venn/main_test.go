package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/venn-p2p/venn/node/leaktest"
)

// tests are run unless a script runs this program as venn.
type tests struct{ *testing.M }

func (t tests) Run() int {
	leaktest.AtOnce(6)
	return t.M.Run()
}

func TestMain(m *testing.M) { testscript.Main(tests{m}, map[string]func(){"venn": main}) }

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error { // two collections that differ by a key
			many, more := filepath.Join(e.WorkDir, "many.txt"), filepath.Join(e.WorkDir, "more.txt")
			return errors.Join(writeLines(many, 119, "last"), writeLines(more, 119, "last\nmore"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":    status,
			"tries":     tries,
			"interrupt": interrupt,
			"truncate":  truncate,
		},
	})
}

// status CODE ARGS... holds venn with these arguments to its exit code.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status CODE ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var exit *exec.ExitError
	if err := ts.Exec("venn", args[1:]...); err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	got := 0
	if exit != nil {
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("venn %q ended with %d, want %d", args[1:], got, want)
	}
}

// tries REGEXP ARGS... runs venn with these arguments until its stdout matches, three times at most: on a machine that is
// busy with something else, a short run may miss something. It must succeed each time.
func tries(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: tries REGEXP ARGS...")
	}
	expression, err := regexp.Compile(args[0])
	ts.Check(err)
	for range 3 {
		ts.Check(ts.Exec("venn", args[1:]...))
		if expression.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("venn %q says no %q in three runs", args[1:], args[0])
}

// interrupt TEXT ARGS... It runs venn with these arguments, interrupts it when it says TEXT on stderr, and waits for
// its end. The exit code must be 0 or, after !, another one.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: interrupt TEXT ARGS...")
	}
	var stdout bytes.Buffer
	stderr := &listener{text: args[0], said: make(chan struct{})}
	cmd := exec.Command("venn", args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), &stdout, stderr
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"))
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var err error
	select {
	case <-stderr.said:
		ts.Check(cmd.Process.Signal(os.Interrupt))
		err = <-ended
	case err = <-ended:
	case <-time.After(3 * time.Minute):
		_ = cmd.Process.Kill()
		err = <-ended
	}
	_, _ = io.Copy(ts.Stdout(), &stdout)
	_, _ = io.Copy(ts.Stderr(), &stderr.all)
	if (err != nil) != neg {
		ts.Fatalf("venn %q ended with %v", args[1:], err)
	}
}

// listener keeps what is written, and closes said when that has the text.
type listener struct {
	all  bytes.Buffer
	text string
	said chan struct{}
	once sync.Once
}

func (l *listener) Write(b []byte) (int, error) {
	n, err := l.all.Write(b)
	if strings.Contains(l.all.String(), l.text) {
		l.once.Do(func() { close(l.said) })
	}
	return n, err
}

// must returns v. It panics on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// noErr ends the test if there is an error.
func noErr(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}
