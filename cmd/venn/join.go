package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/testnet/page"
)

func joinCommand() *cli.Command {
	return &cli.Command{
		Name: "join", Usage: "list the keys that this peer and others all hold, exactly", ArgsUsage: "PEER…",
		Description: "A Bloom join: filters of the collections are moved, and the keys that are probably in all; what that took is said on\n" +
			"standard error. Others answer if they have set content.joins.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "others", Usage: "join only the peers that are named, without this one"},
			jsonFlag("a JSON object a line for each key: key; in the end: end, and what it took"),
		},
		Action: ofPeers(onDaemon(join)),
	}
}

// join prints the keys that all the peers have, and the cost of the join.
func join(ctx context.Context, c *cli.Command, cl *client) error {
	q := url.Values{"peer": c.Args().Slice(), "others": {strconv.FormatBool(c.Bool("others"))}}
	end, err := eachUntil[httpapi.Key, httpapi.JoinEnd](ctx, cl, http.MethodGet, "/api/v1/join", q, nil, func(k httpapi.Key) error {
		return say(c, k, "%s", k.Key)
	})
	if err == nil {
		err = show(c, end, func(io.Writer) error { return nil })
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(page.On(c.Root().ErrWriter), "%d keys are held by all %d; %d bytes moved (%d of filters, %d of keys) in %.0f ms, all keys would be %d\n",
		end.Common, end.Peers, end.Moved, end.Filters, end.Keys, end.Elapsed, end.Shipping)
	return nil
}
