package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

func ungiven() (string, error) { return "", nil }

// look returns the keys of a tree, sorted.
func (d *tree) look(t *testing.T) (keys []string) {
	t.Helper()
	if err := d.each(t.Context(), func(x repo.File, _ bool) error { keys = append(keys, keyOf(x.Sum)); return nil }, ungiven); err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	return keys
}

func TestTreeReadsWhatHasChanged(t *testing.T) {
	r, root := repo.Repo{Dir: t.TempDir()}, t.TempDir()
	old := time.Now().Add(-time.Hour)
	write := func(name, text string, at time.Time) string {
		path := filepath.Join(root, name)
		noErr(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)))
		return keyOf(sha256.Sum256([]byte(text)))
	}
	var want []string
	for i := range 50 {
		want = append(want, write(fmt.Sprintf("d%d/a \"quoted\"\n%d", i%7, i), fmt.Sprint(i), old))
	}
	slices.Sort(want)
	hold := func(what string, hashed int) *tree {
		t.Helper()
		d := must(openTree(r, root))
		if got := d.look(t); !slices.Equal(got, want) || d.hashed != hashed || d.unread() != nil {
			t.Errorf("%s: %d keys, want %d; %d files read, want %d; %v", what, len(got), len(want), d.hashed, hashed, d.unread())
		}
		return d
	}
	hold("first", 50)
	hold("second", 0)
	gone := slices.Index(want, keyOf(sha256.Sum256([]byte("0"))))
	want[gone] = write("d0/a \"quoted\"\n0", "x", old.Add(time.Second))
	slices.Sort(want)
	hold("one changed", 1)
	hold("and remembered", 0)
}

func TestTreeGoesOnAfterWhatCannotBeRead(t *testing.T) {
	r, root := repo.Repo{Dir: t.TempDir()}, t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		noErr(t, os.WriteFile(filepath.Join(root, name), []byte(name), 0o600))
	}
	d := must(openTree(r, root))
	broken := func(path string) ([sha256.Size]byte, error) {
		if strings.HasSuffix(path, "b") {
			return [sha256.Size]byte{}, &os.PathError{Op: "open", Path: path, Err: os.ErrPermission}
		}
		return hashFile(path)
	}
	d.hash = broken
	if got := d.look(t); len(got) != 2 || d.unread() == nil || !strings.Contains(d.unread().Error(), "1 below "+root+" could not be read") {
		t.Errorf("%d keys, %v, want 2 keys and a word about the third", len(got), d.unread())
	}
	d.hash = hashFile
	if got := d.look(t); len(got) != 3 || d.unread() != nil || d.hashed != 3 {
		t.Errorf("%d keys, %v, %d read, want 3 that are read again: they are too young to be remembered", len(got), d.unread(), d.hashed)
	}
	d.hash = broken
	if got := d.look(t); len(got) != 3 || d.unread() == nil {
		t.Errorf("%d keys, %v, want the key of before of the one that cannot be read", len(got), d.unread())
	}
}

func TestTreeRemembersAfterABrokenLook(t *testing.T) {
	r, root := repo.Repo{Dir: t.TempDir()}, t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(root, name)
		noErr(t, errors.Join(os.WriteFile(path, []byte(name), 0o600), os.Chtimes(path, old, old)))
	}
	d := must(openTree(r, root))
	broken := errors.New("broken")
	if err := d.each(t.Context(), func(repo.File, bool) error { return broken }, ungiven); !errors.Is(err, broken) {
		t.Errorf("%v, want the error of f", err)
	}
	first := d.hashed
	if d.look(t); first == 0 || first+d.hashed != 3 {
		t.Errorf("%d files read, then %d, want 3 in all", first, d.hashed)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := d.each(ended, func(repo.File, bool) error { return nil }, ungiven); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the look was ended", err)
	}
	if d.look(t); d.hashed != 0 {
		t.Errorf("%d files read after a look that was ended, want 0", d.hashed)
	}
}

