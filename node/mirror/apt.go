package mirror

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
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
	base *url.URL

	mu      sync.Mutex
	indexes map[Sum]bool   // named by a Release; true: what it names is known
	files   map[string]Sum // packages by path
	loaded  bool           // the indexes of earlier runs were read
	reading chan struct{}  // closed when all that were to be read are
}

const (
	aptIndexes = "apt-indexes" // name of the record of the indexes that were read
	maxIndexes = 256
	maxFiles   = 1 << 19
	maxIndex   = 1 << 30 // bytes of an unpacked index
	maxStanza  = 1 << 20 // bytes of a line
)

func newApt(m *Mirror, base *url.URL) adapter {
	a := &apt{m: m, base: base, indexes: make(map[Sum]bool), files: make(map[string]Sum), reading: make(chan struct{})}
	close(a.reading)
	return a.serve
}

func (a *apt) serve(w http.ResponseWriter, r *http.Request, escaped string) {
	u, err := below(a.base, escaped)
	if err != nil {
		a.m.fail(w, r, "apt/"+escaped, err)
		return
	}
	origin, name := requestTo(u, r), "apt/"+escaped
	if !a.m.everybody(r, "apt", origin) {
		a.m.through(w, r, name, origin)
		return
	}
	if sum, ok := a.sum(escaped); ok {
		a.m.serve(w, r, record{}, Wanted{sum, name, origin})
		if strings.Contains(escaped, "/by-hash/") {
			a.readLater(sum)
		}
		return
	}
	if !strings.Contains("/"+escaped, "/dists/") && strings.HasSuffix(escaped, ".deb") {
		a.m.through(w, r, name, origin)
		return
	}
	a.m.serveNamed(w, r, named{name: name, origin: origin, learn: a.learn})
}

// sum returns the hash of what a path names, if that is known.
func (a *apt) sum(escaped string) (Sum, bool) {
	if i := strings.LastIndex(escaped, "/by-hash/SHA256/"); i >= 0 {
		sum, err := parseHex(Plain, escaped[i+len("/by-hash/SHA256/"):])
		return sum, err == nil
	}
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

// load reads the indexes of earlier runs that are in the cache yet.
func (a *apt) load() {
	a.mu.Lock()
	loaded := a.loaded
	a.loaded = true
	a.mu.Unlock()
	if rec, ok := a.m.names.get(aptIndexes); ok && !loaded {
		for text := range rec.Header {
			if sum, err := ParseSum(text); err == nil {
				a.trust(sum)
				a.read(sum)
			}
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
		f, size, ok := a.m.body(rec)
		if !ok {
			return
		}
		defer func() { _ = f.Close() }()
		for _, sum := range parseRelease(io.NewSectionReader(f, 0, size)) {
			a.trust(sum)
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
	if err := a.m.names.put(rec); err != nil {
		a.m.log.Warn("mirror: indexes of packages are not kept", "err", err)
	}
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
