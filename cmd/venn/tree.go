package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mh "github.com/multiformats/go-multihash"
	"github.com/urfave/cli/v3"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/httpapi"
)

// racy is the least age of a change whose hash is remembered: a file may change again within the clock's resolution.
const racy = 2 * time.Second

// tree finds the keys of the files below a folder, on all cores. Files that have not changed since the last time are
// not read.
type tree struct {
	files  *repo.Files
	hash   func(path string) ([sha256.Size]byte, error)
	hashed int                // in the last look
	failed []error            // files that could not be read in the last look, and why
	total  atomic.Int64       // files below the folder; 0: not known yet
	show   func(seen, of int) // shows progress; of 0: not known
}

func openTree(r repo.Repo, root string) (*tree, error) {
	files, err := r.OpenFiles(root)
	return &tree{files: files, hash: hashFile, show: func(int, int) {}}, err
}

// found is a file that was looked at.
type found struct {
	repo.File
	last   int  // its number in the list of the last time; -1: it is not in it
	fresh  bool // it was read now
	folder bool // that could not be read
	err    error
}

// each calls f with every regular file, in no order; fresh means that its hash differs from the remembered one. A file
// or folder that cannot be read is noted in failed, and its earlier keys count. Hashes read are remembered also when f
// or ctx ends the look. At the end of a whole look it calls over, which returns the mark under which all keys were
// given.
func (d *tree) each(ctx context.Context, f func(x repo.File, fresh bool) error, over func() (given string, err error)) error {
	d.hashed, d.failed = 0, nil
	d.total.Store(0)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := make(chan []found, 64)
	var walked error
	go func() {
		defer close(all)
		walked = d.search(ctx, all)
	}()
	l := &look{tree: d, kept: make([]bool, d.files.Len()), replaced: make([]bool, d.files.Len()), f: f}
	for batch := range all {
		for _, x := range batch {
			if l.take(x); l.err != nil {
				cancel()
			}
		}
	}
	if l.err != nil {
		walked = nil // it was stopped
	}
	given, whole := "", l.err == nil && walked == nil
	if whole {
		given, l.err = over()
	}
	return errors.Join(l.err, walked, l.save(whole, given))
}

// look is one look at a tree.
type look struct {
	*tree
	kept, replaced []bool // of the files remembered
	fresh          []repo.File
	seen           int
	f              func(x repo.File, fresh bool) error
	err            error // of f: it is not called again
}

func (l *look) give(x repo.File, fresh bool) {
	if l.seen++; l.seen%256 == 0 {
		l.show(l.seen, max(l.seen, l.files.Len(), int(l.total.Load())))
	}
	if l.err == nil {
		l.err = l.f(x, fresh)
	}
}

// keep gives a file as it is remembered.
func (l *look) keep(i int) {
	if l.kept[i] {
		return // its folder could not be read whole
	}
	l.kept[i] = true
	l.give(l.files.At(i), false)
}

func (l *look) take(x found) {
	if x.fresh {
		l.hashed++
	}
	if x.err != nil {
		l.failed = append(l.failed, x.err)
	}
	switch {
	case x.err != nil && x.folder:
		for i := range l.kept {
			if x.Path == "." || strings.HasPrefix(l.files.At(i).Path, x.Path+string(filepath.Separator)) {
				l.keep(i)
			}
		}
	case x.err == nil && x.fresh:
		if time.Since(time.Unix(0, x.Time)) < racy {
			x.Time = -1 // it is read again next time
		}
		if x.last >= 0 {
			l.replaced[x.last] = true
		}
		l.fresh = append(l.fresh, x.File)
		l.give(x.File, x.last < 0 || l.files.At(x.last).Sum != x.Sum)
	case x.last >= 0:
		l.keep(x.last)
	}
}