func TestTreeKeepsWhatIsBelowAnUnreadableFolder(t *testing.T) {
	d := must(openTree(repo.Repo{Dir: t.TempDir()}, t.TempDir()))
	for _, path := range []string{filepath.Join("d", "a"), filepath.Join("d", "e", "b"), "da"} {
		d.files.Known[path] = repo.File{Path: path}
	}
	listed := 0
	l := &look{tree: d, now: map[string]repo.File{}, f: func(repo.File, bool) error { listed++; return nil }}
	noErr(t, l.keepBelow("d", os.ErrPermission))
	noErr(t, l.keep(filepath.Join("d", "a"))) // the folder was read in part
	if err := l.save(true, ""); err != nil || len(d.files.Known) != 2 || listed != 2 || len(d.failed) != 1 {
		t.Errorf("%d kept, %d listed, failed: %v, %v, want the two below the folder", len(d.files.Known), listed, d.failed, err)
	}
}

func TestTreeFollowsALinkToTheFolder(t *testing.T) {
	root, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	noErr(t, os.WriteFile(filepath.Join(root, "a"), []byte("a"), 0o600))
	noErr(t, os.Symlink(root, link))
	d := must(openTree(repo.Repo{Dir: t.TempDir()}, link))
	if got := d.look(t); len(got) != 1 {
		t.Errorf("%d keys, want 1", len(got))
	}
}

// A folder that is gone, or has a file in its place, is not there: that is no fault of the look, and may change.
func TestTreeIsGone(t *testing.T) {
	root := filepath.Join(t.TempDir(), "tree")
	noErr(t, os.Mkdir(root, 0o700))
	d := must(openTree(repo.Repo{Dir: t.TempDir()}, root))
	for what, change := range map[string]func() error{
		"no folder": func() error { return os.RemoveAll(root) },
		"a file":    func() error { return errors.Join(os.RemoveAll(root), os.WriteFile(root, nil, 0o600)) },
	} {
		noErr(t, change())
		if err := d.each(t.Context(), func(repo.File, bool) error { return nil }, ungiven); !errors.As(err, new(goneError)) {
			t.Errorf("%s: %v, want that it is gone", what, err)
		}
	}
}

// A file that changes while it is read, within the clock's resolution, is read again: its age counts before the reading.
func TestTreeReadsAgainWhatChangedMeanwhile(t *testing.T) {
	r, name := repo.Repo{Dir: t.TempDir()}, filepath.Join(t.TempDir(), "a")
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		write := func(text string) {
			noErr(t, errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chtimes(name, now, now)))
		}
		write("a")
		d := must(openTree(r, filepath.Dir(name)))
		d.hash = func(path string) ([sha256.Size]byte, error) {
			sum, err := hashFile(path)
			write("b")
			time.Sleep(racy)
			return sum, err
		}
		d.look(t)
		d.hash = hashFile
		if got, want := d.look(t), keyOf(sha256.Sum256([]byte("b"))); got[0] != want {
			t.Errorf("key %s, want %s, of the file as it is", got[0], want)
		}
	})
}

// Files are read on while the keys of others are sent.
func TestTreeReadsWhileItSends(t *testing.T) {
	const files = 100
	root := t.TempDir()
	for i := range files {
		noErr(t, os.WriteFile(filepath.Join(root, fmt.Sprint(i)), nil, 0o600))
	}
	d := must(openTree(repo.Repo{Dir: t.TempDir()}, root))
	var read sync.WaitGroup
	read.Add(files)
	d.hash = func(path string) ([sha256.Size]byte, error) { defer read.Done(); return hashFile(path) }
	all := make(chan struct{})
	go func() { read.Wait(); close(all) }()
	noErr(t, d.each(t.Context(), func(repo.File, bool) error {
		select {
		case <-all:
			return nil
		case <-time.After(10 * time.Second):
			return errors.New("files wait until the keys of another are sent")
		}
	}, ungiven))
}
