package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// named is a thing that may come to mean something else. The origin is asked what it is.
type named struct {
	name    string        // of the adapter and below it
	fresh   time.Duration // for how long the origin's word is taken without asking again
	origin  func(ctx context.Context, method string) (*http.Request, error)
	headers []string // of the origin's answer that clients need
	// learn takes in what the origin said, before anybody gets it. nil: nothing is learned.
	learn func(record)
}

// record is the origin's last word on a name.
type record struct {
	Name   string            `json:"name"`
	Header map[string]string `json:"header"`
	Sum    string            `json:"sum"` // of the body, in the cache
	Asked  time.Time         `json:"asked"`
}

// Bounds of what is kept of names.
const (
	maxNames  = 1 << 16   // the oldest above are dropped when the mirror starts, and now and then
	maxRecord = 64 << 10  // bytes of a record's file
	maxNamed  = 256 << 20 // bytes of a body
	namedTime = time.Minute
)

// names keeps records, a file each.
type names struct {
	dir string
	mu  sync.Mutex
	n   int // files, about
}

// load counts the records, and drops the oldest above maxNames.
func (n *names) load(dir string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dir = filepath.Join(dir, namesFolder)
	return n.trim()
}

// trim drops the oldest records above maxNames. n.mu is held.
func (n *names) trim() error {
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		return fmt.Errorf("mirror: %w", err)
	}
	age := make(map[string]time.Time, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			age[e.Name()] = info.ModTime()
		}
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return age[b.Name()].Compare(age[a.Name()]) })
	for _, e := range entries[min(len(entries), maxNames):] {
		_ = os.Remove(filepath.Join(n.dir, e.Name()))
	}
	n.n = min(len(entries), maxNames)
	return nil
}

func (n *names) path(name string) string {
	h := sha256.Sum256([]byte(name))
	return filepath.Join(n.dir, hex.EncodeToString(h[:]))
}

// get returns the record of a name. One that is damaged is none.
func (n *names) get(name string) (r record, ok bool) {
	f, err := os.Open(n.path(name))
	if err != nil {
		return r, false
	}
	defer func() { _ = f.Close() }()
	err = json.NewDecoder(io.LimitReader(f, maxRecord)).Decode(&r)
	return r, err == nil && r.Name == name
}

// put keeps a record. A crash leaves the old one or the new one.
func (n *names) put(r record) error {
	b, err := json.Marshal(r)
	if err != nil || len(b) > maxRecord {
		return errors.Join(err, errFull)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.n++; n.n > maxNames+maxNames/8 {
		if err := n.trim(); err != nil {
			return err
		}
	}
	tmp := n.path(r.Name) + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, n.path(r.Name))
}

// body opens the body of a record.
func (m *Mirror) body(r record) (f *os.File, size int64, ok bool) {
	sum, err := ParseSum(r.Sum)
	if err != nil {
		return nil, 0, false
	}
	return m.cache.open(sum)
}

// resolve returns what a name is: by the origin's word, or by its last one while it does not answer; stale says so. All
// who ask at once share an answer.
func (m *Mirror) resolve(ctx context.Context, n named) (r record, stale bool, err error) {
	old, ok := m.names.get(n.name)
	if ok {
		if f, _, there := m.body(old); there {
			_ = f.Close()
		} else {
			ok = false
		}
	}
	if ok && time.Since(old.Asked) < n.fresh {
		return old, false, nil
	}
	done := m.asking.DoChan(n.name, func() (any, error) {
		ctx, cancel := context.WithTimeout(m.ctx, namedTime)
		defer cancel()
		return m.refresh(ctx, n, old, ok)
	})
	var late <-chan time.Time
	if ok {
		late = time.After(m.times.slow)
	}
	select {
	case <-late:
		return old, true, nil
	case <-ctx.Done():
		return r, false, ctx.Err()
	case got := <-done:
		if r, _ = got.Val.(record); got.Err == nil {
			return r, false, nil
		}
		if ok && down(got.Err) {
			return old, true, nil
		}
		return r, false, got.Err
	}
}

