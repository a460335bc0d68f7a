package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/summary/estimate"
)

// asking returns the action of a command without arguments that shows one answer of the daemon.
func asking[T any](path string, text func(io.Writer, T) error) cli.ActionFunc {
	return func(ctx context.Context, c *cli.Command) error { return ask(ctx, c, http.MethodGet, path, nil, text) }
}

func peersCommand() *cli.Command {
	return &cli.Command{
		Name: "peers", Usage: "list the peers that are connected or known by their summary",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "neighbours", Usage: "list only those that the peer chose to stay connected with, why, and how many of its keys they hold"},
			jsonFlag("as a JSON array"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.Bool("neighbours") {
				return listNeighbours(ctx, c)
			}
			return listPeers(ctx, c)
		},
	}
}

var listPeers = asking("/api/v1/peers", func(w io.Writer, peers []httpapi.Peer) error {
	return tableOf(w, "PEER|STATE|KNOWN BY|ROUND TRIP|KEYS|SUMMARY BYTES|FALSE POSITIVES|ADDRESS", peers, func(p httpapi.Peer) []any {
		return []any{p.ID, peerState(p), knownBy(p), roundTrip(p), p.Keys, p.Bytes, fmt.Sprintf("%.2g", p.Rate), peerAddress(p)}
	})
})

// peerState returns "linked", "connected" or "known".
func peerState(p httpapi.Peer) string {
	switch {
	case p.Linked:
		return "linked"
	case p.Connected:
		return "connected"
	}
	return "known"
}

// knownBy returns how a peer became known, and as which kind of neighbour it was chosen.
func knownBy(p httpapi.Peer) string {
	by := strings.Join(p.Known, ",")
	if p.Chosen != "" {
		by += " (" + p.Chosen + ")"
	}
	return cmp.Or(by, "-")
}

func peerAddress(p httpapi.Peer) string {
	if len(p.Addresses) == 0 {
		return "-"
	}
	return strings.TrimSuffix(p.Addresses[0], "/p2p/"+p.ID)
}

func roundTrip(p httpapi.Peer) string {
	if p.RTT == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f ms", p.RTT)
}

var listNeighbours = asking("/api/v1/neighbours", func(w io.Writer, all []node.Neighbour) error {
	return tableOf(w, "NEIGHBOUR|CHOSEN BY|HAS OF OURS", all, func(n node.Neighbour) []any {
		if n.Overlap.Confidence == 0 {
			return []any{n.Peer, n.Kind, "-"}
		}
		return []any{n.Peer, n.Kind, percent(n.Overlap)}
	})
})

// percent formats an estimated share.
func percent(i estimate.Interval) string {
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*i.Value, 100*i.Low, 100*i.High)
}

func similarCommand() *cli.Command {
	return &cli.Command{
		Name: "similar", Usage: "list the peers that hold the most of what the peer holds, as estimated",
		Description: "Estimates go by the summaries that the peer holds. Where a network has more than it can hold, peers tell each\n" +
			"other who is like them: those listed may be anywhere, and some may be missing. `venn status` says how much is known.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "top", Value: httpapi.DefaultSimilar, Usage: "`NUMBER` of peers to name at most", Validator: within(1, httpapi.MaxTop)},
			jsonFlag("as a JSON array"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			return ask(ctx, c, http.MethodGet, "/api/v1/similar", url.Values{"top": {strconv.Itoa(c.Int("top"))}}, printSimilar)
		},
	}
}

func printSimilar(w io.Writer, all []node.Similar) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "of the peers known here, nobody seems to hold any key that this peer holds")
		return err
	}
	return tableOf(w, "PEER|HAS OF OURS|KEYS", all, func(s node.Similar) []any { return []any{s.Peer, percent(s.Overlap), s.Keys} })
}

func statusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Usage: "say what the peer holds and knows",
		Flags: []cli.Flag{jsonFlag("as a JSON object")},
		Action: onDaemon(func(ctx context.Context, c *cli.Command, cl *client) (err error) {
			var s statusAndSources
			if s.Status, err = get[httpapi.Status](ctx, cl, "status", nil); err != nil {
				return err
			}
			if s.Sources, err = cl.repo.Sources(); err != nil {
				return err
			}
			return show(c, s, func(w io.Writer) error { return printStatus(w, s) })
		}),
	}
}

