package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/dht"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy/kademlia"
	ours "github.com/venn-p2p/venn/testnet/strategy/venn"
)

// systems returns the systems that venn testnet can compare: real venn, two kinds of real Kademlia, and the strategies
// other than venn and Kademlia.
func systems() []testnet.System {
	all := []testnet.System{testnet.VennSystem()}
	for _, s := range strategies.All() {
		if s.Name != ours.Strategy.Name && s.Name != kademlia.Strategy.Name {
			all = append(all, testnet.StrategySystem(s))
		}
	}
	return append(all, dht.Kademlia(), dht.Classic())
}

func systemNames() []string {
	var names []string
	for _, s := range systems() {
		names = append(names, s.Name)
	}
	return names
}

// findSystems picks systems by their names, separated by commas.
func findSystems(names string) ([]testnet.System, error) {
	all := systems()
	var out []testnet.System
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(s testnet.System) bool { return s.Name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("unknown strategy %q: there are %s", name, strings.Join(systemNames(), ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

// compareSystems runs systems side by side.
func compareSystems(ctx context.Context, c *cli.Command, cfg testnet.Config, show *progress, names string) error {
	chosen, err := findSystems(names)
	if err != nil {
		return usageError(err)
	}
	if c.Bool("hold") || c.IsSet("view") || c.IsSet("record") || cfg.Churn > 0 || cfg.Adds > 0 || cfg.Faulty > 0 {
		return usageError(errors.New("--strategy compares: it goes with none of --hold, --view, --record, --churn, --adds and --faulty"))
	}
	report, err := testnet.Compare(ctx, cfg, chosen...)
	show.end()
	if errors.Is(err, testnet.ErrConfig) {
		return usageError(err)
	}
	if report == nil {
		return err
	}
	if werr := showIndented(c, report, report.WriteText); err == nil {
		err = werr
	}
	if err == nil && report.Stopped != "" {
		return fmt.Errorf("comparison ended early: %s", report.Stopped)
	}
	if err == nil && c.IsSet("out") {
		err = writeSystems(c, report)
	}
	return err
}
