package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	mh "github.com/multiformats/go-multihash"
	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/httpapi"
)

// racy is how old a change must be to be remembered: a file may change again within the clock's grain.
const racy = 2 * time.Second

// tree finds the keys of the files below a folder, on all cores. Files that have not changed since the last time are not read.
type tree struct {
	files  *repo.Files
	hash   func(path string) ([sha256.Size]byte, error)
	hashed int     // in the last look
	failed []error // files that could not be read in the last look, and why
}

func openTree(r repo.Repo, root string) (*tree, error) {
	files, err := r.OpenFiles(root)
	return &tree{files: files, hash: hashFile}, err
}

// found is a file that was looked at.
type found struct {
	repo.File
	fresh  bool // it was read now
	folder bool // that could not be read
	err    error
}

// each calls f with the key of every regular file, in no order. A file or folder that cannot be read is noted in failed, and
// its keys of before count. What was read is remembered also when f or ctx ends the look.
func (d *tree) each(ctx context.Context, f func(key string) error) error {
	d.hashed, d.failed = 0, nil
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	paths, all := make(chan found, 1024), make(chan found, 1024)
	var walked error
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(paths)
		walked = d.walk(ctx, paths, all)
	})
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for x := range paths {
				x.Sum, x.err = d.hash(filepath.Join(d.files.Root, x.Path))
				x.fresh = true
				if !send(ctx, all, x) {
					return
				}
			}
		})
	}
	go func() { wg.Wait(); close(all) }()
	keep, err := d.take(all, cancel, f)
	switch {
	case outer.Err() != nil:
		walked = outer.Err() // files may be lacking though the walk came to its end
	case err != nil:
		walked = nil // it was stopped
	}
	if err != nil || walked != nil { // the look was not whole: what it did not come to stays remembered
		for x := range d.files.Below(".") {
			if _, ok := keep[x.Path]; !ok {
				keep[x.Path] = x
			}
		}
	}
	return errors.Join(err, walked, d.files.Save(slices.Collect(maps.Values(keep))))
}

// take calls f with the keys of files, and returns the files by their paths.
func (d *tree) take(all <-chan found, stop func(), f func(key string) error) (keep map[string]repo.File, err error) {
	keep = make(map[string]repo.File)
	give := func(x repo.File) {
		keep[x.Path] = x
		if err == nil {
			if err = f(keyOf(x.Sum)); err != nil {
				stop()
			}
		}
	}
	for x := range all {
		if x.fresh {
			d.hashed++
		}
		if x.err != nil {
			d.failed = append(d.failed, x.err)
			if x.folder {
				for last := range d.files.Below(x.Path) {
					if _, ok := keep[last.Path]; !ok {
						give(last)
					}
				}
			}
			last, ok := d.files.Last(x.Path)
			if !ok {
				continue
			}
			x.File = last
		} else if time.Since(time.Unix(0, x.Time)) < racy {
			x.Time = -1 // it is read again next time
		}
		give(x.File)
	}
	return keep, err
}

// walk sends files that are known to all, and others to unknown.
func (d *tree) walk(ctx context.Context, unknown, all chan<- found) error {
	root, err := filepath.EvalSymlinks(d.files.Root) // WalkDir does not follow a link
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, path)
		if err != nil && (path == root || relErr != nil) {
			return err
		}
		if err == nil && !e.Type().IsRegular() {
			return ctx.Err()
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the folder is gone meanwhile
		}
		x := found{File: repo.File{Path: rel}, folder: err != nil, err: err}
		if err == nil {
			var info fs.FileInfo
			if info, x.err = e.Info(); x.err == nil {
				x.Size, x.Time = info.Size(), info.ModTime().UnixNano()
			} else if errors.Is(x.err, fs.ErrNotExist) {
				return nil // it is gone meanwhile
			}
		}
		to := unknown
		if known, ok := d.files.Known(rel, x.Size, x.Time); x.err != nil || ok {
			x.Sum, to = known.Sum, all
		}
		if !send(ctx, to, x) {
			return ctx.Err()
		}
		return nil
	})
}

