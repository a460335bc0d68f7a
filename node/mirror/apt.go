package mirror

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/ulikunitz/xz"
)

// apt is the adapter to a Debian archive. Its Release is the origin's word, whose signature apt checks. It names the
// indexes by hash, and they name the packages: both come from peers.
type apt struct {
	m       *Mirror
	indexes *lru.Cache[Sum, bool] // named by a Release; true: it was read

	mu    sync.Mutex     // is held while indexes are read
	files map[string]Sum // packages by path
}

const (
	aptIndexes = "apt-indexes" // name of the record of the indexes that were read
	maxRead    = 256           // of these
	maxIndexes = 1 << 14
	maxFiles   = 1 << 19
	maxIndex   = 1 << 30 // bytes of an unpacked index
	maxStanza  = 1 << 20 // bytes of a line
)

func newApt(m *Mirror, _ []*url.URL) adapter {
	a := &apt{m: m, files: make(map[string]Sum)}
	var err error
	if a.indexes, err = lru.New[Sum, bool](maxIndexes); err != nil {
		panic(err) // the size is positive
	}
	rec, _ := m.recall(aptIndexes)
	for text := range rec.Header {
		if sum, err := ParseSum(text); err == nil {
			a.indexes.Add(sum, false)
		}
	}
	return adapter{scope: func(*request) string { return "apt" }, known: a.known, learn: a.learn, fresh: func(path string) time.Duration {
		if strings.HasSuffix(path, ".deb") && !strings.HasPrefix(path, "dists/") && !strings.Contains(path, "/dists/") {
			return unkept
		}
		return 0
	}}
}

// known returns the hash of an index or a package. The first that asks for a package waits until all indexes are read.
func (a *apt) known(q *request) (rec record, ok bool) {
	plain, err := url.PathUnescape(q.path)
	_, digits, byHash := strings.Cut(plain, "/by-hash/SHA256/")
	switch {
	case err != nil:
	case byHash:
		rec.Sum, err = parseHex(Plain, digits)
		ok = err == nil
		context.AfterFunc(q.r.Context(), a.readLater)
	case strings.HasSuffix(plain, "deb"):
		a.read()
		a.mu.Lock()
		defer a.mu.Unlock()
		rec.Sum, ok = a.files[plain]
	}
	return rec, ok
}

// learn takes in a Release, or an index.
func (a *apt) learn(rec record, body *io.SectionReader) {
	if base := path.Base(rec.Name); base == "InRelease" || base == "Release" {
		for _, sum := range parseRelease(body) {
			a.indexes.ContainsOrAdd(sum, false)
		}
		return
	}
	a.readLater()
}

// readLater reads indexes beside the client's next requests: unpacking takes seconds.
func (a *apt) readLater() { a.m.tasks.Run(a.read) }

// read learns the hashes of packages from the indexes that are here, that a Release names, and that were not read yet. It
// notes for the next run which were.
func (a *apt) read() {
	a.mu.Lock()
	defer a.mu.Unlock()
	rec, more := record{Name: aptIndexes, Header: make(map[string]string), Asked: time.Now()}, false
	for _, sum := range a.indexes.Keys() {
		read, _ := a.indexes.Peek(sum)
		if !read {
			if read = a.readIndex(sum); !read {
				continue
			}
			a.indexes.Add(sum, true)
			more = true
		}
		if len(rec.Header) < maxRead {
			rec.Header[sum.String()] = ""
		}
	}
	if more {
		a.m.remember(rec)
	}
}

// readIndex reads an index, and reports whether it is here. a.mu is held.
func (a *apt) readIndex(sum Sum) bool {
	f, size, ok := a.m.cache.open(sum)
	if !ok {
		return false
	}
	defer func() { _ = f.Close() }()
	if err := parseIndex(io.NewSectionReader(f, 0, size), a.files); err != nil {
		a.m.log.Warn("mirror: an index of packages cannot be read", "sum", sum, "err", err)
	}
	return true
}

// parseRelease returns the hashes of the indexes of packages that a Release names.
func parseRelease(r io.Reader) (out []Sum) {
	_ = fields(r, maxNamed, func(key, value string) {
		f := strings.Fields(value)
		if key != "SHA256" || len(f) != 3 || !strings.HasPrefix(path.Base(f[2]), "Packages") {
			return
		}
		if sum, err := parseHex(Plain, f[0]); err == nil && len(out) < maxIndexes {
			out = append(out, sum)
		}
	})
	return out
}

// parseIndex notes the hashes of the packages in an index, plain or packed by gzip or xz, by their paths.
func parseIndex(r *io.SectionReader, files map[string]Sum) error {
	unpacked, err := unpack(r)
	if err != nil {
		return err
	}
	stanza := make(map[string]string)
	take := func() {
		if sum, err := parseHex(Plain, stanza["SHA256"]); err == nil && stanza["Filename"] != "" && len(files) < maxFiles {
			files[path.Clean(stanza["Filename"])] = sum
		}
		clear(stanza)
	}
	err = fields(unpacked, maxIndex, func(key, value string) {
		switch key {
		case "":
			take()
		case "Filename", "SHA256":
			stanza[key] = value
		}
	})
	take()
	return err
}

// fields calls f with each line of a control file, as key and value. A line that begins with a space belongs to the key
// before, an empty line has none.
func fields(r io.Reader, limit int64, f func(key, value string)) error {
	in := bufio.NewScanner(io.LimitReader(r, limit))
	in.Buffer(make([]byte, 0, 64<<10), maxStanza)
	key, value := "", ""
	for in.Scan() {
		if value = in.Text(); !strings.HasPrefix(value, " ") {
			key, value, _ = strings.Cut(value, ":")
		}
		f(key, strings.TrimSpace(value))
	}
	return in.Err()
}

// unpack returns the text of an index.
func unpack(r *io.SectionReader) (io.Reader, error) {
	magic := make([]byte, 6)
	if n, err := io.ReadFull(r, magic); n > 0 && err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err // an empty index names nothing
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
