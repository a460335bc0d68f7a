package mirror

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/textproto"
	"net/url"
	"path"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/ulikunitz/xz"
)

// apt is the adapter to a Debian archive. The archive's Release file comes from the origin; apt checks its signature.
// Release names the indexes by hash, and the indexes name the packages: both come from peers.
type apt struct {
	m       *Mirror
	indexes *lru.Cache[Sum, bool] // indexes that a Release names; true: the index was read

	mu    sync.Mutex              // is held while indexes are read
	files *lru.Cache[string, Sum] // sums of packages, by path
}

const (
	maxIndexes = 1 << 14
	maxFiles   = 1 << 19 // packages; the one that was neither named by an index nor wanted for longest goes first
	maxIndex   = 1 << 30 // bytes of an unpacked index
	maxStanza  = 4 << 20 // bytes
)

func newApt(m *Mirror, _ []*url.URL) adapter {
	indexes, _ := lru.New[Sum, bool](maxIndexes) // fails only for sizes below 1
	files, _ := lru.New[string, Sum](maxFiles)
	return (&apt{m: m, indexes: indexes, files: files}).describe
}

// describe passes packages without a known hash through; the archive's other files are kept.
func (a *apt) describe(q *request) error {
	q.learn, q.known = a.learn, func() (record, bool) { return a.known(q) }
	if strings.HasSuffix(q.path, ".deb") && !strings.Contains("/"+q.path, "/dists/") {
		q.fresh = unkept
	}
	return nil
}

// known returns the hash of an index or a package. The first request for a package waits until all indexes are read.
func (a *apt) known(q *request) (rec record, ok bool) {
	plain, _ := url.PathUnescape(q.path) // requestTo has read it
	_, digits, byHash := strings.Cut(plain, "/by-hash/SHA256/")
	switch sum, err := plainSum(digits); {
	case byHash:
		rec.Sum, ok = sum, err == nil
		context.AfterFunc(q.r.Context(), func() { a.m.tasks.Run(a.read) }) // while the client goes on: unpacking takes seconds
	case strings.HasSuffix(plain, "deb"):
		a.read()
		rec.Sum, ok = a.files.Get(plain)
	}
	return rec, ok
}

// learn notes the indexes that a Release names, and starts to read those that are here: after a restart, all may be.
func (a *apt) learn(rec record, body io.Reader) {
	if base := path.Base(rec.Name); base == "InRelease" || base == "Release" {
		for _, sum := range parseRelease(body) {
			a.indexes.ContainsOrAdd(sum, false)
		}
	}
	a.m.tasks.Run(a.read)
}

// read learns the hashes of packages from each index in the cache that a Release names and that was not read yet.
func (a *apt) read() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, sum := range a.indexes.Keys() {
		if read, _ := a.indexes.Peek(sum); read {
			continue
		}
		f, ok := a.m.cache.open(sum)
		if !ok {
			continue
		}
		if err := parseIndex(f, a.files); err != nil {
			a.m.log.Warn("mirror: an index of packages cannot be read", "sum", sum, "err", err)
		}
		_ = f.Close()
		a.indexes.Add(sum, true)
	}
}

// parseRelease returns the hashes of the indexes of packages that a Release names.
func parseRelease(r io.Reader) (out []Sum) {
	_ = stanzas(r, func(stanza textproto.MIMEHeader) {
		// a line has the hash, the size and the path
		for f := strings.Fields(stanza.Get("SHA256")); len(f) >= 3 && len(out) < maxIndexes; f = f[3:] {
			if sum, err := plainSum(f[0]); err == nil && strings.HasPrefix(path.Base(f[2]), "Packages") {
				out = append(out, sum)
			}
		}
	})
	return out
}

// parseIndex notes the hashes of the packages in an index, plain or packed by gzip or xz, by their paths.
func parseIndex(r io.Reader, files *lru.Cache[string, Sum]) error {
	unpacked, err := unpack(r)
	if err != nil {
		return err
	}
	return stanzas(unpacked, func(stanza textproto.MIMEHeader) {
		name := stanza.Get("Filename")
		if sum, err := plainSum(stanza.Get("SHA256")); err == nil && name != "" {
			files.Add(path.Clean(name), sum)
		}
	})
}

// stanzas calls f with each stanza of a control file. A stanza has the form of a MIME header. Other lines, such as the
// lines of a signature, end a stanza.
func stanzas(r io.Reader, f func(textproto.MIMEHeader)) error {
	in := &io.LimitedReader{R: io.LimitReader(r, maxIndex)}
	text := textproto.NewReader(bufio.NewReader(in))
	for {
		in.N = maxStanza
		stanza, err := text.ReadMIMEHeader()
		f(stanza)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.As(err, new(textproto.ProtocolError)):
			return err
		}
	}
}

// unpack returns the text of an index.
func unpack(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	magic, _ := in.Peek(xz.HeaderLen) // an empty index names nothing
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		return gzip.NewReader(in)
	case xz.ValidHeader(magic):
		return xz.ReaderConfig{DictCap: 1 << 26}.NewReader(in)
	}
	return in, nil
}
