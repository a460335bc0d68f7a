package mirror

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"
)

// named is a name whose content may change. The origin is asked for the present one.
type named struct {
	name    string // of the adapter and below it
	origin  ask
	fresh   time.Duration // for how long the origin's word is taken without asking again
	headers []string      // of the origin's answer that clients need, besides keptHeaders
	// learn takes in the origin's answer, and its body, before anybody gets it. nil: nothing is learned.
	learn func(record, *io.SectionReader)
}

var keptHeaders = []string{"Content-Type", "Etag", "Last-Modified"}

// record is the origin's last word on a name. It is kept in the cache as content of kind Name.
type record struct {
	Name   string            `json:"name"`
	Header map[string]string `json:"header"`
	Sum    Sum               `json:"sum"` // of the body, in the cache; the zero Sum: it has none
	Asked  time.Time         `json:"asked"`

	typeOf func([]byte) string // tells the type of the content by its beginning; nil: Header does
}

// typed returns a record of content of a type.
func typed(contentType string, s Sum) record {
	return record{Header: map[string]string{"Content-Type": contentType}, Sum: s}
}

// kept returns the headers of some names.
func kept(h http.Header, names []string) map[string]string {
	out := make(map[string]string)
	for _, name := range names {
		if v := h.Get(name); v != "" {
			out[name] = v
		}
	}
	return out
}

// Bounds of names' content.
const (
	maxRecord  = 64 << 10  // bytes of a record's file
	maxNamed   = 256 << 20 // bytes of a body
	maxSmall   = 1 << 20   // bytes of a body that is read as a whole
	namedTime  = time.Minute
	maxSniffed = 4 << 20 // bytes that tell the type of content: the largest manifest that registries take
)

// sum returns the sum of the record's own file.
func (r record) sum() Sum { return Sum{Name, sha256.Sum256([]byte(r.Name))} }

func readRecord(from io.Reader) (r record, err error) {
	return r, json.NewDecoder(io.LimitReader(from, maxRecord)).Decode(&r)
}

// recall returns the record of a name. One that is damaged is none.
func (m *Mirror) recall(name string) (r record, ok bool) {
	r.Name = name
	f, _, ok := m.cache.open(r.sum())
	if !ok {
		return r, false
	}
	defer func() { _ = f.Close() }()
	read, err := readRecord(f)
	if err != nil {
		return r, false
	}
	return read, true
}

// remember keeps a record, and logs if it cannot. A crash leaves the old one or the new one.
func (m *Mirror) remember(r record) {
	b, err := json.Marshal(r)
	if err == nil {
		err = m.cache.put(r.sum(), b)
	}
	if err != nil {
		m.log.Warn("mirror: what was learned is not kept", "name", r.Name, "err", err)
	}
}

// body opens the content that a record tells of, if it is in the cache.
func (m *Mirror) body(r record) (f *os.File, size int64, ok bool) {
	return m.cache.open(r.Sum)
}

// resolve returns the record of a name: the origin's word, or its last one while it does not answer; then stale is
// true. All requests at one time share an answer.
func (m *Mirror) resolve(ctx context.Context, n named) (r record, stale bool, err error) {
	old, ok := m.recall(n.name)
	if ok {
		_, ok = m.cache.size(old.Sum)
	}
	if ok && time.Since(old.Asked) < n.fresh {
		return old, false, nil
	}
	f := m.join(n.wanted(m, old, ok))
	defer f.leave()
	patience := namedTime
	if ok {
		patience = m.times.slow
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = f.until(waiting, func() time.Duration {
		if f.over {
			return settled
		}
		return atNews
	})
	if err == nil {
		err = f.err
	}
	if err == nil {
		r, ok = m.recall(n.name)
	} else if r, stale = old, ok && ctx.Err() == nil && down(err); stale {
		err = nil
	}
	if err == nil && !ok {
		err = errFull
	}
	return r, stale, err
}

// wanted returns what a flight is to fetch for a name of which old is the record, if ok.
func (n named) wanted(m *Mirror, old record, ok bool) wanted {
	return wanted{sum: old.sum(), name: n.name, origin: func(ctx context.Context, method string) (*http.Request, error) {
		req, err := n.origin(ctx, method)
		if err != nil || !ok {
			return req, err
		}
		if tag, since := old.Header["Etag"], old.Header["Last-Modified"]; tag != "" {
			req.Header.Set("If-None-Match", tag)
		} else if since != "" {
			req.Header.Set("If-Modified-Since", since)
		}
		return req, nil
	}, then: func(sum Sum, h http.Header) {
		if sum != (Sum{}) {
			old.Header, old.Sum = kept(h, slices.Concat(keptHeaders, n.headers)), sum
		}
		old.Asked = time.Now()
		if f, size, ok := m.body(old); ok && n.learn != nil {
			n.learn(old, io.NewSectionReader(f, 0, size))
			_ = f.Close()
		}
		m.remember(old)
	}}
}

// serveNamed answers with the content of a name.
func (q *request) serveNamed(n named) {
	rec, stale, err := q.resolve(q.r.Context(), n)
	if err != nil {
		q.fail(err)
		return
	}
	q.warn(rec, stale)
	q.serve(rec)
}

// warn tells that a record is the origin's last word, if it is stale.
func (q *request) warn(rec record, stale bool) {
	if stale {
		q.w.Header().Set("Warning", `110 - "the origin does not answer: this is its last word"`)
		q.log.Info("mirror: the origin does not answer: its last word is used", "name", rec.Name, "asked", rec.Asked)
	}
}

// write sets the header of an answer.
func (r record) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/octet-stream")
	for name, v := range r.Header {
		w.Header().Set(name, v)
	}
	if !r.Asked.IsZero() {
		w.Header().Set("Age", strconv.Itoa(int(time.Since(r.Asked).Seconds())))
	}
}
