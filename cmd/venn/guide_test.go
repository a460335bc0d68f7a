package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// small are flags for networks that take moments.
const small = " --peers 20 --queries 20 --trials 1 --strategy venn,flooding"

// guided says of every command in the guide for researchers how the test runs it. It runs with more flags, so that it
// takes moments, or as another command. Where it does not run, guided says why.
var guided = []struct {
	command string // as the guide has it, without its comment
	more    string
	instead string
	skipped string
}{
	{command: "venn experiment run routing --data ./lists", more: small},
	{command: "venn testnet --data ./lists", more: " --peers 20 --queries 5 --warmup 2s"},
	{command: "venn testnet --help"},
	{command: "venn testnet", skipped: "a name in a sentence"},
	{command: "venn experiment run", skipped: "a name in a sentence"},
	{command: "venn experiment run partition --peers 50 --sweep loss=0,0.1", more: " --strategy flooding --queries 50 --trials 1"},
	{command: "venn experiment scenario show scale"},
	{command: "venn experiment scenario list"},
	{command: "show NAME", instead: "venn experiment scenario show partition"},
	{command: "venn experiment scenario check mine.toml"},
	{command: "venn experiment scenario explain mine.toml"},
	{command: "venn experiment run mine.toml --out made"},
	{command: "venn testnet --scenario mine.toml"},
	{command: "venn testnet --scenario mine.toml --against-simulator"},
	{command: "venn experiment run mine.toml --answers"},
	{command: "venn experiment scenario explain --help"},
	{command: "venn experiment run scenarios --write-answers testnet/scenario/built", instead: "venn experiment run mine.toml --write-answers answers"},
	{command: "venn experiment trace FILE", instead: "venn experiment run mine.toml --trials 1 --trace traces\nexec sh -c 'venn experiment trace traces/mine,venn,*.trace'"},
	{command: "--trace DIR", skipped: "the command above has it"},
	{command: "--queries-like RULE|FILE", instead: "venn experiment run routing --keys 20 --queries-like zipf" + small},
	{command: "venn testnet --scenario testnet/testdata/crosscheck.toml --against-simulator", skipped: "150 s; mine.toml is played so above, and TestCrossCheck of package testnet plays this one"},
	{command: "VENN_CROSSCHECK=1 go test ./testnet -run TestCrossCheck", skipped: "a test itself"},
	{command: "go run . run own.toml --out made", skipped: "TestOwnModule of package command"},
	{command: "go run . run own.toml --hosts", skipped: "TestOwnModule of package command"},
	{command: "venn experiment run routing --sweep upkeep=500,1000,2000 --trials 20 --out made --part 0/8", instead: "venn experiment run routing --sweep upkeep=500,1000 --out parts --part 0/2" + part},
	{command: "venn experiment run routing --sweep upkeep=500,1000,2000 --trials 20 --out made", instead: "venn experiment run routing --sweep upkeep=500,1000 --out parts" + part + "\nstdout '^wrote parts/report.html$'"},
	{command: "venn testnet --peers 1000 --chunk 65536 --part 0/4 --at node%d:9400", skipped: "TestParts of package testnet runs parts beside each other"},
	{command: "sbatch --array=0-7 --requeue --wrap", skipped: ".ci/run slurm"},
	{command: "export AT=$(scontrol show hostnames", skipped: ".ci/run slurm"},
	{command: "srun --distribution=cyclic sh -c", skipped: ".ci/run slurm"},
}

const part = " --peers 20 --keys 20 --queries 20 --trials 2 --strategy venn,planetp"

// mine is a scenario of seconds with data of its own.
const mine = `
-- mine.toml --
question = "Does a small network of two classes of lines get over a partition?"
strategies = ["venn", "flooding"]
peers = 12
trials = 2
warmup = "3s"
asking = "6s"
patience = "2s"

[collections]
data = "lists"

[queries]
number = 20

[[lines]]
up = "1mbit"
down = "8mbit"

[[lines]]
up = "10mbit"
down = "10mbit"

[[events]]
at = "4s"
kind = "partition"

[[events]]
at = "6s"
kind = "heal"
`

