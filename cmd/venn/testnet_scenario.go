package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/command"
	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// scenarioFlags returns the flags for playing a scenario on real hosts.
func scenarioFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "scenario", Usage: "play the scenario of `FILE`, in as much time as it takes; `venn experiment scenario` says what that is"},
		&cli.BoolFlag{Name: "against-simulator", Usage: "with --scenario: play it in the simulator too, and say how far the two are apart"},
	}
}

// playScenario plays a scenario on real hosts.
func playScenario(ctx context.Context, c *cli.Command, show *progress, tell func(testnet.Progress)) error {
	if err := only(c, "testnet --scenario", "scenario", "against-simulator", "strategy", "seed", "json", "timeout"); err != nil {
		return err
	}
	of, err := command.Scenarios([]string{c.String("scenario")}, nil)
	if err != nil {
		return err
	}
	for _, s := range of { // several if the scenario has a sweep
		if c.IsSet("seed") {
			s.Seed = c.Uint64("seed")
		}
		if c.IsSet("strategy") {
			s.Strategies = strings.Split(c.String("strategy"), ",")
		}
	}
	if d := c.Duration("timeout"); d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d)
		defer cancel()
	}
	restore := func() {}
	result, err := command.OnHosts(ctx, of, strategies.Named(), c.Bool("against-simulator"), func(p *scenario.Plan, _ strategy.Strategy) {
		restore()
		restore = runs.GrowHeap(scenarioPercent(p))
	}, tell)
	restore()
	show.end()
	if errors.Is(err, testnet.ErrConfig) {
		return usageError(err)
	}
	if isUsage(err) || err != nil && len(result.Runs) == 0 {
		return err
	}
	if writeErr := command.WriteScenarios(output(c), of, result, c.Bool("json")); writeErr != nil {
		return writeErr
	}
	if err != nil {
		return fmt.Errorf("testnet ended early: %w", err)
	}
	if c.Bool("against-simulator") && !c.Bool("json") {
		return command.WriteApart(output(c), result.Runs)
	}
	return nil
}

// scenarioPercent returns gcPercent for a scenario's peers and the sending rates of their lines.
func scenarioPercent(p *scenario.Plan) int {
	var sending link.Mix
	for _, l := range p.Lines {
		sending = append(sending, link.Class{Name: l.Name, Rate: uint64(l.Up), Weight: 1})
	}
	return gcPercent(p.Data.Peers(), sending, 0)
}
