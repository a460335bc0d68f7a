package command

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/page"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// override is a flag that sets a key of scenarios.
type override struct {
	flag cli.Flag
	key  string
}

// overrides returns new flags for all keys. Flags hold their values, so every command needs its own.
func overrides() []override {
	return []override{
		{&cli.IntFlag{Name: "peers", Usage: "`NUMBER` of peers; of a sweep over them, the most", HideDefault: true}, "peers"},
		{&cli.IntFlag{Name: "keys", Usage: "`NUMBER` of keys of every peer, for made-up collections", HideDefault: true}, "collections.keys"},
		{&cli.StringFlag{Name: "data", Usage: "collections: \"clusters\" makes them up, \"debian\", or a .tsv table or folder `PATH`"}, "collections.data"},
		{&cli.IntFlag{Name: "queries", Usage: "`NUMBER` of queries of every run", HideDefault: true}, "queries.number"},
		{&cli.StringFlag{Name: "queries-like", Usage: "draw queries by `RULE`: " + strings.Join(holdings.Rules, ", ") + ", or replay a CSV of seconds, peers and keys"}, "queries.rule"},
		{&cli.DurationFlag{Name: "asking", Usage: "`TIME` over which the queries are spread", HideDefault: true}, "asking"},
		{&cli.DurationFlag{Name: "warmup", Usage: "`TIME` before the first query", HideDefault: true}, "warmup"},
		{&cli.DurationFlag{Name: "patience", Usage: "`TIME` that a query may take", HideDefault: true}, "patience"},
		{&cli.BoolFlag{Name: "all", Usage: "queries want every holder, not one"}, "all"},
		{&cli.StringFlag{Name: "topology", Usage: "`KIND` of first links: random, small-world, power-law or star"}, "links.kind"},
		{&cli.StringFlag{Name: "links", Usage: "lines of the peers as `RATE:WEIGHT,…`: with 10mbit:3,1mbit:1 three of four have 10 Mbit/s"}, "lines"},
		{&cli.BoolFlag{Name: "free", Usage: "all may send for upkeep as much as they like, not only what the scenario's upkeep_as sends"}, "upkeep_as"},
		{&cli.BoolFlag{Name: "split", Usage: "run although the links at the start do not connect all peers"}, "links.whole"},
	}
}

// Flags returns the flags that set keys of scenarios in place of their files.
func Flags() []cli.Flag {
	out := []cli.Flag{
		&cli.StringSliceFlag{Name: "sweep", Usage: "`NAME=VALUE,VALUE…` to vary, in place of the scenario's sweep; again for a grid"},
		&cli.StringSliceFlag{Name: "fix", Usage: "`NAME=VALUE[,NAME=VALUE…]` of what a sweep can vary, for all runs"},
	}
	for _, o := range overrides() {
		out = append(out, o.flag)
	}
	return out
}

// Sweeps returns the sweeps of the command line, as NAME=VALUES. The parser splits flags at commas, which also
// separate the values of a sweep; Sweeps joins these again.
func Sweeps(c *cli.Command) (sweeps []string) {
	for _, item := range c.StringSlice("sweep") {
		if last := len(sweeps) - 1; last >= 0 && !strings.Contains(item, "=") {
			sweeps[last] += "," + item
			continue
		}
		sweeps = append(sweeps, item)
	}
	return sweeps
}

// SweepHelp returns a help text with the variables of scenarios, and the defaults of the strategies' parameters.
func SweepHelp(of []strategy.Strategy) string {
	var b strings.Builder
	var rows [][]string
	for _, v := range scenario.Variables(of) {
		rows = append(rows, []string{"   scenarios", v.Name, v.Unit})
	}
	for _, s := range of {
		for _, p := range s.Parameters {
			rows = append(rows, []string{"   " + s.Name, p.Name, "if not set: " + p.Default})
		}
	}
	_ = page.Table(&b, page.Left, rows...) // cannot fail: it writes into memory
	return b.String()
}

