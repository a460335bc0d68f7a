package workload

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/node/bounded"
)

//go:embed data/debian-roles.tsv.gz
var debianRoles []byte

const debianName = "debian-roles.tsv.gz"

const (
	// MaxKeyBytes is the longest key, in bytes, of a folder's files.
	MaxKeyBytes = 1024
	maxFileSize = 1 << 50 // largest size in bytes of a file in a .tsv
)

// read reads the catalogue at path: a .tsv, a .tsv.gz, a folder, or the embedded data where path is empty.
func read(path string) (*catalog, error) {
	if path == "" {
		return readTable(debianName, bytes.NewReader(debianRoles))
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	if info.IsDir() {
		return readFolder(path)
	}
	if !strings.HasSuffix(path, ".tsv") && !strings.HasSuffix(path, ".tsv.gz") {
		return nil, fmt.Errorf("workload: %s: neither a folder nor a .tsv or .tsv.gz file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	defer f.Close()
	return readTable(path, f)
}

// readTable reads a table of files and their holders, gzipped if the name ends in .gz.
func readTable(name string, r io.Reader) (*catalog, error) {
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("workload: %s: %w", name, err)
		}
		r = z
	}
	t := table{name: name, seen: map[string]int{}}
	if err := eachLine(name, r, t.line); err != nil {
		return nil, err
	}
	if len(t.c.peers) == 0 {
		return nil, fmt.Errorf("workload: %s: %w: no line \"# peers: …\" names the peers", name, ErrMalformed)
	}
	return &t.c, nil
}

// table is the state of reading a .tsv file.
type table struct {
	name string
	c    catalog
	seen map[string]int // number of the line that has each file's hash
}

// line takes a line of the table: the list of peers, a comment, or a file.
func (t *table) line(number int, line []byte) error {
	text := string(line)
	if names, ok := strings.CutPrefix(text, "# peers:"); ok {
		return t.peers(strings.Fields(names))
	}
	if text == "" || text[0] == '#' {
		return nil
	}
	f, err := t.file(text)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if before, ok := t.seen[string(f.key)]; ok {
		return fmt.Errorf("%w: the file of line %d again", ErrMalformed, before)
	}
	t.seen[string(f.key)] = number
	t.c.files = append(t.c.files, f)
	return nil
}

// peers sets the peers' names from the only list of them.
func (t *table) peers(names []string) error {
	if len(t.c.peers) > 0 {
		return fmt.Errorf("%w: a second list of peers", ErrMalformed)
	}
	if len(names) == 0 {
		return fmt.Errorf("%w: the list of peers is empty", ErrMalformed)
	}
	if len(names) > MaxPeers {
		return fmt.Errorf("%w: %d peers, at most %d", ErrLimit, len(names), MaxPeers)
	}
	if err := distinct(names); err != nil {
		return err
	}
	t.c.peers = names
	return nil
}

func distinct(names []string) error {
	seen := make(map[string]bool, len(names))
	for _, n := range names {
		if seen[n] {
			return fmt.Errorf("%w %q", ErrDuplicate, n)
		}
		seen[n] = true
	}
	return nil
}

// file parses a line of four columns: hash, name, size, holders.
func (t *table) file(line string) (file, error) {
	columns := strings.Split(line, "\t")
	if len(columns) != 4 {
		return file{}, fmt.Errorf("%d columns, want 4 separated by tabs", len(columns))
	}
	hash, err := hex.DecodeString(columns[0])
	if err != nil || len(hash) != 32 {
		return file{}, fmt.Errorf("%q is no SHA-256 in hex", columns[0])
	}
	size, err := strconv.ParseUint(columns[2], 10, 64)
	if err != nil || size == 0 || size > maxFileSize {
		return file{}, fmt.Errorf("size %q is no number from 1 to %d", columns[2], uint64(maxFileSize))
	}
	holders, err := t.holders(columns[3])
	return file{key: hash, size: size, holders: holders}, err
}

// holders parses a file's holders, numbers of peers separated by commas, and sorts them.
func (t *table) holders(column string) ([]int, error) {
	if len(t.c.peers) == 0 {
		return nil, errors.New("a file before the line \"# peers: …\"")
	}
	var holders []int
	for text := range strings.SplitSeq(column, ",") {
		p, err := strconv.ParseUint(text, 10, 32)
		if err != nil || p >= uint64(len(t.c.peers)) {
			return nil, fmt.Errorf("holder %q is no peer from 0 to %d", text, len(t.c.peers)-1)
		}
		holders = append(holders, int(p))
	}
	slices.Sort(holders)
	if n := len(holders); len(slices.Compact(holders)) != n {
		return nil, errors.New("a holder twice")
	}
	return holders, nil
}

// readFolder reads a folder of text files: one for each peer, which is named by the file without its extension, with
// one key a line. Hidden files are ignored. A subfolder is an error, because a list of keys in it would silently be
// missing.
func readFolder(path string) (*catalog, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	f := folder{number: map[string]int{}}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := f.read(filepath.Join(path, e.Name())); err != nil {
			return nil, err
		}
	}
	if len(f.c.peers) == 0 {
		return nil, fmt.Errorf("workload: %s: %w: the folder holds no file of keys", path, ErrEmpty)
	}
	return &f.c, nil
}

