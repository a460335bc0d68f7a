package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/node/httpapi"
)

const keyHelp = "A KEY is a CID, hex: and hexadecimal digits, or any other text. A CID stands for its multihash, a text for its\n" +
	"bytes. - reads one KEY a line from standard input."

func keysCommand() *cli.Command {
	return &cli.Command{
		Name: "keys", Usage: "add, remove and list what the peer holds",
		Action: group,
		Commands: []*cli.Command{
			{
				Name: "add", Usage: "say that the peer holds keys", ArgsUsage: "KEY…|-", Description: keyHelp + "\n\n" + helpText("keys-add"),
				Flags: []cli.Flag{
					jsonFlag("as a JSON object: keys, changed; with --follow one a line: keys, added, removed"),
					&cli.BoolFlag{Name: "private", Usage: "keep the keys out of the summary: only bootstrap peers that are linked find them"},
					&cli.StringFlag{Name: "from", Usage: "take keys from a `SOURCE`: dir for the files below folders, kubo for what the IPFS nodes at URLs hold"},
					&cli.BoolFlag{Name: "pins", Usage: "with --from kubo: take only what is pinned, and what belongs to it"},
					&cli.BoolFlag{Name: "follow", Usage: "with --from: keep in step until Ctrl-C: add what is new, remove what is gone"},
					&cli.DurationFlag{Name: "every", Value: 2 * time.Second, Usage: "with --follow: `TIME` between two looks, 1s or more", Validator: atLeast(time.Second)},
				},
				Action: addKeys,
			},
			{
				Name: "rm", Usage: "say that the peer no longer holds keys", ArgsUsage: "KEY…|-", Description: keyHelp,
				Flags:  []cli.Flag{jsonFlag("as a JSON object: keys, changed")},
				Action: changeKeys("remove"),
			},
			pathCommand(),
			{
				Name: "ls", Usage: "list the keys that the peer holds, in no order",
				Flags: []cli.Flag{jsonFlag("a JSON object a line: key")}, Action: onDaemon(listKeys),
			},
			{
				Name: "has", Usage: "say whether the peer itself holds keys; the exit code is 3 if one is lacking", ArgsUsage: "KEY…|-", Description: keyHelp,
				Flags: []cli.Flag{jsonFlag("a JSON object a line: key, has")}, Action: onKeys(hasKeys),
			},
		},
	}
}

// keyLines returns the keys of the arguments, one a line, or standard input for "-".
func keyLines(c *cli.Command) (io.Reader, error) {
	args := c.Args().Slice()
	if len(args) == 1 && args[0] == "-" {
		return c.Root().Reader, nil
	}
	for _, k := range args {
		if strings.ContainsAny(k, "\n\r") {
			return nil, usageError(fmt.Errorf("key %q has a line break: give it as hex: and digits", k))
		}
		if _, err := httpapi.ParseKey(k); err != nil {
			return nil, usageError(err)
		}
	}
	return strings.NewReader(strings.Join(args, "\n")), nil
}

// onKeys returns the action of a command that asks the daemon about the keys of the arguments, which come one a line.
func onKeys(f func(context.Context, *cli.Command, *client, io.Reader) error) cli.ActionFunc {
	return func(ctx context.Context, c *cli.Command) error {
		in, err := keyLines(c)
		if err != nil {
			return err
		}
		return onDaemon(func(ctx context.Context, c *cli.Command, cl *client) error { return f(ctx, c, cl, in) })(ctx, c)
	}
}

// addKeys adds the keys of the arguments or of a source, and follows the source if --follow is set.
func addKeys(ctx context.Context, c *cli.Command) error {
	from := c.String("from")
	switch {
	case c.Bool("pins") && from != "kubo":
		return usageError(errors.New("--pins goes with --from kubo"))
	case c.Bool("follow") && from == "":
		return usageError(errors.New("--follow goes with --from"))
	case c.IsSet("every") && !c.Bool("follow"):
		return usageError(errors.New("--every goes with --follow"))
	}
	switch {
	case from == "":
		return changeKeys("add")(ctx, c)
	case (from == "dir" || from == "kubo") && c.Bool("follow"):
		return onDaemon(follow)(ctx, c)
	case from == "dir":
		return onDaemon(addTrees)(ctx, c)
	case from == "kubo":
		return onDaemon(addKubo)(ctx, c)
	}
	return usageError(fmt.Errorf("--from %q: must be dir or kubo", from))
}

// addKubo adds the keys that IPFS nodes list now.
func addKubo(ctx context.Context, c *cli.Command, cl *client) error {
	r, w := io.Pipe()
	go func() {
		_ = w.CloseWithError(kuboNodes(c.Args().Slice(), c.Bool("pins")).each(ctx, func(key string) error {
			_, err := fmt.Fprintln(w, key)
			return err
		}))
	}()
	defer func() { _ = r.Close() }()
	err := changeList(ctx, c, cl, r, "add")
	if text := unserved(cl.repo); text != "" && err == nil {
		complain(c.Root().ErrWriter, text)
	}
	return err
}