// Override returns a scenario with the flags' values in place of its file's. s.Strategies must be set before, to
// names of known strategies.
func Override(c *cli.Command, s *scenario.Scenario, known []strategy.Strategy) (*scenario.Scenario, error) {
	chosen, err := strategy.Find(known, s.Strategies...)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	variables := scenario.Variables(chosen)
	var fixed, sweeps []scenario.Setting
	for _, o := range overrides() {
		setting, err := o.setting(c)
		if err != nil {
			return nil, err
		}
		if len(setting.Values) > 0 {
			fixed = append(fixed, setting)
		}
	}
	for _, text := range c.StringSlice("fix") {
		setting, err := scenario.ParseSetting(variables, text)
		if err != nil {
			return nil, err
		}
		fixed = append(fixed, setting)
	}
	for _, text := range Sweeps(c) {
		setting, err := scenario.ParseSetting(variables, text)
		if err != nil {
			return nil, err
		}
		if err := heeded(setting.Key, chosen); err != nil {
			return nil, err
		}
		sweeps = append(sweeps, setting)
	}
	if c.IsSet("sweep") && len(sweeps) == 0 {
		return nil, errors.New("flag --sweep: has no points")
	}
	if i := slices.IndexFunc(fixed, func(f scenario.Setting) bool { return f.Key == "peers" }); i >= 0 && len(sweeps) == 0 && s.Varies("peers") {
		most, _ := fixed[i].Values[0].(int64)
		values := sizes(int(most))
		if c.IsSet("record") { // a recording is of one run
			values = values[len(values)-1:]
		}
		sweeps = s.SweptBy("peers", values)
		fixed = slices.Delete(fixed, i, i+1)
	}
	out, err := s.With(fixed, sweeps)
	if err != nil {
		return nil, err
	}
	out.Strategies, out.Trials, out.Seed = s.Strategies, s.Trials, s.Seed
	return out, nil
}

// setting returns the setting of a flag. It has no values if the flag is not set.
func (o override) setting(c *cli.Command) (out scenario.Setting, err error) {
	name := o.flag.Names()[0]
	if !c.IsSet(name) {
		return out, nil
	}
	out.Key = o.key
	var value any
	switch x := c.Value(name).(type) {
	case int:
		if value = int64(x); x < 1 {
			err = fmt.Errorf("flag --%s: want 1 or more", name)
		}
	case time.Duration:
		if value = x.String(); x <= 0 {
			err = fmt.Errorf("flag --%s: want more than 0", name)
		}
	case bool:
		value = map[string]any{"all": x, "free": "", "split": !x}[name]
	case string:
		value = x
		switch name {
		case "links":
			value, err = lines(x)
		case "data":
			if x != scenario.Clusters && x != scenario.Debian {
				value, err = filepath.Abs(x)
			}
		case "queries-like":
			if holdings.CheckRule(x) != nil {
				out.Key = "queries.log"
				value, err = filepath.Abs(x)
			}
		}
	}
	out.Values = []any{value}
	return out, err
}

// lines returns the classes of lines in the value of flag links.
func lines(text string) (out []map[string]any, err error) {
	mix, err := link.ParseMix(text)
	for _, class := range mix {
		rate := fmt.Sprintf("%dbit", class.Rate)
		out = append(out, map[string]any{"name": class.Name, "share": float64(class.Weight), "up": rate, "down": rate})
	}
	return out, err
}

// sizes returns numbers of peers for a sweep: three for each factor of ten from 100 up, and most as the last.
func sizes(most int) (out []any) {
	const least = 100.0
	for exact := least; ; exact *= math.Cbrt(10) {
		x := math.Round(exact/least) * least
		if x >= float64(most) {
			return append(out, int64(most))
		}
		out = append(out, int64(x))
	}
}

// heeded returns an error if a strategy ignores a setting that is to be swept: its rows would all be the same.
func heeded(key string, of []strategy.Strategy) error {
	name, isParameter := strings.CutPrefix(key, "parameters.")
	var heed, ignore []string
	for _, s := range of {
		if isParameter && !s.Heeds(name) || key == "links.degree" && s.Connects {
			ignore = append(ignore, s.Name)
		} else {
			heed = append(heed, s.Name)
		}
	}
	name = strings.TrimPrefix(name, "links.")
	switch {
	case len(ignore) == 0:
		return nil
	case len(heed) == 0:
		return fmt.Errorf("sweep over %s, which %s ignore", name, strings.Join(ignore, ", "))
	}
	return fmt.Errorf("sweep over %s, which %s ignore: name strategies that do not, as %s", name, strings.Join(ignore, ", "), strings.Join(heed, ", "))
}
