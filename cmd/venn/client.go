package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/httpapi"
)

// client asks the daemon of a repository.
type client struct {
	http http.Client
	repo repo.Repo
	raw  bool // print strings as they came, not made visible
}

// errNoDaemon says that no daemon runs on the repository.
var errNoDaemon = errors.New("no daemon is running")

func clientOf(r repo.Repo) *client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", r.Socket())
	}
	return &client{http: http.Client{Transport: &http.Transport{DialContext: dial}}, repo: r}
}

// do sends a request with parameters in its URL, and returns the body of the answer, or the error in the answer.
func (c *client) do(ctx context.Context, method, path string, parameters url.Values, body io.Reader) (io.ReadCloser, error) {
	u := url.URL{Scheme: "http", Host: "venn", Path: path, RawQuery: parameters.Encode()}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	switch {
	case err != nil && repo.Refused(err):
		return nil, fmt.Errorf("%w on %s: start one with `venn daemon%s`", errNoDaemon, c.repo.Dir, c.repo.Option())
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("%s: only the user whose daemon it is may open it", c.repo.Socket())
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, broken(err)
	case resp.StatusCode == http.StatusOK:
		return resp.Body, nil
	}
	defer func() { _ = resp.Body.Close() }()
	var e httpapi.Error
	if json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&e) != nil || e.Error == "" {
		return nil, errors.New(resp.Status)
	}
	switch resp.StatusCode {
	case http.StatusBadRequest:
		return nil, usageError(errors.New(e.Error))
	case http.StatusNotFound:
		return nil, notFoundError{errors.New(e.Error)}
	}
	return nil, errors.New(e.Error)
}

// broken returns the error for a connection to the daemon that broke.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return errors.New("the daemon broke off before it had answered in full; its log says why")
	}
	return fmt.Errorf("daemon: %w", err)
}

// get asks for a path of /api/v1, and returns the answer, decoded from JSON.
func get[T any](ctx context.Context, c *client, path string, parameters url.Values) (v T, err error) {
	err = c.answer(ctx, http.MethodGet, "/api/v1/"+path, parameters, nil, &v)
	return v, err
}

// answer sends a request and reads its answer in JSON into v.
func (c *client) answer(ctx context.Context, method, path string, parameters url.Values, body io.Reader, v any) error {
	answer, err := c.do(ctx, method, path, parameters, body)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Close() }()
	if err := json.NewDecoder(answer).Decode(v); err != nil {
		return broken(err)
	}
	c.visible(v)
	return nil
}

// onDaemon returns the action of a command that asks the daemon of the repository.
func onDaemon(f func(context.Context, *cli.Command, *client) error) cli.ActionFunc {
	return onRepo(func(ctx context.Context, c *cli.Command, r repo.Repo) error {
		cl := clientOf(r)
		cl.raw = c.Bool("json")
		return f(ctx, c, cl)
	})
}

// ask sends a request and shows its answer, as JSON or as the function text writes it.
func ask[T any](ctx context.Context, c *cli.Command, method, path string, parameters url.Values, text func(io.Writer, T) error) error {
	return onDaemon(func(ctx context.Context, c *cli.Command, cl *client) error {
		var v T
		if err := cl.answer(ctx, method, path, parameters, nil, &v); err != nil {
			return err
		}
		return show(c, v, func(w io.Writer) error { return text(w, v) })
	})(ctx, c)
}

// visible replaces unprintable characters in the strings of an answer by escapes, unless c.raw is set.
func (c *client) visible(v any) {
	if !c.raw {
		visibleIn(reflect.ValueOf(v))
	}
}

// each sends a request and calls f with the values of its NDJSON answer. A value that was cut off is an error.
func each[T any](ctx context.Context, c *client, method, path string, parameters url.Values, in io.Reader, f func(T) error) error {
	body, err := c.do(ctx, method, path, parameters, in)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	for values := json.NewDecoder(body); ; {
		var v T
		switch err := values.Decode(&v); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return broken(err)
		}
		c.visible(&v)
		if err := f(v); err != nil {
			return err
		}
	}
}

// errCut says that an answer lacks its last value.
var errCut = errors.New("daemon: the answer is not whole")

// eachUntil does the same as each, and returns the last value, which tells how the answer ended. Only the last value
// begins with the member end.
func eachUntil[T, E any](ctx context.Context, c *client, method, path string, parameters url.Values, in io.Reader, f func(T) error) (end E, err error) {
	ended := false
	err = each(ctx, c, method, path, parameters, in, func(line json.RawMessage) error {
		if ended = bytes.HasPrefix(line, []byte(`{"end":`)); ended {
			defer c.visible(&end)
			return json.Unmarshal(line, &end)
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return err
		}
		c.visible(&v)
		return f(v)
	})
	if err == nil && !ended {
		err = errCut
	}
	return end, err
}
