package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/cmd/venn/view"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/command"
)

// anyPort is the default address of a view: a free port on loopback.
const anyPort = "127.0.0.1:0"

// optional is the value of a flag that may stand alone or have a value after "=".
type optional struct{ text string }

// Set takes the text from the command line.
func (o *optional) Set(text string) error { o.text = text; return nil }
func (o *optional) String() string        { return o.text }
func (o *optional) Get() any              { return o.text }

// IsBoolFlag lets the flag stand alone.
func (o *optional) IsBoolFlag() bool { return true }

func viewFlags() []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "view", Value: &optional{}, Usage: "show the run in a browser, at `ADDR` if given (default 127.0.0.1 and a free port), and keep the peers running until Ctrl-C; whoever reaches ADDR may ask peers for keys and change their keys", HideDefault: true},
		&cli.StringFlag{Name: "record", Usage: "record the run in `FILE`, for venn view", TakesFile: true},
	}
}

// viewAddress returns the address for --view to serve on; "": none. The address may stand after "=" or be an argument.
func viewAddress(c *cli.Command) string {
	if !c.IsSet("view") {
		return ""
	}
	if addr := c.Value("view"); addr != command.FlagAlone {
		return cmp.Or(addr.(string), anyPort)
	}
	return cmp.Or(c.Args().First(), anyPort)
}

// testnetView shows and records a run.
type testnetView struct {
	feed  *view.Feed
	watch *view.Watch
	ctx   context.Context // context of the watch, which outlives the run's
	stop  context.CancelFunc
	done  sync.WaitGroup
	name  string    // file name of the recording; empty: there is no recording
	file  *os.File  // file of the recording, once that has begun
	begun sync.Once // lets the recording begin once
	abort func()    // ends the run

	mu      sync.Mutex
	numbers map[int]int        // numbers of peers in the view, by their numbers in the testnet
	changes map[int]changeFunc // functions that change a peer's keys, by its number in the view
	held    atomic.Bool        // the report is shown: keys may be changed
	failed  error              // error of the recording
	ended   sync.Once
}

type changeFunc func(ctx context.Context, add, remove int) (added, removed int, err error)

// newTestnetView begins to serve a run as the flags ask, and will record it; it returns nil if they ask for neither.
func newTestnetView(ctx context.Context, c *cli.Command, abort func()) (*testnetView, error) {
	addr := viewAddress(c)
	if addr == "" && c.String("record") == "" {
		return nil, nil
	}
	v := &testnetView{
		name: c.String("record"), abort: abort,
		feed:    view.NewFeed(view.Header{Source: "testnet", Network: testnet.Network, Program: buildVersion().Version}, 0),
		numbers: make(map[int]int), changes: make(map[int]changeFunc),
	}
	v.watch = view.NewWatch(v.feed, false)
	v.ctx, v.stop = context.WithCancel(context.WithoutCancel(ctx))
	if addr != "" {
		cfg := view.Config{Source: v.feed, Ask: v.watch.Ask, Change: v.change}
		if err := serveView(v.ctx, "--view", addr, cfg, c.Root().ErrWriter, &v.done); err != nil {
			return nil, errors.Join(err, v.end())
		}
	}
	v.done.Go(func() { v.watch.Run(v.ctx) })
	return v, nil
}

// record begins the recording, once the first peer runs: a run that is refused overwrites nothing. It ends the run if
// the file cannot be written.
func (v *testnetView) record() {
	if v.name == "" {
		return
	}
	if v.file, v.failed = repo.Create(v.name); v.failed != nil {
		v.abort()
		return
	}
	v.done.Go(func() { v.failed = view.Record(context.Background(), v.feed, v.file) })
}

// serveView serves at a flag's address until ctx ends, and prints the URL.
func serveView(ctx context.Context, flag, addr string, cfg view.Config, w io.Writer, done *sync.WaitGroup) error {
	host, _, _ := net.SplitHostPort(addr) // Listen reports an error in it
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	done.Go(func() { _ = httpapi.Serve(ctx, l, httpapi.Guard(view.Handler(cfg), host)) })
	fmt.Fprintf(w, "look at %s\n", httpapi.URL(l))
	return nil
}

// Started watches a peer. The first call begins the recording.
func (v *testnetView) Started(r testnet.Running) {
	v.begun.Do(v.record)
	group, _, _ := strings.Cut(r.Name, "-")
	if group == r.Name {
		group = ""
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	n := v.watch.Add(v.ctx, view.Peer{Name: r.Name, Group: group, Class: r.Class, Rate: r.Rate}, r.Node)
	v.numbers[r.Number], v.changes[n] = n, r.Change
}

// Answered shows a query.
func (v *testnetView) Answered(a testnet.Answered) {
	v.mu.Lock()
	n := v.numbers[a.Asker]
	v.mu.Unlock()
	v.watch.Answered(n, a.Key, a.All, a.Found, a.Stats, a.Err)
}

// progress shows the progress of the run.
func (v *testnetView) progress(p testnet.Progress) {
	v.feed.Publish(view.Phase{Phase: string(p.Phase), Done: p.Done, Total: p.Total})
}

// report looks at all peers a last time and shows the report. From then on keys can be changed.
func (v *testnetView) report(r *testnet.Report) {
	v.watch.Now(v.ctx)
	if text, err := json.Marshal(r); err == nil {
		v.feed.Publish(view.Report{Report: text})
	}
	v.held.Store(true)
}

// change adds keys to a peer and removes some. It returns an error until the report is shown.
func (v *testnetView) change(ctx context.Context, peer, add, remove int) (added, removed int, err error) {
	if !v.held.Load() {
		return 0, 0, view.ErrNotNow
	}
	v.mu.Lock()
	change, ok := v.changes[peer]
	v.mu.Unlock()
	if !ok {
		return 0, 0, fmt.Errorf("peer %d does not run here", peer)
	}
	return change(ctx, add, remove)
}

// end closes what newTestnetView opened, and returns the error of the recording. It may be called again.
func (v *testnetView) end() error {
	v.ended.Do(func() {
		v.stop()
		v.feed.Close()
		v.done.Wait()
		if v.file != nil {
			v.failed = errors.Join(v.failed, v.file.Close())
		}
	})
	return v.failed
}

func viewCommand() *cli.Command {
	return &cli.Command{
		Name: "view", Usage: "show a recorded run in a browser, until Ctrl-C", ArgsUsage: "FILE",
		Description: "FILE comes from venn testnet --record or venn experiment run scale --record. Its lines are JSON objects, described in package cmd/venn/view.",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "listen", Value: anyPort, Usage: "serve the page at `ADDR`, a host and a port; port 0 is any that is free"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			r, err := view.Open(c.Args().First())
			if err != nil {
				return err
			}
			if r.Cut {
				fmt.Fprintf(c.Root().ErrWriter, "venn: %s is cut in its last line, which is left out\n", c.Args().First())
			}
			var done sync.WaitGroup
			if err := serveView(ctx, "--listen", c.String("listen"), view.Config{Source: r}, c.Root().ErrWriter, &done); err != nil {
				return err
			}
			<-ctx.Done()
			done.Wait()
			return nil
		},
	}
}