// Every command of the guide for researchers runs, and every one is known here.
func TestGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("plays a scenario on real hosts, 11 s each time")
	}
	t.Parallel()
	text := must(os.ReadFile(filepath.Join("..", "..", "testnet", "README.md")))
	guide := between(string(text), "## A guide for researchers", "## Experiments") + between(string(text), "## More than one machine", "### Kubernetes")
	var script strings.Builder
	found := map[int]bool{}
	for _, command := range commandsOf(guide) {
		i := known(command)
		if i < 0 {
			t.Errorf("%q is in the guide, and this test does not know it", command)
			continue
		}
		if c := guided[i]; !found[i] && c.skipped == "" {
			line := c.instead
			if line == "" {
				line = c.command + c.more
			}
			fmt.Fprintln(&script, line)
		}
		found[i] = true
	}
	for i, c := range guided {
		if !found[i] {
			t.Errorf("%q is not in the guide", c.command)
		}
	}
	script.WriteString("plot python\nplot R\n")
	script.WriteString(mine)
	for p := range 20 {
		fmt.Fprintf(&script, "-- lists/peer%d.txt --\n", p)
		for k := range 30 {
			fmt.Fprintf(&script, "key %d\n", (7*p+k)%60)
		}
	}
	path := filepath.Join(t.TempDir(), "guide.txtar")
	noErr(t, os.WriteFile(path, []byte(script.String()), 0o666))
	testscript.Run(t, testscript.Params{
		Files: []string{path},
		Cmds:  map[string]func(*testscript.TestScript, bool, []string){"plot": func(ts *testscript.TestScript, _ bool, args []string) { drawPlot(ts, guide, args[0]) }},
	})
}

// between is the text from a heading to another.
func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, "\n"+from+"\n")
	text, _, _ = strings.Cut(text, "\n"+to+"\n")
	return text
}

var (
	inBlock    = regexp.MustCompile(`(?m)^    ((?:venn|go run|sbatch|srun|export) .*)$`)
	inSentence = regexp.MustCompile("`((?:venn|show|VENN_[A-Z]+=1 go test|--trace|--queries-like) [^`]+)`")
)

// commandsOf are the commands of a text: those in blocks, without their comments, and those in sentences.
func commandsOf(text string) (out []string) {
	for _, m := range inSentence.FindAllStringSubmatch(strings.ReplaceAll(text, "\n`", " `"), -1) {
		out = append(out, m[1])
	}
	for _, m := range inBlock.FindAllStringSubmatch(text, -1) {
		command, _, _ := strings.Cut(m[1], "   # ")
		out = append(out, strings.TrimSpace(command))
	}
	return out
}

// known is the number of a command in guided; below 0 for none. What goes to an engine is known by how it begins.
func known(command string) int {
	for i, c := range guided {
		if c.command == command || strings.HasSuffix(c.skipped, "slurm") && strings.HasPrefix(command, c.command) {
			return i
		}
	}
	return -1
}

// drawPlot draws a plot as the guide does in a language, where the machine has what it takes. In any case the columns
// are there.
func drawPlot(ts *testscript.TestScript, guide, language string) {
	begins, program, there, made := "    import pandas", []string{"python3", "-c"}, "import pandas, matplotlib", "recall.svg"
	if language == "R" {
		begins, program, there, made = "    q <- read.csv", []string{"Rscript", "-e"}, "library(ggplot2)", "recall.png"
	}
	_, text, found := strings.Cut(guide, begins)
	if !found {
		ts.Fatalf("no plot in %s", language)
	}
	var lines []string
	for line := range strings.SplitSeq(begins+text, "\n") {
		if !strings.HasPrefix(line, "    ") {
			break
		}
		lines = append(lines, strings.TrimPrefix(line, "    "))
	}
	if len(lines) > 10 {
		ts.Fatalf("%d lines of %s", len(lines), language)
	}
	head, _, _ := strings.Cut(ts.ReadFile("made/queries.csv"), "\n")
	for _, column := range []string{"found", "findable", "at_s", "strategy"} {
		if !strings.Contains(","+head+",", ","+column+",") {
			ts.Fatalf("no column %s in %s", column, head)
		}
	}
	if ts.Exec(program[0], program[1], there) != nil {
		ts.Logf("%s or its packages are not here: nothing is drawn", program[0])
		return
	}
	ts.Setenv("MPLBACKEND", "Agg")
	ts.Check(ts.Exec(program[0], program[1], strings.Join(lines, "\n")))
	if len(ts.ReadFile(made)) < 1000 {
		ts.Fatalf("%s has drawn nothing", program[0])
	}
}
