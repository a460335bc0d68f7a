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

// The folders of a cache. A file of partial is content that was being fetched. Its name begins with its sum's name.
const (
	wholeFolder   = "whole"
	partialFolder = "partial"
	lockName      = "lock"
)

const (
	reserveStep = 4 << 20 // bytes by which the place of content that comes grows
	maxContents = 1 << 18 // files; a small one takes a block of the disk
	peersShare  = 4       // peers' bytes not yet known to be right evict at most a quarter of the cache
)

// ErrInUse says that another mirror uses the folder.
var ErrInUse = errors.New("mirror: folder in use by another mirror")

// cache keeps whole content on disk, up to a number of bytes; the least recently used goes first. Content that was there
// before the program began is checked when it is first opened, and again when its file has changed.
type cache struct {
	dir      string
	limit    int64
	withdraw func(...Sum) // is called before content goes
	lock     io.Closer

	moving sync.Mutex // is held while a file comes or goes

	mu     sync.Mutex
	used   int64 // by whole files, and reserved for files to come
	unsure int64 // of used: peers' bytes not yet known to be right
	files  *simplelru.LRU[Sum, *cached]
	named  int // of files: records
}

// cached is a whole file.
type cached struct {
	size    int64
	checked time.Time // the file's time of change when its hash was right; zero: not since the program began
}

// openCache opens the cache in a folder, or makes it. whole is its content; left is the content that was being fetched
// when the last program ended: its files are gone.
func openCache(dir string, limit int64, withdraw func(...Sum)) (c *cache, whole, left []Sum, err error) {
	for _, name := range []string{wholeFolder, partialFolder} {
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
	c = &cache{dir: dir, limit: limit, withdraw: withdraw, lock: lock}
	if c.files, err = simplelru.NewLRU(math.MaxInt, c.left); err != nil {
		panic(err) // the size is positive
	}
	if left, err = c.clean(); err == nil {
		whole, err = c.load()
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, lock.Close())
	}
	return c, whole, left, nil
}

func (c *cache) close() error { return c.lock.Close() }

// clean removes the files of unfinished fetches, and returns their sums.
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
		c.enter(f.sum, &cached{size: f.info.Size()})
		whole = append(whole, f.sum)
	}
	return whole, nil
}

// enter counts a whole file. c.mu is held, or nobody else knows the cache yet.
func (c *cache) enter(s Sum, e *cached) {
	c.files.Remove(s)
	c.files.Add(s, e)
	c.used += e.size
	if s.Kind == Name {
		c.named++
	}
}

// left takes a file out of the counts. c.mu is held.
func (c *cache) left(s Sum, e *cached) {
	c.used -= e.size
	if s.Kind == Name {
		c.named--
	}
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

// usage returns the bytes in use, and the number of whole contents, without records.
func (c *cache) usage() (used int64, contents int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used, c.files.Len() - c.named
}

// open opens whole content and marks it as used. Content whose file is damaged is dropped, and not there. The file stays
// readable when the content is evicted.
func (c *cache) open(s Sum) (f *os.File, size int64, ok bool) {
	c.mu.Lock()
	e, ok := c.files.Get(s)
	if !ok {
		c.mu.Unlock()
		return nil, 0, false
	}
	size, checked := e.size, e.checked
	f, err := os.Open(c.path(s)) // with the lock held: a record's file may be replaced by another
	c.mu.Unlock()
	if err == nil {
		if err = c.trust(s, f, size, checked); err == nil {
			return f, size, true
		}
		_ = f.Close()
	}
	c.drop(s)
	return nil, 0, false
}

// trust returns an error unless a file is unchanged since its hash was right, or its hash is right now.
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
	ok := c.files.Remove(s)
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

// reserve makes room for more bytes by evicting content. They count as used until release or keep. Peers' bytes may
// evict content only up to a share of the cache, for nobody knows yet whether they are right: lying peers cannot empty
// it.
func (c *cache) reserve(bytes int64, from flow) error {
	for {
		s, fits, err := c.room(bytes, from)
		if fits || err != nil {
			return err
		}
		c.remove(s)
	}
}

// room reserves more bytes if they fit. Else it takes out the content that is to be removed for them.
func (c *cache) room(bytes int64, from flow) (out Sum, fits bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	unsure := c.unsure
	if from == fromPeers {
		unsure += bytes
	}
	if c.used+bytes <= c.limit && c.files.Len() < maxContents {
		c.used, c.unsure = c.used+bytes, unsure
		return out, true, nil
	}
	if from == fromPeers && unsure > c.limit/peersShare {
		return out, false, errShare
	}
	out, _, ok := c.files.RemoveOldest()
	if !ok {
		return out, false, fmt.Errorf("%w: %w", errDisk, errFull)
	}
	return out, false, nil
}

// incoming is the file of content that comes.
type incoming struct {
	c        *cache
	f        *os.File
	reserved int64 // bytes of the cache
	unsure   int64 // of them, for peers' bytes
}

// create makes the file of content that is about to come. It needs release and end.
func (c *cache) create(s Sum) (*incoming, error) {
	f, err := os.CreateTemp(filepath.Join(c.dir, partialFolder), s.String()+".")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDisk, err)
	}
	return &incoming{c: c, f: f}, nil
}

// writeAt makes room and writes. size is the length of the whole content, -1 if it is not known. The errors: errShare,
// errDisk.
func (in *incoming) writeAt(from flow, p []byte, at, size int64) error {
	if end := at + int64(len(p)); end > in.reserved {
		upTo := in.reserved + reserveStep
		if size >= 0 {
			upTo = min(upTo, size)
		}
		bytes := max(end, upTo) - in.reserved
		if err := in.c.reserve(bytes, from); err != nil {
			return err
		}
		in.reserved += bytes
		if from == fromPeers {
			in.unsure += bytes
		}
	}
	if _, err := in.f.WriteAt(p, at); err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	return nil
}

// keep takes the file into the cache: its content is whole and right.
func (in *incoming) keep(s Sum, size int64) error {
	in.c.moving.Lock()
	defer in.c.moving.Unlock()
	in.c.mu.Lock()
	defer in.c.mu.Unlock()
	info, err := in.f.Stat()
	if err == nil {
		err = os.Rename(in.f.Name(), in.c.path(s))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	in.c.used -= in.reserved
	in.reserved = 0
	in.c.enter(s, &cached{size, info.ModTime()})
	return nil
}

// release gives reserved room back, and removes a file that was not kept. Its content can still be read.
func (in *incoming) release() {
	in.c.mu.Lock()
	defer in.c.mu.Unlock()
	in.c.used -= in.reserved
	in.c.unsure -= in.unsure
	in.reserved, in.unsure = 0, 0
	_ = os.Remove(in.f.Name()) // one that was kept has another name
}

func (in *incoming) end() { _ = in.f.Close() }
