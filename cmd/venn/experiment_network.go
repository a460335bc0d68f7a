package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/experiment"
	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// networkFlags are those of experiments on simulated networks.
func networkFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "peers", Usage: "`NUMBER` of peers (default: routing 2000, scale up to 1000, others as many as the data has)", HideDefault: true},
		&cli.IntFlag{Name: "keys", Usage: "routing, scale: `NUMBER` of keys of every peer, for made-up collections", Value: 200},
		&cli.StringFlag{Name: "data", Usage: "collections: \"clusters\" makes them up, \"debian\", or a .tsv table or folder `PATH` (default: routing, scale clusters; others debian)", HideDefault: true},
		&cli.StringFlag{Name: "strategy", Usage: "routing, scale: `NAME[,NAME…]` of " + strings.Join(strategy.Names(strategies.Named()), ", ") + " (default: all but kademlia-classic; scale: venn, attenuated, qrp, planetp, kademlia)", HideDefault: true},
		&cli.StringSliceFlag{Name: "sweep", Usage: "`NAME=VALUE,VALUE…` to vary; again for a grid (routing, scale); see venn experiment --help"},
		&cli.StringSliceFlag{Name: "fix", Usage: "routing, scale: `NAME=VALUE[,NAME=VALUE…]` of what a sweep can vary, for all runs"},
		&cli.IntFlag{Name: "queries", Usage: "routing, scale: `NUMBER` of queries of every run", Value: 2000},
		&cli.StringFlag{Name: "queries-like", Usage: "routing, scale: draw queries by `RULE`: " + strings.Join(holdings.Rules, ", ") + ", or replay a CSV of seconds, peer and key numbers", Value: holdings.Interest},
		&cli.DurationFlag{Name: "asking", Usage: "routing, scale: `TIME` over which the queries are spread", Value: time.Minute},
		&cli.DurationFlag{Name: "warmup", Usage: "routing, scale: `TIME` before the first query", Value: time.Minute},
		&cli.DurationFlag{Name: "patience", Usage: "routing, scale: `TIME` that a query may take", Value: 30 * time.Second},
		&cli.BoolFlag{Name: "all", Usage: "routing, scale: queries want every holder, not one"},
		&cli.StringFlag{Name: "topology", Usage: "routing, scale: `KIND` of first links: random, small-world or power-law", Value: string(sim.Random)},
		&cli.StringFlag{Name: "links", Usage: "routing, scale: classes of the peers' lines as `RATE:WEIGHT,…` (default: 10mbit for all)", HideDefault: true},
		&cli.BoolFlag{Name: "free", Usage: "scale: the others may send for upkeep as much as they like, not only what venn sends"},
		&cli.BoolFlag{Name: "split", Usage: "routing, scale: go on when the topology falls apart"},
		&cli.StringFlag{Name: "trace", Usage: "routing, scale, scenarios: write the trace of every run to folder `DIR`, for venn experiment trace"},
		&cli.StringFlag{Name: "record", Usage: "routing, scale: record one run of venn in `FILE`, for venn view", TakesFile: true},
	}
}

// sweepsOf are the sweeps that are asked for: a comma separates values as well as sweeps.
func sweepsOf(c *cli.Command) (sweeps []string) {
	for _, item := range c.StringSlice("sweep") {
		if last := len(sweeps) - 1; last >= 0 && !strings.Contains(item, "=") {
			sweeps[last] += "," + item
			continue
		}
		sweeps = append(sweeps, item)
	}
	return sweeps
}

// sweepHelp lists what can be varied.
func sweepHelp() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, of := range []struct{ who, experiment string }{
		{"routing, scale", experiment.Routing}, {"neighbours", experiment.Neighbours}, {"overlap", experiment.Overlaps}, {"budget", experiment.Budget},
	} {
		for i, v := range experiment.Sweeps(of.experiment) {
			who := of.who
			if i > 0 {
				who = ""
			}
			fmt.Fprintf(t, "   %s\t%s\t%s\n", who, v.Name, v.Unit)
		}
	}
	for _, s := range strategies.Named() {
		for i, p := range s.Parameters {
			name := s.Name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(t, "   %s\t%s\tif not set: %s\n", name, p.Name, p.Default)
		}
	}
	t.Flush()
	return b.String()
}

func isNetwork(name string) bool {
	return slices.ContainsFunc(experiment.Networks(), func(i experiment.Info) bool { return i.Name == name })
}

