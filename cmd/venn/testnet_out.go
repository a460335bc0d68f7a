package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/results"
)

const outUsage = "write rows, plots and a report to folder `DIR`: runs that differ in their seed alone are trials, and have intervals; one of the same seed takes the other's place"

// incidental are the flags that do not change a run's figures, so that they are not noted with it.
var incidental = []string{"seed", "out", "json", "hold", "view", "record", "timeout", "strategy"}

// testnetCase names the settings of a run, except the seed, where they are not the defaults.
func testnetCase(c *cli.Command, peers int, over testnet.Transport) string {
	parts := []string{fmt.Sprintf("%d peers over %s", peers, over)}
	for _, name := range c.LocalFlagNames() {
		if c.IsSet(name) && !slices.Contains(append(incidental, "peers", "transport"), name) {
			parts = append(parts, fmt.Sprintf("%s %v", name, c.Value(name)))
		}
	}
	slices.Sort(parts[1:])
	return strings.Join(parts, ", ")
}

// writeTestnet adds a report's run to the runs in the folder of --out.
func writeTestnet(c *cli.Command, r *testnet.Report) error {
	figures := []results.Figure{
		{Of: "all", Quantity: "time in all, s", Value: r.WallSeconds},
		{Of: "all", Quantity: "summaries sent a peer, kB", Value: r.SummaryBytes / 1000},
		{Of: "all", Quantity: "most of a link's budget used", Value: r.LinkBudgetUse},
		{Of: "all", Quantity: "memory, MB", Value: float64(r.MemoryBytes) / 1e6},
	}
	add := func(of, quantity string, value *float64) {
		if value != nil {
			figures = append(figures, results.Figure{Of: of, Quantity: quantity, Value: *value})
		}
	}
	costs := func(of string, x testnet.Costs) {
		add(of, "probes a query", x.ProbesPerQuery)
		add(of, "false probes a query", x.FalseProbes)
		add(of, "messages a query", x.MessagesPerQuery)
	}
	add("all", "latency p50, ms", r.LatencyMillis.P50)
	add("all", "latency p99, ms", r.LatencyMillis.P99)
	add("all", "every peer knows every other after, s", r.ConvergenceSeconds)
	add("all", "recall, one holder", r.FindOne.Recall)
	add("all", "recall, all holders", r.FindAll.Recall)
	costs("all", r.Costs)
	for _, name := range slices.Sorted(maps.Keys(r.Classes)) {
		x := r.Classes[name]
		held := x.BytesHeld / 1000
		add(name, "recall, one holder", x.FindOneRecall)
		add(name, "recall, all holders", x.FindAllRecall)
		add(name, "held of others, kB", &held)
		costs(name, x.Costs)
	}
	if r.Adds != nil {
		fresh := func(of string, f testnet.Freshness) {
			add(of, "recall of new keys", f.Recall)
			add(of, "new keys found, p50, ms", f.P50)
			add(of, "new keys found, p99, ms", f.P99)
			add(of, "bytes a change and receiver", &f.Bytes)
		}
		fresh("all", r.Adds.All)
		add("all", "bytes a change and receiver, of tails", &r.Adds.Tails)
		for _, name := range slices.Sorted(maps.Keys(r.Adds.Classes)) {
			fresh(name, r.Adds.Classes[name])
		}
	}
	return addRun(c, "a network of real peers", testnetCase(c, r.Peers, r.Transport), r.Seed, figures)
}

// writeSystems adds the run of a comparison to the runs in the folder of --out.
func writeSystems(c *cli.Command, r *testnet.Comparison) error {
	var figures []results.Figure
	for _, row := range r.Rows {
		add := func(quantity string, value float64) {
			figures = append(figures, results.Figure{Of: row.System, Quantity: quantity, Value: value})
		}
		add("bytes to join, a peer", row.JoinBytes)
		add("bytes to announce, a holding", row.AnnounceBytes)
		add("time to announce, s", row.AnnounceSeconds)
		for kind, s := range map[string]testnet.FindStats{"one holder": row.FindOne, "all holders": row.FindAll} {
			add("recall, "+kind, s.Recall)
			add("latency p50, ms, "+kind, s.P50)
			add("messages a query, "+kind, s.Messages)
			add("bytes a query, "+kind, s.Bytes)
		}
	}
	slices.SortStableFunc(figures, func(a, b results.Figure) int { return strings.Compare(a.Quantity, b.Quantity) })
	return addRun(c, "systems side by side on real peers", testnetCase(c, r.Peers, r.Transport), r.Seed, figures)
}

// canWrite makes a folder and checks that files can be made there: better before a run than after it.
func canWrite(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	f, err := os.CreateTemp(dir, ".try-")
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func addRun(c *cli.Command, title, of string, seed uint64, figures []results.Figure) error {
	files, err := results.AddRun(c.String("out"), "testnet", title, buildVersion().Version, results.Measured{Case: of, Seed: seed, Figures: figures})
	for _, f := range files {
		fmt.Fprintln(c.Root().ErrWriter, "wrote", f)
	}
	return err
}
