package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	"github.com/venn-p2p/venn/node/httpapi"
)

func topCommand() *cli.Command {
	return &cli.Command{
		Name: "top", Usage: "show what the peer does, on a terminal, until Ctrl-C",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "every", Value: time.Second, Usage: "`TIME` between looks", Validator: within(100*time.Millisecond, time.Hour)},
			&cli.BoolFlag{Name: "once", Usage: "print it once, as text"},
			jsonFlag("once, as a JSON object: time, status, peers, neighbours, metrics"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			out, ok := c.Root().Writer.(*os.File)
			once := c.Bool("once") || c.Bool("json")
			if !once && (!ok || !term.IsTerminal(int(out.Fd()))) {
				return usageError{errors.New("top needs a terminal; --once prints it once, venn status --json is for programs")}
			}
			cl, err := newClient(c)
			if err != nil {
				return err
			}
			before := moment{}
			for {
				now, err := lookOnce(ctx, cl)
				if err != nil {
					return ended(ctx, err)
				}
				if once {
					return show(c, now, func(w io.Writer) error { return writeTop(w, now, before, wide, 1000) })
				}
				width, height, err := term.GetSize(int(out.Fd()))
				if err != nil {
					width, height = 80, 24
				}
				var b bytes.Buffer
				_ = writeTop(&b, now, before, width, height-10) // into memory
				fmt.Fprint(out, "\x1b[H\x1b[2J", clip(b.String(), width))
				before = now
				select {
				case <-ctx.Done():
					return nil
				case <-time.After(c.Duration("every")):
				}
			}
		},
	}
}

// ended is an error, except that of a context that Ctrl-C ended.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// clip cuts lines to a width.
func clip(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if r := []rune(strings.TrimSuffix(line, "\n")); len(r) > width {
			line = string(r[:width]) + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// moment is what the daemon said at one time.
type moment struct {
	At      time.Time          `json:"time"`
	Status  httpapi.Status     `json:"status"`
	Peers   []httpapi.Peer     `json:"peers"`
	Kinds   map[string]string  `json:"neighbours"` // by their ids: what they were chosen by
	Metrics map[string]float64 `json:"metrics"`
}

func lookOnce(ctx context.Context, cl *client) (m moment, err error) {
	m.At = time.Now()
	var neighbours []httpapi.Neighbour
	if err = cl.get(ctx, "/api/v1/status", nil, &m.Status); err == nil {
		err = errors.Join(cl.get(ctx, "/api/v1/peers", nil, &m.Peers), cl.get(ctx, "/api/v1/neighbours", nil, &neighbours))
	}
	if err != nil {
		return m, err
	}
	m.Kinds = make(map[string]string)
	for _, n := range neighbours {
		m.Kinds[n.ID] = n.Kind
	}
	body, err := cl.do(ctx, "GET", "/debug/metrics/prometheus", nil, nil)
	if err != nil {
		return m, err
	}
	defer func() { _ = body.Close() }()
	m.Metrics, err = sums(body)
	return m, err
}

// sums adds up metrics over their labels, except the direction, which stays with the name. Of budgets it takes those of
// the line.
func sums(r io.Reader) (map[string]float64, error) {
	out := make(map[string]float64)
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		i := strings.LastIndexByte(in.Text(), ' ')
		if i < 0 || strings.HasPrefix(in.Text(), "#") {
			continue
		}
		name, value := in.Text()[:i], in.Text()[i+1:]
		name, labels, _ := strings.Cut(name, "{")
		if strings.Contains(labels, `of="links"`) {
			continue
		}
		for _, d := range []string{"sent", "received"} {
			if strings.Contains(labels, `direction="`+d+`"`) {
				name += " " + d
			}
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			out[name] += v
		}
	}
	return out, in.Err()
}

// wide is how many characters the table of peers takes with whole ids.
const wide = 130

// writeTop writes a moment, with what changed a second since the one before, and that many peers at most. A narrow
// terminal gets the ends of their ids.
func writeTop(w io.Writer, now, before moment, width, peers int) error {
	s := now.Status
	rate := func(name string) string {
		if before.At.IsZero() {
			return "–"
		}
		return fmt.Sprintf("%.1f", (now.Metrics[name]-before.Metrics[name])/now.At.Sub(before.At).Seconds())
	}
	fmt.Fprintf(w, "%s  %d keys  %s\n\n", s.ID, s.Keys, now.At.Format("15:04:05"))
	fmt.Fprintf(w, "linked peers  %-6d connections  %-6d summaries held  %d, %d bytes\n", s.Peers, s.Connections, s.Summaries, s.SummaryBytes)
	fmt.Fprintf(w, "queries a second  %-8s messages a second  %-8s expected false matches  %.3g\n", rate("venn_queries_total"), rate("venn_query_messages_total"), s.FalseMatches)
	for _, way := range []string{"sent", "received"} {
		used, may := "venn_budget_used_bytes_total "+way, now.Metrics["venn_budget_bytes_per_second "+way]
		fmt.Fprintf(w, "summaries %-9s %-10s bytes a second, of %.0f that the line may; %.0f so far\n", way, rate(used), may, now.Metrics[used])
	}
	fmt.Fprintln(w)
	list := slices.Clone(now.Peers)
	slices.SortStableFunc(list, func(a, b httpapi.Peer) int {
		return cmp.Or(-compareBool(a.Linked, b.Linked), -compareBool(a.Connected, b.Connected), cmp.Compare(b.Bytes, a.Bytes))
	})
	rows := make([][]string, 0, max(0, min(len(list), peers)))
	for _, p := range list[:max(0, min(len(list), peers))] {
		id := p.ID
		if width < wide {
			id = "…" + id[max(0, len(id)-8):]
		}
		rows = append(rows, []string{id, peerState(p), cmp.Or(now.Kinds[p.ID], "-"), roundTrip(p), strconv.Itoa(p.Keys), strconv.Itoa(p.Bytes), fmt.Sprintf("%.2g", p.Rate)})
	}
	return table(w, "PEER|STATE|CHOSEN BY|ROUND TRIP|KEYS|SUMMARY BYTES|FALSE POSITIVES", rows)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
