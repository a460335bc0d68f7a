package main

import (
	"errors"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"venn": main}) }

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status,
			"sleep":  sleep,
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

// sleep SECONDS waits.
func sleep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sleep SECONDS")
	}
	seconds, err := strconv.Atoi(args[0])
	ts.Check(err)
	time.Sleep(time.Duration(seconds) * time.Second)
}
