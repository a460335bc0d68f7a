package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestKubo runs scripts with a real IPFS client: the program that IPFS_BIN names.
func TestKubo(t *testing.T) {
	bin := os.Getenv("IPFS_BIN")
	if bin == "" {
		t.Skip("IPFS_BIN names no ipfs program (Kubo): not tested against it")
	}
	bin, err := filepath.Abs(bin) // scripts run in folders of their own
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:      filepath.Join("testdata", "kubo"),
		Deadline: time.Now().Add(2 * time.Minute),
		Setup: func(e *testscript.Env) error {
			e.Setenv("IPFS_BIN", bin)
			e.Setenv("IPFS_TELEMETRY", "off")
			e.Setenv("VENN_DISCOVERY_MDNS", "false")
			e.Setenv("VENN_NAT_PORT_MAP", "false")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":     status,
			"eventually": eventually,
			"capture":    capture,
			"api":        api,
			"random":     random,
		},
	})
}

// random BYTES FILE makes a file of BYTES bytes, the same ones always.
func random(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: random BYTES FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o600))
}

// api VARIABLE FOLDER waits for the IPFS node in a folder and sets a variable to the URL of its API.
func api(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: api VARIABLE FOLDER")
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		b, err := os.ReadFile(ts.MkAbs(filepath.Join(args[1], "api")))
		if err == nil && len(b) > 0 { // /ip4/127.0.0.1/tcp/5001
			part := strings.Split(strings.TrimSpace(string(b)), "/")
			ts.Setenv(args[0], "http://"+part[2]+":"+part[4])
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("no IPFS node in %s within a minute", args[1])
		}
	}
}