// save remembers the files seen. After a look that was not whole, files that it did not reach stay remembered.
func (l *look) save(whole bool, given string) error {
	now := make([]repo.File, 0, l.files.Len()+len(l.fresh))
	for i, kept := range l.kept {
		if (kept || !whole) && !l.replaced[i] {
			now = append(now, l.files.At(i))
		}
	}
	if len(now) == l.files.Len() && len(l.fresh) == 0 && given == l.files.Given {
		return nil
	}
	return l.files.Save(append(now, l.fresh...), given)
}

// search sends all files in batches: first the unchanged ones, then the others as they are read.
func (d *tree) search(ctx context.Context, all chan<- []found) error {
	root, err := filepath.EvalSymlinks(d.files.Root)
	if err != nil {
		return goneError{err}
	}
	w := walker{tree: d, root: root, all: all}
	w.group.SetLimit(runtime.GOMAXPROCS(0))
	w.group.Go(func() error { return w.folder(ctx, ".") })
	if err := w.group.Wait(); err != nil {
		return err
	}
	d.total.Store(int64(w.same + len(w.changed)))
	next := make(chan found)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for x := range next {
				x.Sum, x.err = d.hash(filepath.Join(root, x.Path))
				x.fresh = true
				if !send(ctx, all, []found{x}) {
					return
				}
			}
		})
	}
	for _, x := range w.changed {
		if !send(ctx, next, x) {
			break
		}
	}
	close(next)
	readers.Wait()
	return ctx.Err() // files may be lacking
}

// walker looks through folders, some at a time.
type walker struct {
	*tree
	root  string
	all   chan<- []found
	group errgroup.Group

	mu      sync.Mutex
	same    int     // unchanged files
	changed []found // files that are to be read
}

// folder looks through a folder and its subfolders. It leaves out files that vanish meanwhile.
func (w *walker) folder(ctx context.Context, rel string) error {
	entries, err := readFolder(filepath.Join(w.root, rel))
	if err != nil && rel == "." {
		return goneError{err}
	}
	var same, changed []found
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		same = append(same, found{File: repo.File{Path: rel}, last: -1, folder: true, err: err})
	}
	for _, e := range entries {
		path := filepath.Join(rel, e.Name())
		switch {
		case e.IsDir():
			below := func() error { return w.folder(ctx, path) }
			if !w.group.TryGo(below) {
				if err := below(); err != nil {
					return err
				}
			}
		case e.Type().IsRegular():
			if x, unchanged := w.file(path, e); unchanged || x.err != nil {
				same = append(same, x)
			} else {
				changed = append(changed, x)
			}
		}
	}
	w.mu.Lock()
	w.changed = append(w.changed, changed...)
	w.same += len(same)
	w.mu.Unlock()
	if !send(ctx, w.all, slices.DeleteFunc(same, func(x found) bool { return errors.Is(x.err, fs.ErrNotExist) })) {
		return ctx.Err()
	}
	return nil
}

// file looks at a file, and reports whether it is unchanged.
func (w *walker) file(path string, e fs.DirEntry) (x found, unchanged bool) {
	x = found{File: repo.File{Path: path}, last: -1}
	info, err := e.Info()
	if x.err = err; err != nil {
		x.last, _ = w.files.Find(path, 0, 0)
		return x, false
	}
	x.Size, x.Time = info.Size(), info.ModTime().UnixNano()
	x.last, unchanged = w.files.Find(path, x.Size, x.Time)
	return x, unchanged
}

// readFolder reads a folder's entries, in no order. After an error, the entries read before it count.
func readFolder(name string) ([]fs.DirEntry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return f.ReadDir(-1)
}

func send[T any](ctx context.Context, to chan<- T, x T) bool {
	select {
	case to <- x:
		return true
	case <-ctx.Done():
		return false
	}
}

