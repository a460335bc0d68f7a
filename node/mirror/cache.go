package mirror

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// The folders of a cache. A file of partial is content that was being fetched. Its name begins with that of the sum.
const (
	wholeFolder   = "whole"
	partialFolder = "partial"
	namesFolder   = "names"
	lockName      = "lock"
)

var (
	// errFull says that content does not fit into the cache, whatever is evicted.
	errFull = errors.New("mirror: no room in the cache")
	// ErrInUse says that another mirror uses the folder.
	ErrInUse = errors.New("mirror: folder in use by another mirror")
)

// cache keeps whole content on disk, up to a number of bytes; the least recently used goes first. Content that was there
// before the program began is checked when it is first opened, and again when its file has changed.
type cache struct {
	dir      string
	limit    int64
	withdraw func(...Sum) // is called before content goes
	lock     io.Closer

	moving sync.Mutex // is held while a file comes or goes

	mu    sync.Mutex
	used  int64 // of whole files, and what was reserved for those to come
	files *simplelru.LRU[Sum, *cached]
}

// cached is a whole file.
type cached struct {
	size    int64
	checked time.Time // the file's time of change when its hash was right; zero: not since the program began
}

// openCache opens the cache in a folder, or makes it. whole is what it holds, left what was being fetched when the last
// program ended: its files are gone.
func openCache(dir string, limit int64, withdraw func(...Sum)) (c *cache, whole, left []Sum, err error) {
	for _, name := range []string{wholeFolder, partialFolder, namesFolder} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, nil, nil, fmt.Errorf("mirror: %w", err)
		}
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("mirror: %w", err)
	}
	lock, err := vfs.Default.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %s: %w", ErrInUse, dir, err)
	}
	files, err := simplelru.NewLRU[Sum, *cached](math.MaxInt, nil)
	if err != nil {
		panic(err) // the size is positive
	}
	c = &cache{dir: dir, limit: limit, withdraw: withdraw, lock: lock, files: files}
	if left, err = c.clean(); err == nil {
		whole, err = c.load()
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, lock.Close())
	}
	return c, whole, left, nil
}

func (c *cache) close() error { return c.lock.Close() }

// clean removes what was being fetched, and returns its sums.
func (c *cache) clean() (left []Sum, err error) {
	entries, err := os.ReadDir(filepath.Join(c.dir, partialFolder))
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".")
		if sum, err := ParseSum(name); err == nil {
			left = append(left, sum)
		}
		if err := os.Remove(filepath.Join(c.dir, partialFolder, e.Name())); err != nil {
			return nil, err
		}
	}
	return left, err
}

// load lists the whole files, the least recently used first. Files of other names stay as they are.
func (c *cache) load() (whole []Sum, err error) {
	type found struct {
		sum  Sum
		info fs.FileInfo
	}
	var all []found
	entries, err := os.ReadDir(filepath.Join(c.dir, wholeFolder))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		sum, err := ParseSum(e.Name())
		info, infoErr := e.Info()
		if err == nil && infoErr == nil && info.Mode().IsRegular() {
			all = append(all, found{sum, info})
		}
	}
	slices.SortFunc(all, func(a, b found) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	for _, f := range all {
		c.files.Add(f.sum, &cached{size: f.info.Size()})
		c.used += f.info.Size()
		whole = append(whole, f.sum)
	}
	return whole, nil
}

func (c *cache) path(s Sum) string { return filepath.Join(c.dir, wholeFolder, s.String()) }

// size returns the bytes of whole content; ok is false if it is not there.
func (c *cache) size(s Sum) (size int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.files.Peek(s)
	if !ok {
		return 0, false
	}
	return e.size, true
}

// usage returns the bytes in use, and the number of whole files.
func (c *cache) usage() (used int64, files int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used, c.files.Len()
}

// open opens whole content and marks it as used. Content whose file is damaged is dropped, and not there. The file stays
// readable when the content is evicted.
func (c *cache) open(s Sum) (f *os.File, size int64, ok bool) {
	c.mu.Lock()
	e, ok := c.files.Get(s)
	var checked time.Time
	if ok {
		size, checked = e.size, e.checked
	}
	c.mu.Unlock()
	if !ok {
		return nil, 0, false
	}
	f, err := os.Open(c.path(s))
	if err == nil {
		if err = c.trust(s, f, size, checked); err == nil {
			return f, size, true
		}
		_ = f.Close()
	}
	c.drop(s)
	return nil, 0, false
}

// trust returns an error unless a file is as it was when its hash was right, or its hash is right now.
func (c *cache) trust(s Sum, f *os.File, size int64, checked time.Time) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != size {
		return errWrong
	}
	if checked.IsZero() || !checked.Equal(info.ModTime()) {
		if err := s.check(f, size, nil); err != nil {
			return err
		}
	}
	now := time.Now()
	if os.Chtimes(c.path(s), now, now) != nil {
		return nil // a folder that cannot be written is read on
	}
	if info, err = f.Stat(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.files.Peek(s); ok {
		e.checked = info.ModTime()
	}
	return nil
}

// drop withdraws whole content and removes it.
func (c *cache) drop(s Sum) {
	c.mu.Lock()
	e, ok := c.files.Peek(s)
	if ok {
		c.files.Remove(s)
		c.used -= e.size
	}
	c.mu.Unlock()
	if ok {
		c.remove(s)
	}
}

// remove withdraws content before its file goes: a crash between them leaves a file, not a key without one. Content that
// has come again meanwhile stays.
func (c *cache) remove(s Sum) {
	c.moving.Lock()
	defer c.moving.Unlock()
	if _, there := c.size(s); there {
		return
	}
	c.withdraw(s)
	_ = os.Remove(c.path(s))
}

// reserve makes room for more bytes by evicting content. They count as used until release or keep.
func (c *cache) reserve(bytes int64) error {
	for {
		c.mu.Lock()
		if c.used+bytes <= c.limit {
			c.used += bytes
			c.mu.Unlock()
			return nil
		}
		s, e, ok := c.files.RemoveOldest()
		if ok {
			c.used -= e.size
		}
		c.mu.Unlock()
		if !ok {
			return errFull
		}
		c.remove(s)
	}
}

func (c *cache) release(bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used -= bytes
}

// create makes the file of content that is about to be fetched.
func (c *cache) create(s Sum) (*os.File, error) {
	return os.CreateTemp(filepath.Join(c.dir, partialFolder), s.String()+".")
}

// keep takes in a file that create made, whose content is whole and right. reserved bytes are given back.
func (c *cache) keep(s Sum, f *os.File, size, reserved int64) error {
	c.moving.Lock()
	defer c.moving.Unlock()
	if err := os.Rename(f.Name(), c.path(s)); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.files.Peek(s); ok {
		c.used -= old.size
	}
	c.used += size - reserved
	c.files.Add(s, &cached{size, info.ModTime()})
	return nil
}
