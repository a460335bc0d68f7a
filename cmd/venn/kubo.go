package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	mh "github.com/multiformats/go-multihash"

	"github.com/venn-p2p/venn/node/httpapi"
)

// The paths of an IPFS node's API that list its blocks, or its pins and all blocks below them.
const (
	kuboBlocks = "/api/v0/refs/local"
	kuboPins   = "/api/v0/pin/ls"
)

// goneError means that a source of keys does not answer or is not there, so that its content cannot be fetched now.
type goneError struct{ error }

func (e goneError) Unwrap() error { return e.error }

// kuboSilence is the longest time that an IPFS node may take for its next line: a stopped node keeps its connections.
// It is a variable for tests.
var kuboSilence = 30 * time.Second

// askKubo asks the IPFS node with its API at a URL, and calls f with a decoder of the answer. The error is a goneError
// if the node cannot be reached, refuses the request, or is silent for kuboSilence.
func askKubo(ctx context.Context, api, path, query string, f func(*json.Decoder) error) error {
	u, err := url.Parse(api)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usageError(fmt.Errorf("%q is no URL of an IPFS node's API, such as http://127.0.0.1:5001", api))
	}
	u = u.JoinPath(path)
	u.RawQuery = query
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := goneError{fmt.Errorf("IPFS node %s: no answer within %v", api, kuboSilence)}
	timer := time.AfterFunc(kuboSilence, cancel)
	defer timer.Stop()
	req, err := http.NewRequestWithContext(within, http.MethodPost, u.String(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && within.Err() != nil:
		return silent
	case err != nil:
		return goneError{fmt.Errorf("IPFS node: %w; is it running, and is that the address of its API?", err)}
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return goneError{fmt.Errorf("IPFS node %s: %s: is that the address of its API?", api, resp.Status)}
	}
	err = f(json.NewDecoder(telling{resp.Body, func(int) { timer.Reset(kuboSilence) }}))
	switch {
	case errors.Is(err, io.EOF) && resp.Trailer.Get("X-Stream-Error") != "": // a fault midway
		err = errors.New(resp.Trailer.Get("X-Stream-Error"))
	case errors.Is(err, io.EOF):
		return nil
	case err != nil && ctx.Err() == nil && within.Err() != nil:
		return silent
	}
	if err != nil {
		return fmt.Errorf("IPFS node %s: %w", api, err)
	}
	return nil
}

// telling is a Reader that calls tell after each read, with the number of bytes read.
type telling struct {
	io.Reader
	tell func(bytes int)
}

func (t telling) Read(b []byte) (int, error) {
	n, err := t.Reader.Read(b)
	t.tell(n)
	return n, err
}

// listKubo calls f with the keys, as texts, that an IPFS node lists. Some may come more than once. Without an error,
// the node has ended its list itself.
func listKubo(ctx context.Context, api string, pins bool, f func(key string) error) error {
	path, query := kuboBlocks, ""
	if pins {
		path, query = kuboPins, "type=all&stream=true"
	}
	return askKubo(ctx, api, path, query, func(d *json.Decoder) error {
		for {
			var line struct{ Ref, Cid, Err string }
			if err := d.Decode(&line); err != nil {
				return err
			}
			if line.Err != "" {
				return errors.New(line.Err)
			}
			c, err := cid.Decode(line.Ref + line.Cid) // only one of the two is set
			if err != nil {
				return fmt.Errorf("lists %q: %w", line.Ref+line.Cid, err)
			}
			if c.Prefix().MhType == mh.IDENTITY {
				continue // every holder of the CID has the content
			}
			if err := f(httpapi.FormatKey(c.Hash())); err != nil {
				return err
			}
		}
	})
}

// kuboAddresses is the largest number of addresses kept of one IPFS node.
const kuboAddresses = 16

// kuboServers returns the multiaddrs with /p2p/ID at which an IPFS node serves its content.
func kuboServers(ctx context.Context, api string) (addresses []string, err error) {
	var id struct{ Addresses []string }
	if err := askKubo(ctx, api, "/api/v0/id", "", func(d *json.Decoder) error { return d.Decode(&id) }); err != nil {
		return nil, err
	}
	for _, a := range id.Addresses {
		if _, err := peer.AddrInfoFromString(a); err == nil && len(addresses) < kuboAddresses {
			addresses = append(addresses, a)
		}
	}
	slices.Sort(addresses)
	return addresses, nil
}
