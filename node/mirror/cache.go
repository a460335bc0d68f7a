package mirror

import (
	"cmp"
	"crypto/sha256"
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

// The folder of a cache's files, and its lock. A file's name is its sum; until it is whole, a dot and digits follow.
const filesFolder, lockName = "whole", "lock"

// maxContents bounds the number of files: a small one takes a block of the disk.
const maxContents = 1 << 18

// ErrInUse says that another mirror uses the folder.
var ErrInUse = errors.New("mirror: folder in use by another mirror")

// cache keeps whole content on disk, up to limit bytes, and evicts the least recently used first. Content from before
// the program began is checked when it is first opened, and again when its file has changed.
type cache struct {
	dir      string
	limit    int64
	withdraw func(...Sum) // is called before content goes
	lock     io.Closer

	moving sync.Mutex // is held while a file is renamed into place or removed

	mu    sync.Mutex
	used  int64                        // bytes of whole files, and bytes reserved for files to come
	doubt int64                        // bytes of files to come that peers sent, whose hash is not yet known to be right
	files *simplelru.LRU[Sum, *cached] // what leaves it is no longer in used
}

// cached is a whole file.
type cached struct {
	size int64

	mu      sync.Mutex // is held while the file is hashed: others wait for the result
	checked int64      // the file's time of change when its hash was right, in ns; 0: not since the program began
}

// openCache opens the cache in a folder, or makes it. It withdraws content whose fetch the last program did not end,
// and removes the least recently used content above the limit.
func openCache(dir string, limit int64, withdraw func(...Sum)) (c *cache, err error) {
	if err := os.MkdirAll(filepath.Join(dir, filesFolder), 0o700); err != nil {
		return nil, fmt.Errorf("mirror: %w", err)
	}
	lock, err := vfs.Default.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInUse, dir, err)
	}
	c = &cache{dir: dir, limit: limit, withdraw: withdraw, lock: lock}
	c.files, _ = simplelru.NewLRU(math.MaxInt, func(_ Sum, e *cached) { c.used -= e.size }) // fails only for sizes below 1
	if err := errors.Join(c.load(), c.reserve(0)); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return c, nil
}

// load lists the whole files, the least recently used first, and removes the files of unfinished fetches. It leaves
// files of other names alone.
func (c *cache) load() error {
	entries, err := os.ReadDir(filepath.Join(c.dir, filesFolder))
	if err != nil {
		return err
	}
	var all []fs.FileInfo
	var left []Sum
	for _, e := range entries {
		name, _, unfinished := strings.Cut(e.Name(), ".")
		sum, err := ParseSum(name)
		switch info, infoErr := e.Info(); {
		case err != nil || infoErr != nil || !info.Mode().IsRegular():
		case !unfinished:
			all = append(all, info)
		case os.Remove(filepath.Join(c.dir, filesFolder, e.Name())) == nil:
			left = append(left, sum)
		}
	}
	c.withdraw(left...)
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range all {
		c.enter(Sum(info.Name()), &cached{size: info.Size()})
	}
	return nil
}

// enter counts a whole file. c.mu is held, or nobody else knows the cache yet.
func (c *cache) enter(s Sum, e *cached) {
	c.files.Remove(s)
	c.files.Add(s, e)
	c.used += e.size
}

func (c *cache) path(s Sum) string { return filepath.Join(c.dir, filesFolder, string(s)) }

// size returns the size of whole content in bytes; ok is false if the cache does not have it.
func (c *cache) size(s Sum) (size int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.files.Peek(s)
	if !ok {
		return 0, false
	}
	return e.size, true
}

// whole returns the sums of the whole files.
func (c *cache) whole() []Sum {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.files.Keys()
}

// usage returns the bytes in use, and the number of whole contents, without records.
func (c *cache) usage() (used int64, contents int) {
	contents = len(keysOf(c.whole()))
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used, contents
}

// open opens whole content and marks it as used. It drops content whose file is damaged; then ok is false. The file
// stays readable when the content is evicted.
func (c *cache) open(s Sum) (f *os.File, ok bool) {
	c.mu.Lock()
	e, ok := c.files.Get(s)
	if !ok {
		c.mu.Unlock()
		return nil, false
	}
	f, err := os.Open(c.path(s)) // with the lock held: a record's file may be replaced by another
	c.mu.Unlock()
	if err == nil {
		if c.trust(s, f, e) == nil {
			return f, true
		}
		_ = f.Close()
	}
	c.drop(s)
	return nil, false
}