// refresh asks the origin what a name is, or whether that has changed.
func (m *Mirror) refresh(ctx context.Context, n named, old record, ok bool) (record, error) {
	req, err := n.origin(ctx, http.MethodGet)
	if err != nil {
		return old, err
	}
	if tag := old.Header["Etag"]; ok && tag != "" {
		req.Header.Set("If-None-Match", tag)
	} else if since := old.Header["Last-Modified"]; ok && since != "" {
		req.Header.Set("If-Modified-Since", since)
	}
	var at atomic.Int64
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go m.watchOrigin(ctx, cancel, &at)
	resp, err := m.do(req.WithContext(ctx))
	if err != nil {
		return old, causeOf(ctx, err)
	}
	resp.Body = &counting{resp.Body, &at}
	defer func() { _ = resp.Body.Close() }()
	r := old
	if resp.StatusCode != http.StatusNotModified || !ok {
		if r, err = m.newRecord(ctx, n, resp); err != nil {
			return old, err
		}
	}
	r.Asked = time.Now()
	if n.learn != nil {
		n.learn(r)
	}
	return r, m.names.put(r)
}

// counting counts what is read.
type counting struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// newRecord keeps an answer of the origin.
func (m *Mirror) newRecord(ctx context.Context, n named, resp *http.Response) (record, error) {
	if resp.StatusCode != http.StatusOK {
		return record{}, &originError{status: http.StatusBadGateway}
	}
	sum, err := m.store(ctx, resp.Body, resp.ContentLength)
	if err != nil {
		return record{}, err
	}
	r := record{Name: n.name, Header: make(map[string]string), Sum: sum.String()}
	for _, name := range append([]string{"Content-Type", "Etag", "Last-Modified"}, n.headers...) {
		if v := resp.Header.Get(name); v != "" {
			r.Header[http.CanonicalHeaderKey(name)] = v
		}
	}
	return r, nil
}

// store puts a body whose hash nobody knows into the cache, and advertises it.
func (m *Mirror) store(ctx context.Context, body io.Reader, length int64) (sum Sum, err error) {
	f, err := m.cache.create(Sum{})
	if err != nil {
		return sum, fmt.Errorf("%w: %w", errDisk, err)
	}
	defer func() { _ = f.Close() }()
	var reserved int64
	defer func() {
		if err != nil {
			m.cache.release(reserved)
			_ = os.Remove(f.Name())
		}
	}()
	h := sha256.New()
	size, buf := int64(0), make([]byte, 64<<10)
	for {
		n, readErr := body.Read(buf)
		if size+int64(n) > reserved {
			if size+int64(n) > maxNamed {
				return sum, fmt.Errorf("%w: above %d bytes", errLong, maxNamed)
			}
			if err := m.cache.reserve(reserveStep); err != nil {
				return sum, fmt.Errorf("%w: %w", errDisk, err)
			}
			reserved += reserveStep
		}
		if _, err := f.Write(buf[:n]); err != nil {
			return sum, fmt.Errorf("%w: %w", errDisk, err)
		}
		_, _ = h.Write(buf[:n])
		size += int64(n)
		if errors.Is(readErr, io.EOF) {
			break
		} else if readErr != nil {
			return sum, readErr
		}
	}
	if length >= 0 && size != length {
		return sum, io.ErrUnexpectedEOF
	}
	m.count(fromOrigin, size)
	h.Sum(sum.Hash[:0])
	if err := m.cache.keep(sum, f, size, reserved); err != nil {
		return sum, fmt.Errorf("%w: %w", errDisk, err)
	}
	return sum, m.cfg.Router.Advertise(ctx, sum.Key())
}

// serveNamed answers with what a name is.
func (m *Mirror) serveNamed(w http.ResponseWriter, r *http.Request, n named) {
	rec, stale, err := m.resolve(r.Context(), n)
	if err != nil {
		m.fail(w, r, n.name, err)
		return
	}
	m.serveRecord(w, r, rec, stale)
}

// serveRecord answers with the body of a record.
func (m *Mirror) serveRecord(w http.ResponseWriter, r *http.Request, rec record, stale bool) {
	f, size, ok := m.body(rec)
	if !ok {
		m.fail(w, r, rec.Name, errFull)
		return
	}
	defer func() { _ = f.Close() }()
	if stale {
		w.Header().Set("Warning", `110 - "the origin does not answer: this is its last word"`)
		m.log.Info("mirror: the origin does not answer: its last word is used", "name", rec.Name, "asked", rec.Asked)
	}
	m.deliver(w, r, rec, io.NewSectionReader(f, 0, size))
}

// write sets the header of an answer.
func (rec record) write(w http.ResponseWriter) {
	for name, v := range rec.Header {
		w.Header().Set(name, v)
	}
	if !rec.Asked.IsZero() {
		w.Header().Set("Age", strconv.Itoa(int(time.Since(rec.Asked).Seconds())))
	}
}
