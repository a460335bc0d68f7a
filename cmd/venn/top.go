package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/bounded"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/testnet/page"
)

func topCommand() *cli.Command {
	return &cli.Command{
		Name: "top", Usage: "show what the peer does, on a terminal, until q or Ctrl-C",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "every", Value: time.Second, Usage: "`TIME` between looks", Validator: within(100*time.Millisecond, time.Hour)},
			&cli.BoolFlag{Name: "once", Usage: "print it once, as text"},
			jsonFlag("once, as a JSON object: time, status, peers, neighbours, metrics"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			out, ok := c.Root().Writer.(*os.File)
			once := c.Bool("once") || c.Bool("json")
			if !once && (!ok || !term.IsTerminal(int(out.Fd()))) {
				return usageError(errors.New("top needs a terminal; --once prints it once, venn status --json is for programs"))
			}
			return onDaemon(func(ctx context.Context, c *cli.Command, cl *client) error {
				if once {
					now, err := lookOnce(ctx, cl)
					if err != nil {
						return ended(ctx, err)
					}
					return show(c, now, func(w io.Writer) error { return writeTop(w, now, moment{}, wide, math.MaxInt) })
				}
				ctx, restore, err := untilKey(ctx, c.Root().Reader)
				if err != nil {
					return err
				}
				defer restore()
				return drawTop(ctx, cl, out, c.Duration("every"))
			})(ctx, c)
		},
	}
}

// untilKey returns a context that ends when q or Ctrl-C is pressed on a terminal, which is raw until restore is called.
func untilKey(ctx context.Context, in io.Reader) (_ context.Context, restore func(), err error) {
	ctx, end := context.WithCancel(ctx)
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return ctx, end, nil
	}
	was, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		end()
		return ctx, nil, err
	}
	go func() { // ends at one of the keys, or with the program
		defer end()
		const ctrlC = 3
		for key := []byte{0}; key[0] != 'q' && key[0] != ctrlC; {
			if _, err := f.Read(key); err != nil {
				return
			}
		}
	}()
	return ctx, func() { end(); _ = term.Restore(int(f.Fd()), was) }, nil
}

// drawTop shows moments on a terminal until ctx ends. Lines end with \r\n, as a raw terminal needs.
func drawTop(ctx context.Context, cl *client, out *os.File, every time.Duration) error {
	for before := (moment{}); ; {
		now, err := lookOnce(ctx, cl)
		if err != nil {
			return ended(ctx, err)
		}
		width, height := page.Size(out)
		var b bytes.Buffer
		_ = writeTop(page.Wide(&b, width), now, before, width, height) // cannot fail: it writes into memory
		lines := strings.SplitAfter(b.String(), "\n")
		fmt.Fprint(out, "\x1b[H\x1b[2J", strings.ReplaceAll(strings.Join(lines[:min(len(lines), height-1)], ""), "\n", "\r\n"))
		before = now
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// ended returns err, or nil when ctx was ended, by Ctrl-C.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// moment is the daemon's state at one time.
type moment struct {
	At      time.Time          `json:"time"`
	Status  httpapi.Status     `json:"status"`
	Peers   []httpapi.Peer     `json:"peers"`
	Kinds   map[string]string  `json:"neighbours"` // kinds of neighbours, by their ids
	Metrics map[string]float64 `json:"metrics"`
}

// lookOnce asks the daemon for its status, peers, neighbours and metrics.
func lookOnce(ctx context.Context, cl *client) (m moment, err error) {
	m.At = time.Now()
	if m.Status, err = get[httpapi.Status](ctx, cl, "status", nil); err != nil {
		return m, err
	}
	if m.Peers, err = get[[]httpapi.Peer](ctx, cl, "peers", nil); err != nil {
		return m, err
	}
	neighbours, err := get[[]node.Neighbour](ctx, cl, "neighbours", nil)
	if err != nil {
		return m, err
	}
	m.Kinds = make(map[string]string)
	for _, n := range neighbours {
		m.Kinds[n.Peer.String()] = n.Kind
	}
	body, err := cl.do(ctx, "GET", "/debug/metrics/prometheus", nil, nil)
	if err != nil {
		return m, err
	}
	defer func() { _ = body.Close() }()
	m.Metrics, err = sums(body)
	return m, err
}

// sums adds up metrics over their labels, except the direction, which it adds to the name. It counts the budget of the
// line, but not the budgets of links.
func sums(r io.Reader) (map[string]float64, error) {
	out := make(map[string]float64)
	err := bounded.Lines("metrics", r, func(_ int, line []byte) error {
		text := string(line)
		i := strings.LastIndexByte(text, ' ')
		if i < 0 || strings.HasPrefix(text, "#") {
			return nil
		}
		name, value := text[:i], text[i+1:]
		name, labels, _ := strings.Cut(name, "{")
		if strings.Contains(labels, `of="links"`) {
			return nil
		}
		for _, d := range []string{"sent", "received"} {
			if strings.Contains(labels, `direction="`+d+`"`) {
				name += " " + d
			}
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] += v
		}
		return nil
	})
	return out, err
}

// wide is the width of the table of peers with whole ids, in characters.
const wide = 130

// writeTop writes a moment, with the changes a second since the one before, and at most this number of peers. A narrow
// terminal gets the ends of their ids.
func writeTop(w io.Writer, now, before moment, width, peers int) error {
	s := now.Status
	rate := func(name string) string {
		if before.At.IsZero() {
			return "–"
		}
		return fmt.Sprintf("%.1f", (now.Metrics[name]-before.Metrics[name])/now.At.Sub(before.At).Seconds())
	}
	fmt.Fprintf(w, "%s  %s  %s\n\n", s.ID, keyCount(s.Keys), now.At.Format("15:04:05"))
	fmt.Fprintf(w, "linked peers  %-6d connections  %-6d summaries held  %d, %d bytes\n", s.Links, s.Connections, s.Origins, s.BytesHeld)
	fmt.Fprintf(w, "queries a second  %-8s messages a second  %-8s expected false matches  %.3g\n", rate("venn_queries_total"), rate("venn_query_messages_total"), s.FalseMatches)
	for _, way := range []string{"sent", "received"} {
		used, may := "venn_budget_used_bytes_total "+way, now.Metrics["venn_budget_bytes_per_second "+way]
		fmt.Fprintf(w, "summaries %-9s %-10s bytes a second, of %.0f that the line may; %.0f so far\n", way, rate(used), may, now.Metrics[used])
	}
	fmt.Fprintln(w)
	list := slices.Clone(now.Peers)
	states := []string{"linked", "connected", "known"}
	slices.SortStableFunc(list, func(a, b httpapi.Peer) int {
		return cmp.Or(slices.Index(states, peerState(a))-slices.Index(states, peerState(b)), cmp.Compare(b.Bytes, a.Bytes))
	})
	list = list[:min(len(list), peers)]
	return tableOf(w, "PEER|STATE|CHOSEN BY|ROUND TRIP|KEYS|SUMMARY BYTES|FALSE POSITIVES", list, func(p httpapi.Peer) []any {
		id := p.ID
		if width < wide {
			id = "…" + id[max(0, len(id)-8):]
		}
		return []any{id, peerState(p), cmp.Or(now.Kinds[p.ID], "-"), roundTrip(p), p.Keys, p.Bytes, fmt.Sprintf("%.2g", p.Rate)}
	})
}