func send(ctx context.Context, to chan<- found, x found) bool {
	select {
	case to <- x:
		return true
	case <-ctx.Done():
		return false
	}
}

// unread is an error about the files that could not be read; nil if there are none.
func (d *tree) unread() error {
	if len(d.failed) == 0 {
		return nil
	}
	const named = 5
	texts := make([]string, 0, named)
	for _, err := range d.failed[:min(named, len(d.failed))] {
		texts = append(texts, err.Error())
	}
	more := ""
	if n := len(d.failed) - named; n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	return fmt.Errorf("%d below %s could not be read: %s%s", len(d.failed), d.files.Root, strings.Join(texts, "; "), more)
}

func hashFile(path string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}

// keyOf is the key of a file, as text: the SHA-256 multihash of its bytes.
func keyOf(sum [sha256.Size]byte) string {
	key, err := mh.Encode(sum[:], mh.SHA2_256)
	if err != nil {
		panic(err) // the function is known
	}
	return httpapi.FormatKey(key)
}

func openTrees(r repo.Repo, roots []string) (all []*tree, err error) {
	for _, root := range roots {
		d, err := openTree(r, root)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// addTrees adds the keys of the files below folders. It goes on after files that cannot be read, and says so in the end.
func addTrees(ctx context.Context, c *cli.Command) error {
	if err := checkArguments(c, 1, -1, "at least one argument after --from dir"); err != nil {
		return err
	}
	cl, err := newClient(c)
	if err != nil {
		return err
	}
	folders, err := openTrees(cl.repo, c.Args().Slice())
	if err != nil {
		return err
	}
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		for _, d := range folders {
			if err = d.each(ctx, func(key string) error { _, err := io.WriteString(w, key+"\n"); return err }); err != nil {
				break
			}
		}
		_ = w.CloseWithError(err)
	}()
	err = changeKeys(ctx, c, cl, r, "add")
	_ = r.CloseWithError(context.Canceled)
	<-done
	for _, d := range folders {
		err = errors.Join(err, d.unread())
	}
	return err
}

func pathCommand() *cli.Command {
	return &cli.Command{
		Name: "path", Usage: "print the files that have keys, of those that keys add --from dir has seen; the exit code is 3 if there is none for one", ArgsUsage: "KEY…|-",
		Description: keyHelp + "\nFiles that have changed since are left out.",
		Flags:       []cli.Flag{jsonFlag("a JSON object a line: key, path, size")},
		Action: func(_ context.Context, c *cli.Command) error {
			in, err := keyLines(c)
			if err != nil {
				return err
			}
			r, err := openRepo(c)
			if err != nil {
				return err
			}
			none := false
			err = eachKey("keys", in, func(line []byte) error {
				n, err := printPaths(c, r, string(line))
				if n == 0 && err == nil {
					none = true
					fmt.Fprintf(c.Root().ErrWriter, "venn: no file seen has %s\n", line)
				}
				return err
			})
			if err == nil && none {
				return errNone
			}
			return err
		},
	}
}

// printPaths prints the files that have a key, and returns how many.
func printPaths(c *cli.Command, r repo.Repo, text string) (n int, err error) {
	key, err := httpapi.ParseKey(text)
	if err != nil {
		return 0, usageError{err}
	}
	hash, err := mh.Decode(key)
	if err != nil || hash.Code != mh.SHA2_256 || len(hash.Digest) != sha256.Size {
		return 0, nil //nolint:nilerr // no file has such a key
	}
	for x, err := range r.FilesWith([sha256.Size]byte(hash.Digest)) {
		if err != nil {
			return n, err
		}
		info, err := os.Stat(x.Path)
		if err != nil || info.Size() != x.Size || x.Time >= 0 && info.ModTime().UnixNano() != x.Time {
			continue
		}
		n++
		v := struct {
			Key  string `json:"key"`
			Path string `json:"path"`
			Size int64  `json:"size"`
		}{text, x.Path, x.Size}
		if err := show(c, v, func(w io.Writer) error { _, err := fmt.Fprintln(w, x.Path); return err }); err != nil {
			return n, err
		}
	}
	return n, nil
}
