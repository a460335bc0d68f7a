package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v3"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/node/bounded"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/testnet/page"
)

func findCommand() *cli.Command {
	return &cli.Command{
		Name: "find", Usage: "find out which peers hold keys; the exit code is 3 if nobody has one", ArgsUsage: "KEY…|-",
		Description: keyHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "find every peer that holds a key, not only one"},
			&cli.IntFlag{Name: "count", Value: 1, Usage: "`NUMBER` of peers to find for each key", Validator: atLeast(1)},
			&cli.BoolFlag{Name: "explain", Usage: "say on standard error which peers were asked, why, and what they answered"},
			&cli.IntFlag{Name: "jobs", Value: 1, Usage: "`NUMBER` of keys to ask for at a time, 64 at most; what is found first comes first", Validator: within(1, 64)},
			&cli.DurationFlag{Name: "timeout", Value: 10 * time.Second, Usage: "give up on a key after this `TIME`", Validator: atLeast(time.Millisecond)},
			&cli.DurationFlag{Name: "wait", Usage: "if nobody has a key, wait up to this `TIME` for a peer that has it", Validator: atLeast[time.Duration](0)},
			jsonFlag("a JSON object a line for each peer: key, peer, addresses; in the end of each key: end, key, found, covered and what it took"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.Bool("all") && c.IsSet("count") {
				return usageError(errors.New("--all and --count: one of them says how many to find"))
			}
			return onKeys(find)(ctx, c)
		},
	}
}

func find(ctx context.Context, c *cli.Command, cl *client, in io.Reader) error {
	var none atomic.Bool
	var printing sync.Mutex // held while the answer for one key is printed
	results, warnings := output(c), page.On(c.Root().ErrWriter)
	one := func(key string, out, errs io.Writer) error {
		found, end, err := findKey(ctx, c, cl, key, out, errs)
		if found == 0 && err == nil {
			none.Store(true)
			complain(errs, nobody(key, end))
		}
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.Int("jobs"))
	err := eachKey("-", in, func(number int, line []byte) error {
		key := string(line)
		if _, err := httpapi.ParseKey(key); err != nil {
			return usageError(bounded.At("", number, err))
		}
		group.Go(func() error {
			var out, errs bytes.Buffer
			if c.Int("jobs") == 1 { // print each holder when it is found
				return one(key, results, warnings)
			}
			err := one(key, &out, &errs)
			printing.Lock()
			defer printing.Unlock()
			_, stdoutErr := out.WriteTo(results)
			_, _ = errs.WriteTo(warnings)
			return errors.Join(err, stdoutErr)
		})
		return ctx.Err()
	})
	if groupErr := group.Wait(); groupErr != nil {
		return groupErr
	}
	if err == nil && none.Load() {
		return errNone
	}
	return err
}

// share formats a share of the network, rounded down: "all", "none" or two digits after a point.
func share(covered float64) string {
	switch {
	case covered >= 1:
		return "all"
	case covered <= 0: // nobody is known
		return "none"
	}
	return strings.TrimPrefix(strconv.FormatFloat(math.Floor(100*covered)/100, 'f', 2, 64), "0")
}

// nobody returns the message for a key that no peer was found to hold, with the reasons to doubt it.
func nobody(key string, end httpapi.FindEnd) string {
	silent, whole := silent(end.Asked), end.End == "exhausted"
	switch {
	case whole && end.Covered <= 0:
		return fmt.Sprintf("nobody was asked who has %q: no other peer is known", key)
	case whole && end.Covered >= 1 && silent == 0:
		return fmt.Sprintf("nobody has %q: all of the network was asked or is known", key)
	}
	var doubts []string
	if end.Covered > 0 && end.Covered < 1 {
		doubts = append(doubts, fmt.Sprintf("only %s of the network was asked or is known", share(end.Covered)))
	}
	switch {
	case silent == 1:
		doubts = append(doubts, "1 peer that was asked did not answer")
	case silent > 1:
		doubts = append(doubts, fmt.Sprintf("%d peers that were asked did not answer", silent))
	}
	if !whole {
		doubts = append(doubts, end.End)
	}
	return fmt.Sprintf("nobody found who has %q: %s", key, strings.Join(doubts, "; "))
}

// silent returns the number of peers that were asked whether they hold a key and did not answer.
func silent(asked []httpapi.Asked) (n int) {
	spoke := make(map[string]bool)
	for _, a := range asked {
		switch a.Why {
		case "matched", "named", "returned", "linked":
			spoke[a.Peer] = spoke[a.Peer] || a.Result == "holds" || a.Result == "lacks"
		}
	}
	for _, said := range spoke {
		if !said {
			n++
		}
	}
	return n
}

// findKey writes the holders of a key. It returns their number and how the search ended.
func findKey(ctx context.Context, c *cli.Command, cl *client, key string, out, errs io.Writer) (found int, end httpapi.FindEnd, err error) {
	query := url.Values{
		"key": {key}, "all": {strconv.FormatBool(c.Bool("all"))}, "count": {strconv.Itoa(c.Int("count"))},
		"timeout_ms": {strconv.FormatInt(c.Duration("timeout").Milliseconds(), 10)},
	}
	if wait := c.Duration("wait"); wait > 0 {
		query.Set("wait_ms", strconv.FormatInt(wait.Milliseconds(), 10))
	}
	end, err = eachUntil[httpapi.Provider, httpapi.FindEnd](ctx, cl, http.MethodGet, "/api/v1/find", query, nil, func(p httpapi.Provider) error {
		found++
		if c.Bool("json") {
			return writeJSON(out, p)
		}
		_, err := fmt.Fprintf(out, "%s  %s  %s\n", p.Key, p.Peer, firstAddress(p.Addresses))
		return err
	})
	if err == nil && c.Bool("json") {
		line := end
		if !c.Bool("explain") {
			line.Asked = nil
		}
		err = writeJSON(out, line)
	}
	if c.Bool("explain") && end.End != "" {
		visibleIn(reflect.ValueOf(&end))
		explain(errs, end)
	}
	return found, end, err
}

// firstAddress returns the first of a peer's addresses, which is the likeliest, or a text that says that there is none.
func firstAddress(addresses []string) string {
	if len(addresses) == 0 {
		return "no address known"
	}
	return addresses[0]
}

func explain(w io.Writer, end httpapi.FindEnd) {
	fmt.Fprintf(w, "%s: %s; %d found with %d messages in %.1f ms", end.Key, end.End, end.Found, end.Messages, end.Elapsed)
	if end.Covered > 0 || end.Found == 0 { // otherwise this peer has the key itself
		fmt.Fprintf(w, "; %s of the network was asked or is known", share(end.Covered))
	}
	if end.AsOf > 0 {
		fmt.Fprintf(w, " as of %.1f s ago", end.AsOf/1000)
	}
	if end.Inquiries > 0 {
		fmt.Fprintf(w, "; %d peers were asked for more contacts", end.Inquiries)
	}
	fmt.Fprintln(w)
	if len(end.Asked) == 0 {
		return
	}
	_ = tableOf(w, "  PEER ASKED|WHY|PROBABILITY|ANSWER|NAMES|RANGE|ASKED AT|TOOK|BYTES", end.Asked, func(a httpapi.Asked) []any {
		return []any{
			"  " + a.Peer, a.Why, fmt.Sprintf("%.3f", a.Probability), a.Result, a.Names,
			cmp.Or(a.Range, "-"), fmt.Sprintf("%.1f ms", a.At), fmt.Sprintf("%.1f ms", a.Took), a.Bytes,
		}
	})
}