// folder is the state of reading a folder.
type folder struct {
	c      catalog
	number map[string]int // key → index in c.files
}

// read adds the peer of a file, with the keys in it, one a line.
func (f *folder) read(path string) error {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if slices.Contains(f.c.peers, name) {
		return fmt.Errorf("workload: %s: %w %q", path, ErrDuplicate, name)
	}
	if len(f.c.peers) == MaxPeers {
		return fmt.Errorf("workload: %s: %w: more than %d peers", path, ErrLimit, MaxPeers)
	}
	r, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("workload: %w", err)
	}
	defer r.Close()
	peer, empty := len(f.c.peers), true
	f.c.peers = append(f.c.peers, name)
	err = eachLine(path, r, func(_ int, line []byte) error {
		if len(line) == 0 {
			return nil
		}
		empty = false
		return f.add(peer, line)
	})
	if err == nil && empty {
		err = fmt.Errorf("workload: %s: %w", path, ErrEmpty)
	}
	return err
}

// add notes that the peer holds the key. A key that is twice in a peer's list is held once.
func (f *folder) add(peer int, key []byte) error {
	if len(key) > MaxKeyBytes {
		return fmt.Errorf("%w: longer than %d bytes", ErrMalformed, MaxKeyBytes)
	}
	if bytes.IndexByte(key, 0) >= 0 {
		return fmt.Errorf("%w: a zero byte: this is no text", ErrMalformed)
	}
	i, ok := f.number[string(key)]
	if !ok {
		if len(f.c.files) == MaxKeys {
			return fmt.Errorf("%w: more than %d keys", ErrLimit, MaxKeys)
		}
		i = len(f.c.files)
		f.number[string(key)] = i
		f.c.files = append(f.c.files, file{key: bytes.Clone(key)})
	}
	if h := f.c.files[i].holders; len(h) == 0 || h[len(h)-1] != peer {
		f.c.files[i].holders = append(h, peer)
	}
	return nil
}

// eachLine calls do for every line, without its end. Errors name file and line.
func eachLine(name string, r io.Reader, do func(number int, line []byte) error) error {
	err := bounded.Lines(name, r, func(number int, line []byte) error {
		if err := do(number, line); err != nil {
			return bounded.At(name, number, err)
		}
		return nil
	})
	switch {
	case errors.Is(err, bounded.ErrTooLong):
		return fmt.Errorf("workload: %w: %w", ErrMalformed, err)
	case err != nil:
		return fmt.Errorf("workload: %w", err)
	}
	return nil
}
