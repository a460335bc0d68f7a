package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/workload"
)

// gcPercent returns the percentage by which the heap may grow between garbage collections. In a small network it is 20:
// that saves memory, but costs a quarter of all processor time. It is 100 where processor time is scarcer: where peers
// keep adding keys, and in a network that is large or on slow lines, and so takes long to warm up. GOGC in the
// environment takes precedence.
func gcPercent(peers int, links link.Mix, adds float64) int {
	if adds > 0 || testnet.DefaultWarmup(peers, links) > 40*time.Second {
		return 100
	}
	return 20
}

func testnetCommand() *cli.Command {
	cfg := &testnet.Config{}
	return &cli.Command{
		Name:        "testnet",
		Usage:       "run a network of peers in this process, and report what they find",
		Description: helpText("testnet"),
		ArgsUsage:   " ",
		Flags: append([]cli.Flag{
			&cli.IntFlag{Name: "peers", Destination: &cfg.Peers, Usage: "run `PEERS` peers; where the data has fewer, it is dealt out anew (default: as many as the data has)", HideDefault: true, Validator: within(2, workload.MaxPeers)},
			&cli.StringFlag{Name: "data", Destination: &cfg.Data, Usage: "collections from `PATH`: a .tsv, a .tsv.gz, or a folder (default: Debian machines by role)", HideDefault: true},
			&cli.Uint64Flag{Name: "chunk", Destination: &cfg.Chunk, Usage: "one key for every `BYTES` of a file", Value: workload.DefaultChunk, Validator: within[uint64](1, 1<<50)},
			&cli.IntFlag{Name: "queries", Destination: &cfg.Queries, Usage: "`NUMBER` of queries of each kind, find one and find all", Value: testnet.DefaultQueries, Validator: within(1, 10_000_000)},
			&cli.StringFlag{Name: "queries-like", Destination: &cfg.QueriesLike, Usage: "draw queries by `RULE`: " + strings.Join(holdings.Rules, ", ") + ", or replay a CSV of seconds, peers and keys", Value: holdings.Uniform},
			&cli.StringFlag{Name: "links", Usage: "link classes as `RATE:WEIGHT,…`", Value: link.DefaultMix, Validator: parses(link.ParseMix)},
			&cli.StringFlag{Name: "transport", Usage: "`KIND` of transport: tcp or quic on loopback, or sim: QUIC over simulated links with the rates of --links", Value: string(testnet.TCP), Validator: func(name string) error { return testnet.Transport(name).Check() }},
			&cli.BoolFlag{Name: "shape", Destination: &cfg.Shape, Usage: "let lines of tcp carry what --links says, both ways, with a latency of 10 ms"},
			&cli.Uint64Flag{Name: "seed", Destination: &cfg.Seed, Usage: "`SEED` of collections, queries, link classes and identities", Value: 1},
			&cli.DurationFlag{Name: "warmup", Usage: "`TIME` from when the peers are linked to the first query", DefaultText: "30s; 1m0s where all lines are slow; longer in proportion beyond 120 peers", Validator: within(0, 24*time.Hour)},
			&cli.FloatFlag{Name: "summary-share", Destination: &cfg.SummaryShare, Usage: "`SHARE` of a link's slower end that summaries may use", Value: testnet.DefaultSummaryShare, DefaultText: "a third", Validator: above0(1)},
			&cli.IntFlag{Name: "connections", Destination: &cfg.Connections, Usage: "let each peer make and accept at most this number of `CONNECTIONS`, as links and to ask (default: 32)", HideDefault: true, Validator: within(testnet.MinConnections, 1<<20)},
			&cli.IntFlag{Name: "origins", Destination: &cfg.Origins, Usage: "let each peer keep summaries of `PEERS` others at most; in a larger network it covers a range (default: 131072)", HideDefault: true, Validator: within(1, 1<<30)},
			&cli.IntFlag{Name: "memory", Destination: &cfg.Memory, Usage: "let each peer keep at most `BYTES` of others' summaries (default: 64 MiB)", HideDefault: true, Validator: within(testnet.MinMemory, 1<<40)},
			&cli.BoolFlag{Name: "no-share", Destination: &cfg.NoShare, Usage: "let every peer decode summaries for itself: slower, the same bytes and answers"},
			&cli.FloatFlag{Name: "churn", Destination: &cfg.Churn, Usage: "replace this `SHARE` of every collection each minute, as long as queries run; they are then spread over --minutes", HideDefault: true, Validator: within[float64](0, 1)},
			&cli.FloatFlag{Name: "adds", Destination: &cfg.Adds, Usage: "let every peer add `RATE` new keys a second while queries run, during --minutes, and others look for each at once", HideDefault: true, Validator: within[float64](0, testnet.MaxAdds)},
			&cli.FloatFlag{Name: "minutes", Destination: &cfg.Minutes, Usage: "`MINUTES` of --churn and --adds", Value: testnet.DefaultMinutes, Validator: above0(1e6)},
			&cli.IntFlag{Name: "faulty", Destination: &cfg.Faulty, Usage: "`NUMBER` of further peers that send garbage, wrong signatures, oversized lengths and false claims", HideDefault: true, Validator: within(0, workload.MaxPeers)},
			&cli.DurationFlag{Name: "timeout", Destination: &cfg.Timeout, Usage: "end the run after this `TIME`, and report what is known by then (default: no limit)", HideDefault: true, Validator: within(time.Millisecond, 1000*time.Hour)},
			&cli.StringFlag{Name: "strategy", Usage: "run these `NAMES`, separated by commas, one after the other, and print them side by side: " + strings.Join(systemNames(), ", "), HideDefault: true, Validator: parses(findSystems)},
			&cli.StringFlag{Name: "part", Usage: "run only part `I/N` of the peers here, I from 0 to N-1; the others run elsewhere", HideDefault: true, Validator: parses(runs.ParsePart)},
			&cli.StringFlag{Name: "at", Usage: "where the parts are: `HOST:PORT,…`, %d standing for a part's number", Value: testnet.DefaultAt},
			&cli.BoolFlag{Name: "json", Usage: "report as a JSON object"},
			&cli.StringFlag{Name: "out", Usage: outUsage, TakesFile: true},
			&cli.BoolFlag{Name: "hold", Usage: "keep the peers running after the report, until Ctrl-C"},
		}, slices.Concat(scenarioFlags(), viewFlags())...),
		Action: func(ctx context.Context, c *cli.Command) error { return runTestnet(ctx, c, *cfg) },
	}
}

