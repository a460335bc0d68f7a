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
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// networkFlags are those of experiments on simulated networks.
func networkFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "peers", Usage: "routing, scale: `NUMBER` of peers (default: 2000; scale: up to 1000)", HideDefault: true},
		&cli.IntFlag{Name: "keys", Usage: "routing, scale: `NUMBER` of keys of every peer, for made-up collections", Value: 200},
		&cli.StringFlag{Name: "data", Usage: "routing, scale: collections: \"clusters\" makes them up, \"debian\", or a .tsv table or folder `PATH`", Value: "clusters"},
		&cli.StringFlag{Name: "strategy", Usage: "routing, scale: `NAME[,NAME…]` of " + strings.Join(strategy.Names(strategy.All()), ", ") + " (default: all; scale: venn)", HideDefault: true},
		&cli.StringFlag{Name: "sweep", Usage: "routing, scale: `NAME=VALUE,VALUE…` to vary, NAME one of " + sweepNames()},
		&cli.IntFlag{Name: "queries", Usage: "routing, scale: `NUMBER` of queries of every run", Value: 2000},
		&cli.DurationFlag{Name: "asking", Usage: "routing, scale: `TIME` over which the queries are spread", Value: time.Minute},
		&cli.DurationFlag{Name: "session", Usage: "routing, scale: median `TIME` that a peer stays (default: all stay; scale: 1h)", HideDefault: true},
		&cli.IntFlag{Name: "origins", Usage: "routing, scale: `NUMBER` of peers whose summaries one keeps (default: all; scale: 128)", HideDefault: true},
		&cli.BoolFlag{Name: "all", Usage: "routing, scale: queries want every holder, not one"},
		&cli.StringFlag{Name: "topology", Usage: "routing, scale: `KIND` of first links: random, small-world or power-law", Value: string(sim.Random)},
		&cli.BoolFlag{Name: "split", Usage: "routing, scale: go on when the topology falls apart"},
	}
}

func sweepNames() string {
	var names []string
	for _, s := range experiment.Sweeps {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

func isNetwork(name string) bool {
	return slices.ContainsFunc(experiment.Networks(), func(i experiment.Info) bool { return i.Name == name })
}

// tellEvery is how often progress is told of where there is no terminal for a bar.
const tellEvery = 10 * time.Second

// runNetwork runs an experiment on simulated networks.
func runNetwork(ctx context.Context, c *cli.Command, name string) error {
	options, err := networkOptions(c)
	if err != nil {
		return usageError{err}
	}
	stdout, stderr := c.Root().Writer, c.Root().ErrWriter
	show := newExperimentProgress(stderr)
	run, told := 0, time.Duration(0)
	options.Progress = func(s experiment.NetworkStatus) {
		if show.bar == nil {
			switch {
			case s.Run != run:
				run, told = s.Run, 0
				fmt.Fprintf(stderr, "run %d of %d: %s\n", s.Run, s.Runs, s.Point)
			case s.Wall >= told+tellEvery:
				told = s.Wall
				fmt.Fprintf(stderr, "run %d of %d: %v of %v virtual, %v wall\n", s.Run, s.Runs, s.Virtual.Round(time.Second), s.End, s.Wall.Round(time.Second))
			}
			return
		}
		show.bar.Describe(fmt.Sprintf("%d/%d %s, %v virtual, %v wall", s.Run, s.Runs, s.Point, s.Virtual.Round(time.Second), s.Wall.Round(time.Second)))
		_ = show.bar.Set(int((float64(s.Run-1) + float64(s.Virtual)/float64(s.End)) / float64(s.Runs) * experimentSteps))
	}
	result, err := experiment.RunNetwork(ctx, name, options)
	show.end()
	if errors.Is(err, experiment.ErrOptions) {
		return usageError{err}
	}
	if err != nil && len(result.Rows) == 0 && !errors.Is(err, context.Canceled) {
		return err
	}
	if writeErr := writeNetwork(stdout, result, c.Bool("json")); writeErr != nil {
		return writeErr
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted: these are the rows known by then; with --out, the same command goes on from here")
	}
	return err
}

func networkOptions(c *cli.Command) (experiment.NetworkOptions, error) {
	o := experiment.NetworkOptions{
		Peers: c.Int("peers"), Keys: c.Int("keys"), Data: c.String("data"), Sweep: c.String("sweep"), Trials: c.Int("trials"),
		Queries: c.Int("queries"), Asking: c.Duration("asking"), Session: c.Duration("session"), Origins: c.Int("origins"), All: c.Bool("all"), Seed: c.Uint64("seed"), Out: c.String("out"), Split: c.Bool("split"),
		Version: buildVersion().Version,
	}
	if kind := c.String("topology"); kind != string(sim.Random) {
		o.Topology.Kind = sim.Kind(kind)
	}
	for name, n := range map[string]int{"peers": o.Peers, "keys": o.Keys, "queries": o.Queries} {
		if c.IsSet(name) && n < 1 {
			return o, fmt.Errorf("flag -%s: want 1 or more", name)
		}
	}
	if c.IsSet("sweep") && o.Sweep == "" {
		return o, errors.New("flag -sweep: has no points")
	}
	if c.IsSet("strategy") {
		var err error
		if o.Strategies, err = strategy.Find(strategy.All(), strings.Split(c.String("strategy"), ",")...); err != nil {
			return o, err
		}
	}
	return o, nil
}

// writeNetwork writes a row for every run.
func writeNetwork(w io.Writer, r experiment.NetworkResult, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "STRATEGY\tPEERS\tSWEEP\tRECALL\tMESSAGES\tWASTED\tUPKEEP/PEER\tBYTES/QUERY\tHOPS\tP50 MS\tP99 MS\tWALL S\tMEMORY MB\tTRACE\t")
	for _, x := range r.Rows {
		sweep := x.Sweep
		if sweep != "" {
			sweep += "=" + digits(x.Value)
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%.4f\t%.2f\t%.3f\t%.0f\t%.0f\t%.2f\t%.0f\t%.0f\t%.0f\t%d\t%.12s\t\n", x.Strategy, x.Peers, sweep, x.Recall,
			x.MessagesPerQuery, x.WastedProbesPerQuery, x.UpkeepBytesPerPeer, x.QueryBytes, x.Hops, x.LatencyP50, x.LatencyP99,
			x.WallSeconds, x.MemoryBytes>>20, x.TraceHash)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range r.Files {
		fmt.Fprintln(w, "wrote", f)
	}
	return nil
}
