package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	mh "github.com/multiformats/go-multihash"

	"github.com/venn-p2p/venn/node/httpapi"
)

// hashFolder writes the key of every regular file below a folder: the SHA-256 multihash of its bytes.
func hashFolder(ctx context.Context, root string, w io.Writer) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		key, err := hashFile(path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, httpapi.FormatKey(key))
		return err
	})
}

func hashFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return mh.Encode(h.Sum(nil), mh.SHA2_256)
}

// pullKubo writes the CIDs of all blocks that the IPFS node with its API at a URL holds.
func pullKubo(ctx context.Context, api string, w io.Writer) error {
	u, err := url.Parse(api)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usageError{fmt.Errorf("%q is no URL of an IPFS node's API, such as http://127.0.0.1:5001", api)}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.JoinPath("/api/v0/refs/local").String(), nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("IPFS node: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("IPFS node: %s", resp.Status)
	}
	for d := json.NewDecoder(resp.Body); ; {
		var line struct{ Ref, Err string }
		switch err := d.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("IPFS node: %w", err)
		case line.Err != "":
			return fmt.Errorf("IPFS node: %s", line.Err)
		}
		if _, err := fmt.Fprintln(w, line.Ref); err != nil {
			return err
		}
	}
}