// trust returns an error unless a file is unchanged since its hash was right, or its hash is right now. It sets and
// notes the file's time of change: a whole second, which all file systems keep, and a later write hardly hits.
func (c *cache) trust(s Sum, f *os.File, e *cached) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	info, err := f.Stat()
	if err == nil && info.Size() != e.size {
		err = errWrong
	}
	if err == nil && e.checked != info.ModTime().UnixNano() {
		err = s.check(f, e.size, nil)
	}
	if err != nil {
		return err
	}
	used := time.Now().Truncate(time.Second)
	if os.Chtimes(c.path(s), used, used) != nil {
		used = info.ModTime() // content of a read-only folder can still be read
	}
	e.checked = used.UnixNano()
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

// remove withdraws content, then removes its file: a crash in between leaves a file without a key, not a key without a
// file. Content that has come again meanwhile stays.
func (c *cache) remove(s Sum) {
	c.moving.Lock()
	defer c.moving.Unlock()
	if _, there := c.size(s); there {
		return
	}
	c.withdraw(s)
	_ = os.Remove(c.path(s))
}

// reserve evicts content until the given number of bytes fits, and counts them as used until their file is kept or
// ended. The error is errDisk.
func (c *cache) reserve(bytes int64) error {
	for {
		c.mu.Lock()
		fits, oldest, ok := c.used+bytes <= c.limit && c.files.Len() < maxContents, Sum(""), true
		if fits {
			c.used += bytes
		} else {
			oldest, _, ok = c.files.RemoveOldest()
		}
		c.mu.Unlock()
		switch {
		case fits:
			return nil
		case !ok:
			return errDisk
		}
		c.remove(oldest)
	}
}

// incoming is the file of content that is being fetched.
type incoming struct {
	c        *cache
	f        *os.File
	reserved int64 // bytes reserved in the cache
	doubt    int64 // bytes that peers sent, whose hash is not yet known to be right
}

// create makes the file of content that is about to come. The caller must call end.
func (c *cache) create(s Sum) (*incoming, error) {
	f, err := os.CreateTemp(filepath.Join(c.dir, filesFolder), string(s)+".")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDisk, err)
	}
	return &incoming{c: c, f: f}, nil
}

// WriteAt makes room, and writes. The error is errDisk.
func (in *incoming) WriteAt(p []byte, at int64) (int, error) {
	if more := at + int64(len(p)) - in.reserved; more > 0 {
		if err := in.c.reserve(more); err != nil {
			return 0, err
		}
		in.reserved += more
	}
	n, err := in.f.WriteAt(p, at)
	if err != nil {
		err = fmt.Errorf("%w: %w", errDisk, err)
	}
	return n, err
}

// fromPeers counts bytes that a peer sends, before they are written. The error is errShare if the doubtful bytes of all
// files together would exceed 1/peersShare of the cache.
func (in *incoming) fromPeers(bytes int64) error {
	in.c.mu.Lock()
	defer in.c.mu.Unlock()
	if in.c.doubt+bytes > in.c.limit/peersShare {
		return errShare
	}
	in.c.doubt += bytes
	in.doubt += bytes
	return nil
}

// giveBack gives back the room that the file has reserved. c.mu is held.
func (in *incoming) giveBack() {
	in.c.used -= in.reserved
	in.c.doubt -= in.doubt
	in.reserved, in.doubt = 0, 0
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
	in.giveBack()
	in.c.enter(s, &cached{size: size, checked: info.ModTime().UnixNano()})
	return nil
}

// end closes the file, gives reserved room back, and removes a file that was not kept.
func (in *incoming) end() {
	in.c.mu.Lock()
	defer in.c.mu.Unlock()
	in.giveBack()
	_ = in.f.Close()
	_ = os.Remove(in.f.Name()) // one that was kept has another name
}

// put reads content and keeps it as s, or under the SHA-256 of its bytes if s is empty. It returns the sum and the size
// in bytes. The error is errDisk if there are more bytes than limit.
func (c *cache) put(s Sum, r io.Reader, limit int64) (Sum, int64, error) {
	in, err := c.create(cmp.Or(s, record{}.sum())) // while the sum is unknown, the file has that of the empty name
	if err != nil {
		return s, 0, err
	}
	defer in.end()
	running := sha256.New()
	size, err := io.Copy(io.MultiWriter(io.NewOffsetWriter(in, 0), running), io.LimitReader(r, limit+1))
	if s == "" {
		s = sumOf(kindPlain, [sha256.Size]byte(running.Sum(nil)))
	}
	switch {
	case err != nil:
		return s, size, err
	case size > limit:
		return s, size, errDisk
	}
	return s, size, in.keep(s, size)
}