// keyCount formats a number of keys, as "1 key" or "2 keys".
func keyCount(n int) string {
	if n == 1 {
		return "1 key"
	}
	return fmt.Sprintf("%d keys", n)
}

// The most keys and bytes of a request: enough to make up for the wait for the disk.
const (
	requestKeys  = 1 << 14
	requestBytes = 8 << 20
)

// changeKeys returns the action that adds or removes the keys of the arguments, and shows the result.
func changeKeys(what string) cli.ActionFunc {
	return onKeys(func(ctx context.Context, c *cli.Command, cl *client, in io.Reader) error {
		return changeList(ctx, c, cl, in, what)
	})
}

// changeList sends keys, one a line, up to the first error, and shows the result.
func changeList(ctx context.Context, c *cli.Command, cl *client, in io.Reader, what string) error {
	bar := newProgress(c.Root().ErrWriter, quietTime)
	did, err := sendKeys(ctx, cl, in, what, ofKeys(c), func(keys int) { bar.update(stage{what: "keys", done: keys}) })
	bar.end()
	if err != nil && did.Keys == 0 {
		return err
	}
	return errors.Join(err, showChanged(c, did, what))
}

// showChanged shows the counts of a change of keys.
func showChanged(c *cli.Command, total httpapi.Changed, what string) error {
	said := fmt.Sprintf("added %s, %d of them new", keyCount(total.Keys), total.Changed)
	if what == "remove" {
		said = fmt.Sprintf("removed %d of %s", total.Changed, keyCount(total.Keys))
	}
	return say(c, total, "%s", said)
}

// ofKeys returns the parameters of a change of keys.
func ofKeys(c *cli.Command) url.Values {
	if c.Bool("private") {
		return url.Values{"private": {"true"}}
	}
	return nil
}

// sendKeys sends keys, one a line, in several requests. After each it calls tell with the number of keys sent so far.
// The keys sent before an error are changed, and counted.
func sendKeys(ctx context.Context, cl *client, in io.Reader, what string, parameters url.Values, tell func(keys int)) (total httpapi.Changed, err error) {
	err = eachRequest(in, func(first int, body []byte) error {
		p := url.Values{"line": {strconv.Itoa(first)}}
		maps.Copy(p, parameters)
		var did httpapi.Changed
		if err := cl.answer(ctx, http.MethodPost, "/api/v1/keys/"+what, p, bytes.NewReader(body), &did); err != nil {
			return err
		}
		total.Keys += did.Keys
		total.Changed += did.Changed
		tell(total.Keys)
		return nil
	})
	return total, err
}

// eachRequest cuts lines into bodies of requests, and calls send with them and the number of their first line. Before an
// error of in, the whole lines that came are sent.
func eachRequest(in io.Reader, send func(first int, body []byte) error) error {
	first, next := 1, 1
	var body []byte
	var sendErr error
	flush := func() error {
		if len(body) > 0 {
			sendErr = send(first, body)
		}
		first, body = next, nil
		return sendErr
	}
	err := eachLine("-", in, func(number int, line []byte) error {
		body = append(append(body, line...), '\n')
		if next = number + 1; next-first < requestKeys && len(body) < requestBytes {
			return nil
		}
		return flush()
	})
	if sendErr == nil {
		sendErr = flush()
	}
	return cmp.Or(sendErr, err)
}

func listKeys(ctx context.Context, c *cli.Command, cl *client) error {
	out := bufio.NewWriter(c.Root().Writer)
	err := each(ctx, cl, http.MethodGet, "/api/v1/keys", nil, nil, func(k httpapi.Key) error {
		if c.Bool("json") {
			return writeJSON(out, k)
		}
		_, err := fmt.Fprintln(out, k.Key)
		return err
	})
	return cmp.Or(err, out.Flush())
}

func hasKeys(ctx context.Context, c *cli.Command, cl *client, in io.Reader) error {
	var lacking error
	err := eachHas(ctx, cl, in, func(h httpapi.Has) error {
		if !h.Has {
			lacking = errNone
		}
		return say(c, h, "%-5t %s", h.Has, h.Key)
	})
	return cmp.Or(err, lacking)
}

// eachHas asks whether the peer holds keys, one a line, and calls f with the answers.
func eachHas(ctx context.Context, cl *client, in io.Reader, f func(httpapi.Has) error) error {
	return eachRequest(in, func(first int, b []byte) error {
		return each(ctx, cl, http.MethodPost, "/api/v1/keys/has", url.Values{"line": {strconv.Itoa(first)}}, bytes.NewReader(b), f)
	})
}
