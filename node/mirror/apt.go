package mirror

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ulikunitz/xz"
)

// apt is the adapter to a Debian archive. What its Release says is the origin's word, whose signature apt checks. It
// names the indexes by hash, and those the packages: both come from peers.
type apt struct {
	m    *Mirror
	load func() // reads the indexes of earlier runs, once

	mu      sync.Mutex
	indexes map[Sum]bool   // named by a Release; true: what it names is known
	files   map[string]Sum // packages by path
	reading chan struct{}  // closed when all that were to be read are
}

const (
	aptIndexes = "apt-indexes" // name of the record of the indexes that were read
	maxIndexes = 256
	maxFiles   = 1 << 19
	maxIndex   = 1 << 30 // bytes of an unpacked index
	maxStanza  = 1 << 20 // bytes of a line
)

func newApt(m *Mirror, _ *url.URL) adapter {
	a := &apt{m: m, indexes: make(map[Sum]bool), files: make(map[string]Sum), reading: make(chan struct{})}
	a.load = sync.OnceFunc(a.loadIndexes)
	close(a.reading)
	return adapter{"apt", a.answer}
}

func (a *apt) answer(q *request) {
	_, digits, byHash := strings.Cut(q.path, "/by-hash/SHA256/")
	sum, err := parseHex(Plain, digits)
	switch known, ok := a.sum(q.path); {
	case byHash && err == nil:
		q.serve(record{}, sum)
		a.readLater(sum)
	case ok:
		q.serve(record{}, known)
	case strings.HasSuffix(q.path, ".deb") && !strings.Contains("/"+q.path, "/dists/"):
		q.through()
	default:
		q.serveNamed(named{learn: a.learn})
	}
}

// sum returns the hash of a package, if that is known.
func (a *apt) sum(escaped string) (Sum, bool) {
	plain, err := url.PathUnescape(escaped)
	if err != nil || !strings.HasSuffix(plain, "deb") {
		return Sum{}, false
	}
	a.load()
	a.mu.Lock()
	reading := a.reading
	a.mu.Unlock()
	<-reading
	a.mu.Lock()
	defer a.mu.Unlock()
	sum, ok := a.files[plain]
	return sum, ok
}

// loadIndexes reads the indexes of earlier runs that are in the cache yet.
func (a *apt) loadIndexes() {
	rec, _ := a.m.names.get(aptIndexes)
	for text := range rec.Header {
		if sum, err := ParseSum(text); err == nil {
			a.trust(sum)
			a.read(sum)
		}
	}
}

// trust notes that a Release names an index.
func (a *apt) trust(index Sum) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.indexes[index]; !ok && len(a.indexes) < 64*maxIndexes {
		a.indexes[index] = false
	}
}

// learn takes in a Release, or an index.
func (a *apt) learn(rec record) {
	switch base := path.Base(rec.Name); {
	case base == "InRelease" || base == "Release":
		if f, size, ok := a.m.body(rec); ok {
			defer func() { _ = f.Close() }()
			for _, sum := range parseRelease(io.NewSectionReader(f, 0, size)) {
				a.trust(sum)
			}
		}
	case strings.HasPrefix(base, "Packages"):
		if sum, err := ParseSum(rec.Sum); err == nil {
			a.readLater(sum)
		}
	}
}

// readLater reads an index beside the client's next requests, after those before it: unpacking takes seconds.
func (a *apt) readLater(index Sum) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before, done := a.reading, make(chan struct{})
	a.reading = done
	if !a.m.tasks.Run(func() {
		defer close(done)
		<-before
		a.read(index)
	}) {
		close(done)
	}
}

// read learns the hashes of packages from an index that a Release names.
func (a *apt) read(index Sum) {
	a.mu.Lock()
	known, trusted := a.indexes[index]
	a.mu.Unlock()
	if known || !trusted {
		return
	}
	f, size, ok := a.m.cache.open(index)
	if !ok {
		return
	}
	defer func() { _ = f.Close() }()
	files, err := parseIndex(io.NewSectionReader(f, 0, size))
	if err != nil {
		a.m.log.Warn("mirror: an index of packages cannot be read", "sum", index, "err", err)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, sum := range files {
		if len(a.files) < maxFiles {
			a.files[name] = sum
		}
	}
	a.indexes[index] = true
	a.keep()
}

// keep notes which indexes were read, for the next run. a.mu is held.
func (a *apt) keep() {
	rec := record{Name: aptIndexes, Header: make(map[string]string), Asked: time.Now()}
	for sum, read := range a.indexes {
		if read && len(rec.Header) < maxIndexes {
			rec.Header[sum.String()] = ""
		}
	}
	a.m.keepRecord(rec)
}

// parseRelease returns the hashes of the indexes of packages that a Release names.
func parseRelease(r io.Reader) (out []Sum) {
	in := bufio.NewScanner(io.LimitReader(r, maxNamed))
	in.Buffer(nil, maxStanza)
	for section := ""; in.Scan(); {
		line := in.Text()
		if !strings.HasPrefix(line, " ") {
			section = line
			continue
		}
		f := strings.Fields(line)
		if section != "SHA256:" || len(f) != 3 || !strings.HasPrefix(path.Base(f[2]), "Packages") {
			continue
		}
		if sum, err := parseHex(Plain, f[0]); err == nil && len(out) < maxIndexes {
			out = append(out, sum)
		}
	}
	return out
}

// parseIndex returns the hashes of the packages in an index, plain or packed by gzip or xz, by their paths.
func parseIndex(r *io.SectionReader) (map[string]Sum, error) {
	unpacked, err := unpack(r)
	if err != nil {
		return nil, err
	}
	files := make(map[string]Sum)
	in := bufio.NewScanner(io.LimitReader(unpacked, maxIndex))
	in.Buffer(make([]byte, 0, 64<<10), maxStanza)
	var name string
	var sum Sum
	var has bool
	take := func() {
		if name != "" && has && len(files) < maxFiles {
			files[name] = sum
		}
		name, has = "", false
	}
	for in.Scan() {
		key, value, _ := strings.Cut(in.Text(), ": ")
		switch key {
		case "":
			take()
		case "Filename":
			name = path.Clean(value)
		case "SHA256":
			sum, err = parseHex(Plain, value)
			has = err == nil
		}
	}
	take()
	return files, in.Err()
}

// unpack returns the text of an index.
func unpack(r *io.SectionReader) (io.Reader, error) {
	magic := make([]byte, 6)
	if _, err := io.ReadFull(r, magic); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	switch {
	case slices.Equal(magic[:2], []byte{0x1f, 0x8b}):
		return gzip.NewReader(r)
	case bytes.Equal(magic, []byte{0xfd, '7', 'z', 'X', 'Z', 0}):
		return xz.ReaderConfig{DictCap: 1 << 26}.NewReader(bufio.NewReader(r))
	}
	return r, nil
}
