package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
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
