package main

import (
	"slices"
	"strings"
	"testing"
)

// TestUsageSaysWhere: a fault of the command line is one line. It names what is wrong, and the command whose help
// explains it.
func TestUsageSaysWhere(t *testing.T) {
	for line, want := range map[string]string{
		"find x --nope":                   "no flag --nope; see `venn find --help`",
		"--nope":                          "no flag --nope; see `venn --help`",
		"--repo keys find --nope":         "no flag --nope; see `venn find --help`",
		"find x --count many":             `invalid value "many" for flag --count: want a whole number; see ` + "`venn find --help`",
		"find x --count 0":                `invalid value "0" for flag --count: want 1 or more; see ` + "`venn find --help`",
		"find x --count 1 --count 2":      `invalid value "2" for flag --count: the flag is given twice; see ` + "`venn find --help`",
		"find":                            "venn find takes KEY…|-, got none; see `venn find --help`",
		"similar --top 0":                 `invalid value "0" for flag --top: want 1 to 1000; see ` + "`venn similar --help`",
		"keys add --nope x":               "no flag --nope; see `venn keys add --help`",
		"experiment run scale --no":       "no flag --no; see `venn experiment run --help`",
		"experiment scenario show -x":     "no flag --x; see `venn experiment scenario show --help`",
		"experiment run alchemy":          "experiment: unknown experiment \"alchemy\"; `venn experiment list` shows them",
		"experiment run reduction --free": "experiment run reduction: no flag --free, only --trials, --seed, --out, --json, --part, --jobs; see `venn experiment run --help`",
		"testnet --scenario x --peers 3":  "testnet --scenario: no flag --peers, only --scenario, --against-simulator, --strategy, --seed, --json, --timeout; see `venn testnet --help`",
		"keys has -5 --json":              "no flag -5; an argument that begins with - goes behind --; see `venn keys has --help`",
		"keys rm --repo x -5":             "no flag -5; an argument that begins with - goes behind --; see `venn keys rm --help`",
		"nonsense":                        "no command \"nonsense\"; `venn help` lists them",
		"help nonsense":                   "no command or topic \"nonsense\"; `venn help` lists them",
		"help find nonsense":              "no command \"nonsense\" in venn find; `venn find --help` says more",
		"keys nonsense":                   "no command \"nonsense\" in venn keys; `venn keys --help` says more",
		"keys help nonsense":              "no command \"nonsense\" in venn keys; `venn keys --help` says more",
	} {
		code, stdout, stderr := venn(strings.Fields(line)...)
		if code != exitUsage || stderr != "venn: "+want+"\n" || stdout != "" {
			t.Errorf("venn %s ends with %d and prints %q and %q on stderr, want %q", line, code, stdout, stderr, want)
		}
	}
}

// TestHelpOfCommands: `venn help` takes the name of a command below another.
func TestHelpOfCommands(t *testing.T) {
	for line, want := range map[string]string{
		"help find":                   "venn find - find out",
		"help keys add":               "venn keys add - say that",
		"help experiment run":         "venn experiment run - run experiments",
		"h keys":                      "venn keys - add, remove",
		"help help":                   "venn",
		"--repo help keys add --help": "venn keys add - say that",
		"keys help rm":                "venn keys rm - say that",
	} {
		code, stdout, stderr := venn(strings.Fields(line)...)
		if code != exitDone || !strings.Contains(stdout, want) || stderr != "" {
			t.Errorf("venn %s ends with %d and prints %q and %q on stderr, want %q", line, code, stdout, stderr, want)
		}
	}
}

// TestThreatsOnce: an experiment that is named twice, by itself and as one of threats, is run once.
func TestThreatsOnce(t *testing.T) {
	got, err := withThreats([]string{"partition", "threats", "claims"})
	noErr(t, err)
	if want := []string{"partition", "claims", "faulty", "identities"}; !slices.Equal(got, want) {
		t.Errorf("it runs %v, want %v", got, want)
	}
}
