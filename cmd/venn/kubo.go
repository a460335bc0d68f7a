package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/ipfs/go-cid"
	mh "github.com/multiformats/go-multihash"

	"github.com/venn-p2p/venn/node/httpapi"
)

// What an IPFS node lists: its blocks, or what is pinned and all that hangs on it.
const (
	kuboBlocks = "/api/v0/refs/local"
	kuboPins   = "/api/v0/pin/ls"
)

// pullKubo is the source of the keys of an IPFS node, for addFrom.
func pullKubo(pins bool) func(ctx context.Context, api string, w io.Writer) error {
	return func(ctx context.Context, api string, w io.Writer) error {
		return listKubo(ctx, api, pins, func(key string) error {
			_, err := fmt.Fprintln(w, key)
			return err
		})
	}
}

// kuboRequest asks the IPFS node with its API at a URL for a list.
func kuboRequest(ctx context.Context, api string, pins bool) (*http.Request, error) {
	u, err := url.Parse(api)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usageError{fmt.Errorf("%q is no URL of an IPFS node's API, such as http://127.0.0.1:5001", api)}
	}
	if pins {
		u = u.JoinPath(kuboPins)
		u.RawQuery = "type=all&stream=true"
	} else {
		u = u.JoinPath(kuboBlocks)
	}
	return http.NewRequestWithContext(ctx, http.MethodPost, u.String(), nil)
}

// listKubo calls f with the keys, as texts, of what an IPFS node lists. Some may come more than once. Without an error,
// the list was whole as far as the node says.
func listKubo(ctx context.Context, api string, pins bool, f func(key string) error) error {
	req, err := kuboRequest(ctx, api, pins)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("IPFS node: %w; is it running, and is that the address of its API?", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("IPFS node %s: %s: is that the address of its API?", api, resp.Status)
	}
	for d := json.NewDecoder(resp.Body); ; {
		var line struct{ Ref, Cid, Err string }
		switch err := d.Decode(&line); {
		case errors.Is(err, io.EOF):
			if e := resp.Trailer.Get("X-Stream-Error"); e != "" { // how it tells of a fault midway
				return fmt.Errorf("IPFS node %s: %s", api, e)
			}
			return nil
		case err != nil:
			return fmt.Errorf("IPFS node %s: %w", api, err)
		case line.Err != "":
			return fmt.Errorf("IPFS node %s: %s", api, line.Err)
		}
		c, err := cid.Decode(line.Ref + line.Cid) // one of them
		if err != nil {
			return fmt.Errorf("IPFS node %s: lists %q: %w", api, line.Ref+line.Cid, err)
		}
		if c.Prefix().MhType == mh.IDENTITY {
			continue // whoever has the CID has the content
		}
		if err := f(httpapi.FormatKey(c.Hash())); err != nil {
			return err
		}
	}
}