func runTestnet(ctx context.Context, c *cli.Command, cfg testnet.Config) error {
	mix, err := link.ParseMix(c.String("links"))
	if err != nil {
		return usageError(err)
	}
	stderr := c.Root().ErrWriter
	show := newProgress(stderr, 0)
	var known atomic.Bool
	tell := func(p testnet.Progress) {
		s := stage{what: string(p.Phase), done: p.Done, total: p.Total}
		if p.Phase == testnet.Spreading && p.Done >= p.Total { // the rest of the phase is waiting, not summaries
			if known.CompareAndSwap(false, true) {
				show.update(s)
			}
			s = stage{what: "warm-up goes on"}
		}
		show.update(s)
	}
	printed := false
	if c.IsSet("scenario") {
		return playScenario(ctx, c, show, tell)
	}
	defer runs.GrowHeap(gcPercent(cfg.Peers, mix, cfg.Adds))()
	if c.Bool("against-simulator") {
		return usageError(errors.New("flag --against-simulator: goes with --scenario"))
	}
	if c.IsSet("out") {
		if err := canWrite(c.String("out")); err != nil {
			return err
		}
	}
	cfg.Links, cfg.Transport, cfg.Warmup, cfg.Progress = mix, testnet.Transport(c.String("transport")), warmup(c), tell
	if part := partOf(c); part.Of > 0 {
		cfg.Part = testnet.Part{Part: part, At: c.String("at")}
	}
	if names := c.String("strategy"); names != "" {
		return compareSystems(ctx, c, cfg, show, names)
	}
	ctx, abort := context.WithCancel(ctx)
	defer abort()
	seen, err := newTestnetView(ctx, c, abort)
	if err != nil {
		return err
	}
	if seen != nil {
		cfg.Observer = seen
		cfg.Progress = func(p testnet.Progress) { tell(p); seen.progress(p) }
	}
	if seen != nil || c.Bool("hold") {
		cfg.Hold = func(r *testnet.Report, all []testnet.Address) {
			if seen != nil {
				seen.report(r)
				defer seen.end() //nolint:errcheck // asked again below
			}
			if r.Interrupted != "" || !c.Bool("hold") && !c.IsSet("view") {
				return
			}
			show.end()
			err = showIndented(c, r, r.WriteText)
			printed = true
			hold(ctx, stderr, all, c.Bool("hold"))
		}
	}
	report, runErr := testnet.Run(ctx, cfg)
	show.end()
	if seen != nil {
		runErr = errors.Join(runErr, seen.end())
	}
	if runErr != nil {
		if errors.Is(runErr, testnet.ErrConfig) {
			return usageError(runErr)
		}
		return runErr
	}
	if report.Part != "" && report.Merged {
		printed = true // part 0 of the run prints the report
	}
	if !printed {
		err = showIndented(c, report, report.WriteText)
	}
	if err == nil && report.Interrupted != "" {
		return fmt.Errorf("testnet ended early: %s", report.Interrupted)
	}
	if err == nil && c.IsSet("out") && (report.Part == "" || !report.Merged) {
		err = writeTestnet(c, report)
	}
	return err
}

// hold prints the number of peers, and their addresses if list is set. Then it waits for the end of ctx.
func hold(ctx context.Context, w io.Writer, all []testnet.Address, list bool) {
	for _, a := range all {
		if list {
			fmt.Fprintf(w, "%s\t%s\t%s\n", a.Name, a.Class, a.Multiaddr)
		}
	}
	fmt.Fprintf(w, "%d peers of the network %q run until Ctrl-C\n", len(all), testnet.Network)
	<-ctx.Done()
}

// warmup returns the flag's value for a Config, in which 0 means the default and a negative value none.
func warmup(c *cli.Command) time.Duration {
	if d := c.Duration("warmup"); d > 0 || !c.IsSet("warmup") {
		return d
	}
	return -1
}

func within[T int | uint64 | float64 | time.Duration](low, high T) func(T) error {
	return func(v T) error {
		if v >= low && v <= high { // false for NaN
			return nil
		}
		return fmt.Errorf("want %v to %v", low, high)
	}
}

func atLeast[T int | time.Duration](low T) func(T) error {
	return func(v T) error {
		if v < low {
			return fmt.Errorf("want %v or more", low)
		}
		return nil
	}
}

func above0(most float64) func(float64) error {
	return func(v float64) error {
		if !(v > 0 && v <= most) {
			return fmt.Errorf("want above 0 and at most %v", most)
		}
		return nil
	}
}

// parses returns a function that checks that parse accepts the text of a flag.
func parses[T any](parse func(text string) (T, error)) func(string) error {
	return func(text string) error { _, err := parse(text); return err }
}