// runNetwork runs an experiment on simulated networks.
func runNetwork(ctx context.Context, c *cli.Command, name string) error {
	if err := noAnswers(c, name); err != nil {
		return err
	}
	options, err := networkOptions(c)
	if err != nil {
		return usageError{err}
	}
	if options.Work, options.Out, err = workOf(c); err != nil {
		return err
	}
	stdout, stderr := c.Root().Writer, c.Root().ErrWriter
	show := newProgress(stderr, 0)
	begun, newest := map[int]bool{}, "" // several may run at a time
	options.Progress = func(s experiment.NetworkStatus) {
		if !begun[s.Run] {
			begun[s.Run], newest = true, fmt.Sprintf("run %d of %d: %s", s.Run, s.Runs, s.Point)
		}
		show.update(stage{what: newest, share: s.Done, whole: true})
	}
	recorder := runRecorder{name: c.String("record")}
	if c.IsSet("record") {
		if recorder.name == "" {
			return usageError{errors.New("flag --record: names no file")}
		}
		options.Look = recorder.look
	}
	result, err := experiment.RunNetwork(ctx, name, options)
	show.end()
	err = recorder.end(err)
	if errors.Is(err, experiment.ErrOptions) {
		return usageError{err}
	}
	if c.IsSet("part") {
		return endPart(stderr, options.Work, options.Out, err)
	}
	if err != nil && len(result.Rows) == 0 {
		return interrupted(err, options.Out)
	}
	if writeErr := writeNetwork(stdout, result, c.Bool("json")); writeErr != nil {
		return writeErr
	}
	return interrupted(err, options.Out)
}

func networkOptions(c *cli.Command) (experiment.NetworkOptions, error) {
	o := experiment.NetworkOptions{
		Peers: c.Int("peers"), Keys: c.Int("keys"), Data: c.String("data"), Sweeps: sweepsOf(c), Fixed: c.StringSlice("fix"), Trials: c.Int("trials"),
		Queries: c.Int("queries"), Like: c.String("queries-like"), Warmup: c.Duration("warmup"), Asking: c.Duration("asking"), Patience: c.Duration("patience"), Traces: c.String("trace"), All: c.Bool("all"), Seed: c.Uint64("seed"), Links: c.String("links"), Free: c.Bool("free"), Split: c.Bool("split"),
		Version: buildVersion().Version,
	}
	if kind := c.String("topology"); kind != string(sim.Random) {
		o.Topology.Kind = sim.Kind(kind)
	}
	for _, f := range []struct {
		name string
		n    int
	}{{"peers", o.Peers}, {"keys", o.Keys}, {"queries", o.Queries}} {
		if c.IsSet(f.name) && f.n < 1 {
			return o, fmt.Errorf("flag --%s: want 1 or more", f.name)
		}
	}
	if c.IsSet("sweep") && len(o.Sweeps) == 0 {
		return o, errors.New("flag --sweep: has no points")
	}
	for _, name := range []string{"peers", "keys"} {
		swept := func(s string) bool {
			return strings.HasPrefix(s, name+"=") || name == "peers" && strings.HasPrefix(s, "size=")
		}
		if c.IsSet(name) && slices.ContainsFunc(slices.Concat(o.Sweeps, o.Fixed), swept) {
			return o, fmt.Errorf("%s is given twice, by --%s too", name, name)
		}
	}
	for _, f := range []struct {
		name string
		d    time.Duration
	}{{"warmup", o.Warmup}, {"asking", o.Asking}, {"patience", o.Patience}} {
		if c.IsSet(f.name) && f.d <= 0 {
			return o, fmt.Errorf("flag --%s: want more than 0", f.name)
		}
	}
	if c.IsSet("strategy") {
		var err error
		if o.Strategies, err = strategy.Find(strategies.Named(), strings.Split(c.String("strategy"), ",")...); err != nil {
			return o, err
		}
	}
	return o, nil
}

// writeNetwork writes a line for every strategy at every point.
func writeNetwork(w io.Writer, r experiment.NetworkResult, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	for i, table := range []func() ([]string, [][]string){r.Table, r.Lines} {
		head, lines := table()
		if len(lines) == 0 {
			continue
		}
		if i > 0 {
			fmt.Fprintln(w)
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, line := range append([][]string{head}, lines...) {
			fmt.Fprintln(t, strings.Join(line, "\t")+"\t")
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	for _, f := range r.Files {
		fmt.Fprintln(w, "wrote", f)
	}
	return nil
}
