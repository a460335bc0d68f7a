package repo

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/venn-p2p/venn/node/bounded"
)

// importsFolder is a folder with a file for each import: a command that adds the keys of a source, and may follow
// it.
const importsFolder = "imports"

// lockSuffix ends the names of the imports' locks. Sources takes a lock for a moment, so OpenImport tries up to
// lockTries times more.
const (
	lockSuffix = ".lock"
	lockTries  = 5
)

// ErrFollowed is matched if another command follows the same source.
var ErrFollowed = errors.New("a command follows it already")

// Import records on disk which keys an import claims: those that it added to the peer's, and those that another
// import had claimed already. So it can remove its own keys, even after a restart, and leaves all others, and those
// that another import claims. The file has a change on each line: + or -, and the key. When more than half of its
// lines have no effect any more, the file is rewritten with only the present claims.
type Import struct {
	name   string
	file   *os.File
	lines  int // number of lines of the file
	keys   int // number of keys claimed; too high if some were added twice
	unlock func()
}

// OpenImport opens the record of the import that source describes, and returns the keys in it. The error matches
// ErrFollowed if another command has it open.
func (r Repo) OpenImport(ctx context.Context, source string) (*Import, map[string]bool, error) {
	if err := os.MkdirAll(r.path(importsFolder), 0o700); err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256([]byte(source))
	name := filepath.Join(r.path(importsFolder), hex.EncodeToString(sum[:8]))
	unlock, err := lock(name + lockSuffix)
	for range lockTries {
		if errors.Is(err, errHeld) {
			time.Sleep(lockWait)
			unlock, err = lock(name + lockSuffix)
		}
	}
	if errors.Is(err, errHeld) {
		return nil, nil, fmt.Errorf("%s: %w", source, ErrFollowed)
	}
	if err != nil {
		return nil, nil, err
	}
	i := &Import{name: name, unlock: unlock}
	var keys map[string]bool
	err = i.Alone(ctx, func() error { keys, err = i.load(); return err })
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return i, keys, nil
}

// Alone calls f while no other import of the repository changes claims or keys. It waits until others have finished,
// or ctx ends.
func (i *Import) Alone(ctx context.Context, f func() error) error {
	return whileLocked(ctx, filepath.Join(filepath.Dir(i.name), "lock"), f)
}

// Others returns the keys that other imports of the repository claim. Call it within Alone for a result that stays
// true.
func (i *Import) Others() (map[string]bool, error) {
	entries, err := os.ReadDir(filepath.Dir(i.name))
	keys := make(map[string]bool)
	for _, e := range entries {
		if name := e.Name(); name != filepath.Base(i.name) && isImport(name) {
			err = errors.Join(err, readImport(filepath.Join(filepath.Dir(i.name), name), keys))
		}
	}
	return keys, err
}

// isImport reports whether a file in the folder of imports has claims: its name is 16 hexadecimal digits.
func isImport(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == 16
}

// readImport adds the claims of a file to keys. A missing file has none.
func readImport(name string, keys map[string]bool) error {
	file, err := OpenRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	own := make(map[string]bool)
	in := bufio.NewScanner(file)
	in.Buffer(nil, bounded.MaxBytes)
	in.Split(wholeLine)
	number := 1
	for ; in.Scan(); number++ {
		if key, added := strings.CutPrefix(in.Text(), "+"); added {
			own[key] = true
		} else if key, removed := strings.CutPrefix(in.Text(), "-"); removed {
			delete(own, key)
		} else {
			return bounded.At(name, number, errors.New("neither + nor - and a key: move the file away, and what the import added so far stays"))
		}
	}
	if in.Err() != nil {
		return bounded.At(name, number, in.Err())
	}
	maps.Copy(keys, own)
	return nil
}

// wholeLine splits lines, and leaves out a last one without an end: its write was cut short.
func wholeLine(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if end := bytes.IndexByte(data, '\n'); end >= 0 {
		return end + 1, data[:end], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

// load reads the file, and writes it again with only the present claims.
func (i *Import) load() (map[string]bool, error) {
	keys := make(map[string]bool)
	err := readImport(i.name, keys)
	if err != nil {
		return nil, err
	}
	var now bytes.Buffer
	for k := range keys {
		now.WriteString("+" + k + "\n")
	}
	if err := writeFile(i.name, now.Bytes()); err != nil {
		return nil, err
	}
	if i.file, err = os.OpenFile(i.name, os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	i.lines, i.keys = len(keys), len(keys)
	return keys, nil
}

// Adds records claims of keys. Call it before the keys are added to the peer's.
func (i *Import) Adds(keys []string) error { return i.write('+', keys) }

// Removed records that claims are taken back. Call it after the keys were removed from the peer's, or left to other
// imports. The record must have the keys.
func (i *Import) Removed(keys []string) error { return i.write('-', keys) }

// write appends lines to the file durably: all of them, or none after an error.
func (i *Import) write(sign byte, keys []string) error {
	if i.lines > 2*i.keys {
		if err := i.shorten(); err != nil {
			return err
		}
	}
	if err := i.append(sign, keys); err != nil {
		return err
	}
	i.lines += len(keys)
	if sign == '+' {
		i.keys += len(keys)
	} else {
		i.keys -= len(keys)
	}
	return nil
}

// shorten writes the file again with only the present claims. After an error, the next write tries again.
func (i *Import) shorten() error {
	_ = i.file.Close() // the file is replaced: nothing may be written to the old one
	_, err := i.load()
	return err
}

func (i *Import) append(sign byte, keys []string) error {
	info, err := i.file.Stat()
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(i.file, 1<<16)
	for _, k := range keys {
		_ = w.WriteByte(sign) // Flush returns the error
		_, _ = w.WriteString(k + "\n")
	}
	if err = w.Flush(); err == nil {
		err = i.file.Sync()
	}
	if err != nil {
		_ = i.file.Truncate(info.Size())
	}
	return err
}

// Close closes the record. Then another command may open it.
func (i *Import) Close() error {
	defer i.unlock()
	return i.file.Close()
}
