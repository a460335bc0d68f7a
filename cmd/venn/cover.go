package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/testnet/page"
)

func coverCommand() *cli.Command {
	return &cli.Command{
		Name: "cover", Usage: "find the few peers that together hold most of many keys; the exit code is 3 if nobody has one", ArgsUsage: "KEY…|-",
		Description: keyHelp + "\n\nPeers are named in the order of what each adds to those before it, which have confirmed what they hold.\n" +
			fmt.Sprintf("At most %d keys.", node.MaxCoverKeys),
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "top", Value: httpapi.DefaultTop, Usage: "`NUMBER` of peers to name at most", Validator: within(1, httpapi.MaxTop)},
			jsonFlag("a JSON object a line for each peer: peer, addresses, keys; in the end: end, asked, covered"),
		},
		Action: onKeys(cover),
	}
}

// cover prints peers that together hold many of the keys, and the number of keys that they hold.
func cover(ctx context.Context, c *cli.Command, cl *client, in io.Reader) error {
	top := url.Values{"top": {strconv.Itoa(c.Int("top"))}}
	end, err := eachUntil[httpapi.Cover, httpapi.CoverEnd](ctx, cl, http.MethodPost, "/api/v1/cover", top, in, func(p httpapi.Cover) error {
		return say(c, p, "%6d keys  %s  %s", len(p.Keys), p.Peer, firstAddress(p.Addresses))
	})
	if err == nil {
		err = show(c, end, func(io.Writer) error { return nil })
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(page.On(c.Root().ErrWriter), "%d of %d keys are covered\n", end.Covered, end.Asked)
	if end.Covered == 0 && end.Asked > 0 {
		return errNone
	}
	return nil
}
