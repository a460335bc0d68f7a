package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	mh "github.com/multiformats/go-multihash"
	"github.com/urfave/cli/v3"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/bounded"
	"github.com/venn-p2p/venn/node/httpapi"
)

// racy is the least age of a file's last change at which its hash is remembered. A younger file may change again and
// keep its time, within the clock's resolution.
const racy = 2 * time.Second

// tree finds the keys of the files below a folder. Files that have not changed since the last time are not read, the
// others on all cores.
type tree struct {
	files  *repo.Files
	hash   func(path string) ([sha256.Size]byte, error)
	hashed int                // files read in the last look
	failed []error            // files that could not be read in the last look, and why
	show   func(seen, of int) // shows progress
}

func openTree(r repo.Repo, root string) (*tree, error) {
	files, err := r.OpenFiles(root)
	return &tree{files: files, hash: hashFile, show: func(int, int) {}}, err
}

// each calls f with every regular file, in no order; fresh means that its hash differs from the remembered one. If a
// file or folder cannot be read, failed gets the error, and f the remembered files. New hashes are remembered also when
// f or ctx ends the look. At the end of a whole look it calls over, which returns the mark under which all keys were
// given to the daemon.
func (d *tree) each(ctx context.Context, f func(x repo.File, fresh bool) error, over func() (given string, err error)) error {
	d.hashed, d.failed = 0, nil
	l := &look{tree: d, now: make(map[string]repo.File, len(d.files.Known)), f: f}
	err := l.walk(ctx)
	if err == nil {
		err = l.read(ctx)
	}
	given, whole := "", err == nil
	if whole {
		given, err = over()
	}
	return errors.Join(err, l.save(whole, given))
}

// look is one look at a tree.
type look struct {
	*tree
	root        string               // path of the tree's folder, symbolic links resolved
	changed     []found              // files that are to be read
	now         map[string]repo.File // files with which f was called, by path
	fresh       bool                 // a file was read
	seen, total int                  // numbers of files given to f, and found
	f           func(x repo.File, fresh bool) error
	err         error // error that f returned: f is not called again
}

// found is a file that is to be read.
type found struct {
	repo.File
	young bool  // when it was found, its last change was less than racy ago
	err   error // error of reading the file
}

// errNoFolder says that a file has taken the place of a tree's folder.
var errNoFolder = errors.New("it is no folder any more")

// walk gives f the files that have not changed, and lists the others for read.
func (l *look) walk(ctx context.Context) (err error) {
	if l.root, err = filepath.EvalSymlinks(l.files.Root); err != nil {
		return goneError{err}
	}
	return filepath.WalkDir(l.root, func(path string, e fs.DirEntry, err error) error {
		path = strings.TrimPrefix(strings.TrimPrefix(path, l.root), string(filepath.Separator))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case path == "" && (err != nil || !e.IsDir()):
			return goneError{cmp.Or(err, errNoFolder)}
		case err != nil:
			return l.keepBelow(path, err)
		case e.Type().IsRegular():
			return l.file(path, e)
		}
		return nil
	})
}

// file gives f an unchanged file, and lists a changed one. It leaves out a file that vanishes meanwhile.
func (l *look) file(path string, e fs.DirEntry) error {
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	l.total++
	if err != nil {
		l.failed = append(l.failed, err)
		return l.keep(path)
	}
	x := repo.File{Path: path, Size: info.Size(), Time: info.ModTime().UnixNano()}
	if last, known := l.files.Known[path]; known && last.Size == x.Size && last.Time == x.Time {
		return l.keep(path)
	}
	l.changed = append(l.changed, found{File: x, young: time.Since(info.ModTime()) < racy})
	return nil
}

// keepBelow gives f the files remembered below a folder that cannot be read, unless the folder vanished meanwhile.
func (l *look) keepBelow(folder string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	l.failed = append(l.failed, err)
	for path := range l.files.Known {
		if strings.HasPrefix(path, folder+string(filepath.Separator)) {
			if err := l.keep(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep gives f a remembered file. It does nothing if f had the file already: a folder may be read in part.
func (l *look) keep(path string) error {
	x, known := l.files.Known[path]
	if _, given := l.now[path]; given || !known {
		return nil
	}
	return l.give(x, false)
}

// read hashes the changed files on all cores, and gives them to f. Up to requestKeys hashed files wait for f.
func (l *look) read(ctx context.Context) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan found, requestKeys)
	go func() {
		defer close(done)
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for _, x := range l.changed {
			if reading.Err() != nil {
				break
			}
			group.Go(func() error {
				x.Sum, x.err = l.hash(filepath.Join(l.root, x.Path))
				done <- x
				return nil
			})
		}
		_ = group.Wait()
	}()
	for x := range done {
		if l.take(x) != nil {
			stop()
		}
	}
	return cmp.Or(l.err, ctx.Err())
}

// take gives f a file that was read. If the file could not be read, it gives f the remembered one.
func (l *look) take(x found) error {
	l.hashed++
	if x.err != nil {
		l.failed = append(l.failed, x.err)
		return l.keep(x.Path)
	}
	if x.young {
		x.Time = -1 // no file has this time: the next look reads the file again
	}
	last, known := l.files.Known[x.Path]
	l.fresh = true
	return l.give(x.File, !known || last.Sum != x.Sum)
}

// give calls f with a file, unless f has failed before, and shows the progress.
func (l *look) give(x repo.File, fresh bool) error {
	l.now[x.Path] = x
	if l.seen++; l.seen%256 == 0 {
		l.show(l.seen, max(l.total, len(l.files.Known)))
	}
	if l.err == nil {
		l.err = l.f(x, fresh)
	}
	return l.err
}

// save remembers the files seen. After a look that was not whole, files that it did not reach stay remembered.
func (l *look) save(whole bool, given string) error {
	if !whole {
		for path, x := range l.files.Known {
			if _, given := l.now[path]; !given {
				l.now[path] = x
			}
		}
	}
	if len(l.now) == len(l.files.Known) && !l.fresh && given == l.files.Given {
		return nil
	}
	return l.files.Save(l.now, given)
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
	f, err := repo.OpenRegular(path)
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
	var batch []string // keys that are not sent to the daemon yet
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

// markOf asks the daemon for its mark, see [repo.Removals]; empty: it has none. With --private the mark is another one,
// because keys given before without --private are not private.
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
				var lacking error
				err := eachKey("-", in, func(number int, line []byte) error {
					key, err := httpapi.ParseKey(string(line))
					if err != nil {
						return usageError(bounded.At("", number, err))
					}
					n, err := printPaths(c, r, string(line), key)
					if n == 0 && err == nil {
						lacking = errNone
						complain(c.Root().ErrWriter, "no file seen has "+visible(string(line)))
					}
					return err
				})
				return cmp.Or(err, lacking)
			})(ctx, c)
		},
	}
}

// printPaths prints the unchanged files that have the key of a text, and returns their number.
func printPaths(c *cli.Command, r repo.Repo, text string, key []byte) (n int, err error) {
	hash, err := mh.Decode(key)
	if err != nil || hash.Code != mh.SHA2_256 || len(hash.Digest) != sha256.Size {
		return 0, nil //nolint:nilerr // no file has such a key
	}
	all, listErr := r.FilesWith([sha256.Size]byte(hash.Digest))
	for _, x := range all {
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
	return n, listErr
}
