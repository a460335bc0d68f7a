// Command bench measures venn's structures beside the libraries that people use today.
//
//	go run . [AREA…] [--json]
//	go run . sizes [--json]
//
// sizes prints a table of structures of the same number of bytes, each with a line of advice.
//
// The areas are filter, blocked, merge, coder, counting, stream, sketch, index and overlap; without an area, all are
// measured. Ours and theirs do the same work in turn, in eleven rounds. A row prints the median of each, in a unit
// where less is better, and the median of the rounds' ratios, theirs to ours. So the ratio tells how many times
// better ours is. Times are processor times on Linux, else wall times. Absolute times decide nothing. A target is
// the ratio to reach; rows without one are for comparison. The exit code is 0 even if a target is missed, 1 if the
// output cannot be written, and 2 for wrong usage or if a measurement panics.
//
// The libraries run with the best settings that they document: their own hash functions, scratch space used again,
// and the memory that the rate needs. The command is a module of its own, so that the libraries stay out of venn's
// module.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// areas has the areas in the order of their rows.
var areas = []struct {
	name string
	rows func(*bench)
}{
	{"filter", filterArea},
	{"blocked", blockedArea},
	{"merge", mergeArea},
	{"coder", coderArea},
	{"counting", countingArea},
	{"stream", streamArea},
	{"sketch", sketchArea},
	{"index", indexArea},
	{"overlap", overlapArea},
}

func main() {
	runtime.LockOSThread() // function now counts the processor time of this thread
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	asJSON := false
	var names []string
	for _, arg := range args {
		switch {
		case arg == "--json" || arg == "-json":
			asJSON = true
		case strings.HasPrefix(arg, "-"):
			fmt.Fprintf(stderr, "bench: unknown flag %s\nusage: bench [AREA…] [--json]\n", arg)
			return 2
		default:
			names = append(names, arg)
		}
	}
	for _, name := range names {
		if name != "sizes" && !slices.ContainsFunc(areasNamed(), func(a string) bool { return a == name }) {
			fmt.Fprintf(stderr, "bench: unknown area %q, want some of %s, or sizes\n", name, strings.Join(areasNamed(), ", "))
			return 2
		}
	}
	if slices.Contains(names, "sizes") {
		if err := writeSizes(stdout, asJSON); err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return 1
		}
		return 0
	}
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	b := &bench{progress: stderr, interrupt: interrupt}
	for _, a := range areas {
		if len(names) == 0 || slices.Contains(names, a.name) {
			b.area = a.name
			a.rows(b)
		}
	}
	if err := write(stdout, b.rows, asJSON); err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	return 0
}

func areasNamed() []string {
	var names []string
	for _, a := range areas {
		names = append(names, a.name)
	}
	return names
}

func write(w io.Writer, rows []Row, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Rows []Row `json:"rows"`
		}{rows})
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "area\tname\tours\ttheirs\tunit\tratio\ttarget\tok")
	for _, r := range rows {
		target, ok := "", ""
		if r.Target > 0 {
			target, ok = fmt.Sprintf("%.4g", r.Target), map[bool]string{true: "yes", false: "NO"}[r.OK]
		}
		fmt.Fprintf(t, "%s\t%s\t%.5g\t%.5g\t%s\t%.3f\t%s\t%s\n", r.Area, r.Name, r.Ours, r.Theirs, r.Unit, r.Ratio, target, ok)
	}
	return t.Flush()
}
