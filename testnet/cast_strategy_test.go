package testnet

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/venn-p2p/venn/testnet/page"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/oracle"
	"github.com/venn-p2p/venn/testnet/strategy/planetp"
	"github.com/venn-p2p/venn/testnet/strategy/randomwalk"
)

// Strategies run on few hosts, at a cost that follows from what they are. Those that need no time to settle find what is
// there.
func TestStrategySystem(t *testing.T) {
	for _, c := range []struct {
		strategy    strategy.Strategy
		least, most float64 // messages to find one
		announces   bool
		recall      float64
	}{
		{flooding.Strategy, 5, 60, false, 1},      // over every link, and back
		{randomwalk.Strategy, 32, 2000, false, 1}, // of 32 walkers
		{planetp.Strategy, 0, 8, true, 0},
		{oracle.Strategy, 2, 2, false, 1}, // who holds it
	} {
		t.Run(c.strategy.Name, func(t *testing.T) {
			cfg := patient(few(TCP))
			cfg.Peers, cfg.Queries, cfg.Warmup = 8, 10, 2*time.Second
			if c.recall > 0 { // it comes to rest, and is waited for
				cfg.Warmup = time.Minute
			}
			got, err := Compare(t.Context(), cfg, StrategySystem(c.strategy))
			if err != nil {
				t.Fatal(err)
			}
			checkComparison(t, got)
			r := got.Rows[0]
			if !r.Padded || r.Announced != got.Holdings || r.JoinBytes <= 0 || r.HostBytes <= 0 {
				t.Errorf("%+v", r)
			}
			if c.announces != (r.AnnounceBytes > 0) || c.announces != (r.AnnounceMessages > 0) {
				t.Errorf("announced at %v bytes and %v messages", r.AnnounceBytes, r.AnnounceMessages)
			}
			if m := r.FindOne.Messages; m < c.least || m > c.most {
				t.Errorf("%v messages to find one, want %v to %v", m, c.least, c.most)
			}
			for _, f := range []FindStats{r.FindOne, r.FindAll} {
				if f.Queries != cfg.Queries || f.Wrong > 0 || f.Recall < c.recall || f.P50 <= 0 || f.Bytes < 4*f.Messages {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

// checkComparison holds the table to 100 columns.
func checkComparison(t *testing.T, c *Comparison) {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteText(page.Wide(&b, 100)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("a line of %d columns: %q", n, line)
		}
	}
	for _, r := range c.Rows {
		if strings.Count(b.String(), "\n  "+r.System) < 2 {
			t.Errorf("%s isn't in\n%s", r.System, b.String())
		}
	}
}

// A strategy that can't go on ends the comparison, which says why and what it knows.
func TestStrategySystemBreaks(t *testing.T) {
	flood := strategy.Strategy{Name: "flood", Open: func(strategy.World) (strategy.Factory, error) {
		return func(h strategy.Host) strategy.Peer { return endless{h} }, nil
	}}
	c, err := Compare(t.Context(), few(TCP), StrategySystem(oracle.Strategy), StrategySystem(flood))
	if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "flood") || c == nil || len(c.Rows) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

type endless struct{ host strategy.Host }

func (e endless) Step(_ time.Duration, in strategy.Input) {
	if s, ok := in.(strategy.Started); ok {
		for range 1 << 16 {
			e.host.Send(e.host.Links()[0], strategy.Message{Query: s.Query.ID})
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of   []time.Duration
		want time.Duration
	}{{nil, 0}, {[]time.Duration{5}, 5}, {[]time.Duration{0, 3, 1}, 3}, {[]time.Duration{0, 3, 0}, 0}} {
		if got := median(c.of); got != c.want {
			t.Errorf("median of %v is %v", c.of, got)
		}
	}
}

// A comparison that is stopped while a strategy's queries run says so, and leaves nothing behind.
func TestStrategySystemStops(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	cfg := few(TCP)
	cfg.Progress = func(p Progress) {
		if p.Phase == Querying {
			cancel(errors.New("enough"))
		}
	}
	c, err := Compare(ctx, cfg, StrategySystem(randomwalk.Strategy), StrategySystem(oracle.Strategy))
	if err != nil || c.Stopped != "enough" || len(c.Rows) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}