// unread returns an error about the files that could not be read; nil if there are none.
func (d *tree) unread() error {
	if len(d.failed) == 0 {
		return nil
	}
	const named = 5
	texts := make([]string, 0, named)
	for _, err := range d.failed[:min(named, len(d.failed))] {
		texts = append(texts, visible(err.Error()))
	}
	more := ""
	if n := len(d.failed) - named; n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	return fmt.Errorf("%d below %s could not be read: %s%s", len(d.failed), visible(d.files.Root), strings.Join(texts, "; "), more)
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

// keyOf returns the key of a file, as text: the SHA-256 multihash of its bytes.
func keyOf(sum [sha256.Size]byte) string {
	key, err := mh.Encode(sum[:], mh.SHA2_256)
	if err != nil {
		panic(err) // the function is known
	}
	return httpapi.FormatKey(key)
}

func openTrees(r repo.Repo, roots []string) (all []*tree, err error) {
	for _, root := range roots {
		if info, err := os.Stat(root); err == nil && !info.IsDir() {
			return nil, usageError(fmt.Errorf("%s is no folder: --from dir takes folders", visible(root)))
		}
		d, err := openTree(r, root)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// addTrees adds the keys of the files below folders. It skips files that cannot be read, and returns an error for them
// at the end.
func addTrees(ctx context.Context, c *cli.Command, cl *client) error {
	folders, err := openTrees(cl.repo, c.Args().Slice())
	if err != nil {
		return err
	}
	show := newProgress(c.Root().ErrWriter, quietTime)
	defer show.end()
	mark, err := markOf(ctx, c, cl)
	if err != nil {
		return err
	}
	var total httpapi.Changed
	var batch []string // keys that are yet to be given
	rest := func() (string, error) {
		did, err := sendKeys(ctx, cl, lines(batch), "add", ofKeys(c), func(int) {})
		batch = batch[:0]
		total.Keys, total.Changed = total.Keys+did.Keys, total.Changed+did.Changed
		return mark, err
	}
	for _, d := range folders {
		d.show = func(seen, of int) { show.update(stage{what: "files", done: seen, total: of}) }
		given := d.files.Given == mark && mark != ""
		f := func(x repo.File, fresh bool) error {
			if given && !fresh {
				total.Keys++
				return nil
			}
			if batch = append(batch, keyOf(x.Sum)); len(batch) < requestKeys {
				return nil
			}
			_, err := rest()
			return err
		}
		if err = d.each(ctx, f, rest); err != nil {
			break
		}
	}
	show.end()
	if err != nil && total.Keys == 0 {
		return err
	}
	for _, d := range folders {
		err = errors.Join(err, d.unread())
	}
	return errors.Join(err, showChanged(c, total, "add"))
}

// markOf asks the daemon for its mark, see [repo.Removals]; empty: it has none. Private keys have marks of their own: to
// be private is not to be held.
func markOf(ctx context.Context, c *cli.Command, cl *client) (string, error) {
	s, err := get[httpapi.Status](ctx, cl, "status", nil)
	if err != nil || s.Removals == "" || !c.Bool("private") {
		return s.Removals, err
	}
	return s.Removals + "-private", nil
}

func pathCommand() *cli.Command {
	return &cli.Command{
		Name: "path", Usage: "print the files that have keys, of those that keys add --from dir has seen; exit code 3 if a key has none", ArgsUsage: "KEY…|-",
		Description: keyHelp + "\nFiles that have changed since are left out.",
		Flags:       []cli.Flag{jsonFlag("a JSON object a line: key, path, size")},
		Action: func(ctx context.Context, c *cli.Command) error {
			in, err := keyLines(c)
			if err != nil {
				return err
			}
			return onRepo(func(_ context.Context, c *cli.Command, r repo.Repo) error {
				none := false
				err := eachKey("keys", in, func(line []byte) error {
					n, err := printPaths(c, r, string(line))
					if n == 0 && err == nil {
						none = true
						complain(c.Root().ErrWriter, "no file seen has "+visible(string(line)))
					}
					return err
				})
				if err == nil && none {
					return errNone
				}
				return err
			})(ctx, c)
		},
	}
}

// printPaths prints the files that have a key, and returns how many.
func printPaths(c *cli.Command, r repo.Repo, text string) (n int, err error) {
	key, err := httpapi.ParseKey(text)
	if err != nil {
		return 0, usageError(err)
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
		if err := say(c, v, "%s", visible(x.Path)); err != nil {
			return n, err
		}
	}
	return n, nil
}
