package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/testnet/command"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/oracle"
)

// Flags say keys in place of a scenario's file. What makes no sense is refused before anything runs.
func TestOverrides(t *testing.T) {
	mine := oracle.Strategy
	mine.Name, mine.Parameters = "mine", []strategy.Parameter{{Name: "luck", Unit: "clovers", Default: "none", High: 7, Whole: true}}
	log := filepath.Join(t.TempDir(), "log.csv")
	if err := os.WriteFile(log, []byte("61,0,3\n62,1,3\n63,2,3\n64,3,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	small := []string{"run", "routing", "--peers", "20", "--keys", "10", "--trials", "1"}
	for _, test := range []struct{ flags, fails, shows string }{
		{"--strategy mine --sweep luck=1,7", "", "luck=7"},
		{"--strategy flooding,mine --fix luck=3", "", "flooding"},
		{"--strategy venn --topology small-world --fix rewire=0.5 --links 1mbit:1,10mbit:1", "", "LINE KBIT/S"},
		{"--strategy flooding --queries-like " + log, "", "flooding"},
		{"--strategy flooding --queries-like zipf --all --asking 1s --warmup 1s --patience 1s", "", "flooding"},
		{"--strategy oracle --fix degree=1 --split", "", "oracle"},
		{"--strategy oracle --fix degree=1", "fall into", ""},
		{"--strategy flooding,oracle --sweep budget=10", "budget, which oracle ignore: name strategies that do not, as flooding", ""},
		{"--strategy oracle --sweep luck=1", "\"luck\"", ""},
		{"--strategy flooding --fix bits=10", "\"bits\"", ""},
		{"--strategy mine --sweep luck=8", "not from 0 to 7", ""},
		{"--strategy venn --sweep degree=6,8", "degree, which venn ignore", ""},
		{"--strategy mine --sweep loss=0 --sweep loss=0.1", "twice", ""},
		{"--strategy mine --sweep upkeep=", "upkeep", ""},
		{"--strategy luck", "unknown strategy", ""},
		{"--strategy mine --links fast:1", "fast", ""},
		{"--strategy mine --queries-like nothing.csv", "nothing.csv", ""},
		{"--strategy mine --topology ring", "ring", ""},
		{"--strategy mine --asking 0s", "flag --asking: want more than 0", ""},
		{"--strategy mine --queries 0", "flag --queries: want 1 or more", ""},
		{"--strategy mine --peers 30", "flag --peers: the flag is given twice", ""},
		{"--strategy mine --fix peers=30", "peers is given twice", ""},
	} {
		var stdout, stderr bytes.Buffer
		code := command.Run(t.Context(), slices.Concat([]string{"program"}, small, strings.Fields(test.flags)), &stdout, &stderr, mine)
		if want := map[bool]int{true: 0, false: 2}[test.fails == ""]; code != want || !strings.Contains(stderr.String(), test.fails) || !strings.Contains(stdout.String(), test.shows) {
			t.Errorf("%s: exit code %d, want %d with %q\n%s%s", test.flags, code, want, test.fails, stdout.String(), stderr.String())
		}
	}
}
