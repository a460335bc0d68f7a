package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/node/httpapi"
)

func disconnectCommand() *cli.Command {
	return &cli.Command{
		Name: "disconnect", Usage: "close the connections to peers; either side may choose the other again", ArgsUsage: "PEER…",
		Flags:  []cli.Flag{jsonFlag("a JSON object a line: disconnected")},
		Action: ofPeers(eachPeer("/api/v1/disconnect", "disconnected from", "disconnected")),
	}
}

func pingCommand() *cli.Command {
	return &cli.Command{
		Name: "ping", Usage: "measure round trips to peers", ArgsUsage: "PEER…",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "count", Value: 3, Usage: "`NUMBER` of round trips to each, one a second", Validator: within(1, 1_000_000)},
			jsonFlag("a JSON object a line: peer, rtt_ms"),
		},
		Action: ofPeers(func(ctx context.Context, c *cli.Command) error {
			for _, id := range c.Args().Slice() {
				for i := range c.Int("count") {
					if i > 0 {
						select {
						case <-ctx.Done():
							return ctx.Err()
						case <-time.After(time.Second):
						}
					}
					if err := ping(ctx, c, id); err != nil {
						return err
					}
				}
			}
			return nil
		}),
	}
}

// ping shows the time of one round trip, after the peer's id if the command names several peers.
func ping(ctx context.Context, c *cli.Command, id string) error {
	return ask(ctx, c, http.MethodGet, "/api/v1/ping", url.Values{"peer": {id}}, func(w io.Writer, p httpapi.Ping) error {
		if c.Args().Len() > 1 {
			fmt.Fprintf(w, "%s  ", p.Peer)
		}
		_, err := fmt.Fprintf(w, "%.2f ms\n", p.RTT)
		return err
	})
}

func shutdownCommand() *cli.Command {
	return &cli.Command{
		Name: "shutdown", Usage: "end the daemon",
		Flags: []cli.Flag{jsonFlag("as a JSON object")},
		Action: func(ctx context.Context, c *cli.Command) error {
			return ask(ctx, c, http.MethodPost, "/api/v1/shutdown", nil, func(w io.Writer, _ map[string]any) error {
				_, err := fmt.Fprintln(w, "the daemon ends")
				return err
			})
		},
	}
}

func logCommand() *cli.Command {
	return &cli.Command{
		Name: "log", Usage: "look at or change what the daemon logs", Action: group,
		Commands: []*cli.Command{{
			Name: "level", Usage: "print the least level that is logged, or set it until the daemon ends", ArgsUsage: "[debug|info|warn|error]",
			Flags: []cli.Flag{jsonFlag("as a JSON object")},
			Action: func(ctx context.Context, c *cli.Command) error {
				return ask(ctx, c, http.MethodPost, "/api/v1/log", url.Values{"level": {c.Args().First()}}, func(w io.Writer, v map[string]any) error {
					_, err := fmt.Fprintln(w, v["level"])
					return err
				})
			},
		}},
	}
}

func watchCommand() *cli.Command {
	return &cli.Command{
		Name: "watch", Usage: "print what happens to the peer as it happens, until Ctrl-C: first the peers that it is linked with",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "count", Usage: "end after this number of `EVENTS`", HideDefault: true, Validator: within(0, 1<<31)},
			jsonFlag("a JSON object a line: type, time, peer, epoch, parts, keys, bytes, number, added, removed"),
		},
		Action: onDaemon(func(ctx context.Context, c *cli.Command, cl *client) error {
			return ended(ctx, each(ctx, cl, http.MethodGet, "/api/v1/events", url.Values{"count": {strconv.Itoa(c.Int("count"))}}, nil, func(e httpapi.Event) error {
				return show(c, e, func(w io.Writer) error { return printEvent(w, e) })
			}))
		}),
	}
}

func printEvent(w io.Writer, e httpapi.Event) error {
	what := e.Peer
	switch e.Type {
	case "learned":
		what = fmt.Sprintf("%s  %d parts of summary %s", e.Peer, e.Parts, e.Epoch)
	case "tail":
		what = fmt.Sprintf("%s  %s added, %d removed since summary %s", e.Peer, keyCount(e.Added), e.Removed, e.Epoch)
	case "published":
		what = fmt.Sprintf("summary %s of %s, %d bytes in %d parts", e.Epoch, keyCount(e.Keys), e.Bytes, e.Parts)
	}
	_, err := fmt.Fprintf(w, "%s  %-9s  %s\n", e.Time.Local().Format("15:04:05.000"), e.Type, what)
	return err
}