// statusAndSources is the daemon's status, with the sources of its keys from the repository.
type statusAndSources struct {
	httpapi.Status
	Sources []repo.Source `json:"sources,omitempty"`
}

// sourceState describes the state of a source of keys.
func sourceState(s repo.Source) string {
	since := s.Since.Local().Format(time.DateTime)
	switch {
	case s.Failed != "":
		return "its keys are suspended since " + since + ": " + s.Failed
	case !s.Followed:
		return "no command follows it now; its keys stay as they are"
	}
	return "followed"
}

func printStatus(w io.Writer, s statusAndSources) error {
	epoch := s.Epoch
	if epoch == "" {
		epoch = "none yet"
	}
	unrotated := ""
	if s.Unrotated > 0 {
		unrotated = fmt.Sprintf(", %d of them only under the previous seed", s.Unrotated)
	}
	advice := ""
	if s.Reach.Advice != "" {
		advice = "; " + s.Reach.Advice
	}
	begun := ""
	if len(s.Bootstrap) > 0 {
		begun = "bootstrap peers      " + begins(s.Status).Found + "\n"
	}
	_, err := fmt.Fprintf(w, `peer                 %s
reached by others    %s%s
keys                 %d
own summary          %s
linked peers         %d (%d connections)
%ssummaries of others  %d, %d bytes%s
known of the network %s
expected false matches of a query  %.3g
`, s.ID, s.Reach.How, advice, s.Keys, epoch, s.Links, s.Connections, begun, s.Origins, s.BytesHeld, unrotated, knownPart(s.Status), s.FalseMatches)
	for _, x := range s.Sources {
		fmt.Fprintf(w, "keys from            %s: %s\n", x.Name, sourceState(x))
	}
	return err
}

// knownPart describes the part of the network that is covered, and counts the contacts for the rest.
func knownPart(s httpapi.Status) string {
	switch {
	case s.Covered <= 0:
		return "none: no other peer is known"
	case s.Covered >= 1:
		return "all"
	}
	return fmt.Sprintf("%s (range %s); %d contacts for the rest", share(s.Covered), s.Range, s.Contacts)
}

func overlapCommand() *cli.Command {
	return &cli.Command{
		Name: "overlap", Usage: "estimate what a peer has in common with this one, or two peers with each other", ArgsUsage: "PEER [PEER]",
		Flags: []cli.Flag{jsonFlag("as a JSON object")},
		Action: ofPeers(onDaemon(func(ctx context.Context, c *cli.Command, cl *client) error {
			q := url.Values{"peer": {c.Args().Get(0)}}
			first, second := "this peer", "the other"
			if c.Args().Len() == 2 {
				q.Set("with", c.Args().Get(1))
				first, second = "the first", "the second"
			}
			o, err := get[httpapi.Overlap](ctx, cl, "overlap", q)
			if err != nil {
				return err
			}
			r := overlapOfPeers(o)
			return show(c, r, func(w io.Writer) error { return r.print(w, first, second) })
		})),
	}
}

// ofPeers returns an action whose arguments must be peer ids.
func ofPeers(do cli.ActionFunc) cli.ActionFunc {
	return func(ctx context.Context, c *cli.Command) error {
		for _, p := range c.Args().Slice() {
			if _, err := peer.Decode(p); err != nil {
				return usageError(fmt.Errorf("%q is no peer id; `venn peers` lists those known", p))
			}
		}
		return do(ctx, c)
	}
}

func connectCommand() *cli.Command {
	return &cli.Command{
		Name: "connect", Usage: "connect to peers now", ArgsUsage: "MULTIADDR…",
		Flags:  []cli.Flag{jsonFlag("a JSON object a line: connected")},
		Action: eachPeer("/api/v1/connect", "connected to", "connected"),
	}
}

// eachPeer returns the action that sends a request for each argument, a peer, and shows the answers.
func eachPeer(path, said, member string) cli.ActionFunc {
	text := func(w io.Writer, v map[string]string) error { _, err := fmt.Fprintln(w, said, v[member]); return err }
	return func(ctx context.Context, c *cli.Command) error {
		for _, p := range c.Args().Slice() {
			if err := ask(ctx, c, http.MethodPost, path, url.Values{"peer": {p}}, text); err != nil {
				return err
			}
		}
		return nil
	}
}
