package mirror

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/venn-p2p/venn/node/httpapi"
)

// named is a name whose content may change. Unless its last answer is fresh, the origin is asked for the present content.
type named struct {
	name   string        // the adapter's name and the path below it
	origin *http.Request // request to the origin, with the client's credentials
	fresh  time.Duration // how long the origin's last answer is used without asking again; or unkept, or passedOn
	// told returns the sum of content that is elsewhere, and the headers for clients, by the origin's answer. nil: the
	// content is the answer's body.
	told func(*http.Response) (Sum, http.Header, error)
	// learn reads the origin's answer and its body, before a client gets them. nil: nothing is learned.
	learn func(record, io.Reader)
}

// record is the origin's last answer about a name. It is kept in the cache as content of kind name.
type record struct {
	Name   string      `json:"name"`
	Header http.Header `json:"header"`
	Sum    Sum         `json:"sum"` // sum of the content
	Asked  time.Time   `json:"asked"`

	typeOf func([]byte) string // returns the content's type, by its first bytes; nil: Header has the type
}

// Bounds of names' content.
const (
	maxRecord  = 64 << 10  // bytes of a record's file
	maxNamed   = 256 << 20 // bytes of a body
	maxSmall   = 1 << 20   // bytes of a body that is read as a whole
	maxSniffed = 4 << 20   // first bytes from which a type is read: the largest manifest that registries take
)

// sum returns the sum under which the cache keeps the record. Field Sum is that of the content.
func (r record) sum() Sum { return sumOf(kindName, sha256.Sum256([]byte(r.Name))) }

// recall returns the record of a name; ok is false if there is none, or it is damaged.
func (m *Mirror) recall(name string) (r record, ok bool) {
	f, ok := m.cache.open(record{Name: name}.sum())
	if !ok {
		return r, false
	}
	defer func() { _ = f.Close() }()
	err := json.NewDecoder(io.LimitReader(f, maxRecord)).Decode(&r)
	return r, err == nil && form.MatchString(string(r.Sum)) && r.Name == name
}

// remember writes a record to the cache, and logs a failure. A crash leaves the old record or the new one.
func (m *Mirror) remember(r record) {
	b, _ := json.Marshal(r) // texts and a time
	if _, _, err := m.cache.put(r.sum(), bytes.NewReader(b), maxRecord); err != nil {
		m.log.Warn("mirror: what was learned is not kept", "name", r.Name, "err", err)
	}
}

// resolve returns the record of a name: the kept one while it is fresh, or the origin does not answer, else the
// origin's answer. All requests for a name at one time share the answer.
func (m *Mirror) resolve(ctx context.Context, n named) (record, error) {
	old, ok := m.recall(n.name)
	if ok && n.told == nil {
		_, ok = m.cache.size(old.Sum)
	}
	var patience <-chan time.Time
	switch {
	case !ok:
		old = record{Name: n.name}
	case n.fresh > 0 && time.Since(old.Asked) < n.fresh: // a clock that was ahead makes nothing fresh
		return old, nil
	default:
		patience = time.After(m.times.slow)
	}
	var err error
	select {
	case got := <-m.asked.DoChan(n.name, func() (any, error) { return m.askName(n, old) }):
		if err = got.Err; err == nil {
			return got.Val.(record), nil
		}
	case <-patience:
		err = errWaits
	case <-ctx.Done():
		return record{}, ctx.Err()
	}
	if !ok || !down(err) {
		return record{}, err
	}
	m.log.Info("mirror: the origin does not answer: its last word is used", "name", n.name, "asked", old.Asked)
	return old, nil
}

// askName asks the origin for a name, and keeps the answer. rec is the last answer, or has the name only.
func (m *Mirror) askName(n named, rec record) (record, error) {
	if !m.tasks.Enter() {
		return rec, m.ctx.Err()
	}
	defer m.tasks.Leave()
	begun, req, by := time.Now(), n.origin.Clone(m.ctx), *m.web
	if req.Method == http.MethodHead { // what is asked for stands in the head of a redirect
		by.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	if tag, since := rec.Header.Get("Etag"), rec.Header.Get("Last-Modified"); tag != "" {
		req.Header.Set("If-None-Match", tag)
	} else if since != "" {
		req.Header.Set("If-Modified-Since", since)
	}
	resp, err := m.do(by.Do, req)
	if err != nil {
		return rec, err
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotModified:
	case n.told != nil:
		if rec.Sum, rec.Header, err = n.told(resp); err != nil {
			return rec, err
		}
	case resp.ContentLength > maxNamed:
		return rec, errDisk
	default:
		var size int64
		if rec.Sum, size, err = m.cache.put("", resp.Body, maxNamed); err != nil {
			return rec, err
		}
		rec.Header = only(resp.Header, passed)
		rec.Header.Set("Content-Length", strconv.FormatInt(size, 10)) // a packed answer has no other
		m.metrics.fromOrigin.Add(float64(size))
		m.tell(m.cfg.Router.Advertise, rec.Sum)
		m.ended(httpapi.Fetch{Name: n.name, Sum: string(rec.Sum), FromOrigin: size}, begun, nil)
	}
	rec.Asked = time.Now()
	if n.learn != nil {
		f, ok := m.cache.open(rec.Sum)
		if !ok {
			return rec, errDisk
		}
		defer func() { _ = f.Close() }()
		n.learn(rec, f)
	}
	m.remember(rec)
	return rec, nil
}
