package mirror

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/venn-p2p/venn/node/httpapi"
)

// adapter describes a client's request: it sets where the content is and how its hash is known. Content with a hash
// comes from peers, else from the origin. Other content comes from the origin, or from its last answer.
type adapter func(*request) error

// request is a client's request.
type request struct {
	*Mirror
	w http.ResponseWriter
	r *http.Request

	base *url.URL // the origin; the adapter's first one, unless it sets another
	path string   // path below the origin, as the client wrote it
	named
	scope   string                // names paths that are all open to everybody, or none of them; empty: this path alone
	known   func() (record, bool) // returns the record of content whose hash is known; ok is false if it is not
	instead string                // JSON to answer with while the origin is down; empty: the answer is an error
}

// Values of named.fresh for answers that are passed through, not kept; unkept only if the content's hash is not known.
const unkept, passedOn = time.Duration(-1), time.Duration(-2)

// Handler returns the handler for clients: /v2/ for registries, /go, /nix, /hf and /apt. A path without an origin
// answers with status 404. It does not check the Host header: a program that serves it beyond this machine should.
func (m *Mirror) Handler() http.Handler {
	adapters := make(map[string]adapter)
	for name, bases := range m.origins {
		adapters[name] = fronts[name](m, bases)
	}
	return limited(m.clients, httpapi.Principal, func(w http.ResponseWriter, r *http.Request) {
		kind, path, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
		describe := adapters[kind]
		if describe == nil {
			http.Error(w, "mirror: nothing is mirrored here; see mirror.upstream of the configuration", http.StatusNotFound)
			return
		}
		q := &request{Mirror: m, w: w, r: r, base: m.origins[kind][0], path: path, named: named{name: kind + "/" + path}}
		err := q.answer(describe)
		if errors.Is(err, errDisk) {
			err = q.pass(record{})
		}
		if err != nil {
			q.fail(err)
		}
	})
}

// answer answers a request. After an error nothing was answered.
func (q *request) answer(describe adapter) error {
	if err := describe(q); err != nil {
		return err
	}
	query := q.r.URL.RawQuery
	if query != "" {
		q.name += "?" + query
	}
	req, err := requestTo(q.base, q.path, query, q.r.Header)
	if err != nil {
		return err
	}
	q.origin = req
	if q.fresh == passedOn || !q.everybody(cmp.Or(q.scope, q.name)) {
		return q.pass(record{})
	}
	if rec, ok := q.known(); ok {
		return q.serve(rec)
	}
	if q.fresh == unkept {
		return q.pass(record{})
	}
	rec, err := q.resolve(q.r.Context(), q.named)
	if err != nil {
		return err
	}
	return q.serve(rec)
}

// everybody reports whether the content needs no credentials of the client's: the origin serves it without them, or
// with a token that it gives to everybody, or the request has none. All names of one scope share the answer.
func (q *request) everybody(scope string) bool {
	if q.r.Header.Get("Authorization") == "" {
		return true
	}
	if yes, ok := q.open.Get(scope); ok {
		return yes
	}
	req := q.origin.Clone(q.r.Context())
	req.Method = http.MethodHead
	req.Header.Del("Authorization")
	resp, err := q.do((&auth.Client{Client: q.web}).Do, req)
	if err == nil {
		_ = resp.Body.Close()
	}
	refused := &originError{}
	if errors.As(err, &refused); err == nil || refused.status == http.StatusUnauthorized || refused.status == http.StatusForbidden {
		q.open.Add(scope, err == nil) // an answer about the scope, not about this path
	}
	return err == nil
}

// serve gives a client the content that a record tells of: from the cache, or as it is fetched. After an error nothing
// was answered.
func (q *request) serve(rec record) error {
	if file, ok := q.cache.open(rec.Sum); ok {
		defer func() { _ = file.Close() }()
		size, _ := q.cache.size(rec.Sum)
		if rec.Name == "" { // else resolve may have just asked the origin for it
			q.metrics.requests.WithLabelValues("cache").Inc()
			q.metrics.fromCache.Add(float64(size))
		}
		return q.deliver(rec, file)
	}
	if q.r.Method == http.MethodHead && rec.typeOf == nil { // no fetch for a HEAD, while the origin answers
		if err := q.pass(rec); err == nil || !down(err) {
			return err
		}
	}
	if q.isBlamed(q.cache.path(rec.Sum)) {
		return errDisk // a fetch would break off again: it is passed through
	}
	f := q.join(rec.Sum, q.named)
	defer f.leave()
	content, err := f.reader(q.r.Context())
	switch {
	case errors.Is(err, errLied) && !f.alone: // now the origin alone is asked
		return q.serve(rec)
	case err != nil:
		return err
	}
	return q.deliver(rec, content)
}

// deliver serves content to a client. If the content breaks off, so does the answer, by its length. After an error it
// sent nothing.
func (q *request) deliver(rec record, content io.ReadSeeker) error {
	if rec.typeOf != nil {
		b, err := io.ReadAll(io.LimitReader(content, maxSniffed))
		if err != nil {
			return err
		}
		_, _ = content.Seek(0, io.SeekStart) // cannot fail
		rec.Header.Set("Content-Type", rec.typeOf(b))
	}
	q.w.Header().Set("Content-Type", "application/octet-stream")
	maps.Copy(q.w.Header(), rec.Header)
	if !rec.Asked.IsZero() {
		q.w.Header().Set("Age", strconv.Itoa(max(0, int(time.Since(rec.Asked).Seconds()))))
	}
	changed, _ := http.ParseTime(rec.Header.Get("Last-Modified")) // else the zero time
	http.ServeContent(&paced{q.w, q.r, q.Mirror, q.metrics.toClients}, q.r, "", changed, content)
	return nil
}

// Headers that are passed on: of clients' requests to origins, of requests whose answers are not kept, of a hub's
// answers about large files, and of origins' answers.
var (
	always      = []string{"Accept", "Authorization", "User-Agent"}
	conditional = []string{"Content-Type", "Range", "If-Range", "If-None-Match", "If-Modified-Since"}
	linked      = []string{"X-Repo-Commit", "X-Linked-Etag", "X-Linked-Size"}
	passed      = append([]string{
		"Content-Type", "Content-Encoding", "Content-Length", "Content-Range", "Accept-Ranges", "Etag", "Last-Modified",
		"Link", "Retry-After", "Www-Authenticate", "Docker-Content-Digest", "Docker-Distribution-Api-Version",
		"X-Error-Code", "X-Error-Message",
	}, linked...)
)

// only returns the headers with the given names.
func only(all http.Header, names []string) http.Header {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name string, _ []string) bool { return !slices.Contains(names, name) })
	return out
}

// pass passes the origin's answer on, with a record's headers, and keeps nothing of it. After an error it sent nothing.
func (q *request) pass(rec record) error {
	req := q.origin.Clone(q.r.Context())
	req.Method = q.r.Method
	maps.Copy(req.Header, only(q.r.Header, conditional))
	if q.r.Method == http.MethodPost {
		question, err := io.ReadAll(http.MaxBytesReader(q.w, q.r.Body, maxSmall))
		if err != nil {
			return &fault{"question", http.StatusBadRequest, "a question breaks off, or is too long"}
		}
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(question)), nil } // for redirects
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(question)), int64(len(question))
	}
	resp, err := q.do(q.web.Do, req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	maps.Copy(q.w.Header(), only(resp.Header, passed))
	maps.Copy(q.w.Header(), rec.Header)
	q.w.WriteHeader(resp.StatusCode)
	n, err := io.Copy(&paced{q.w, q.r, q.Mirror, q.metrics.toClients}, resp.Body)
	q.metrics.fromOrigin.Add(float64(n))
	q.metrics.requests.WithLabelValues("passed").Inc()
	q.log.Info("mirror: passed through", "name", q.name, "bytes", n, "whole", err == nil)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// fail answers with an error: if the origin answered with an error, with the same status and body.
func (q *request) fail(err error) {
	var e *originError
	switch {
	case q.r.Context().Err() != nil:
		panic(http.ErrAbortHandler)
	case q.instead != "" && down(err):
		q.w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(q.w, q.instead)
		return
	case errors.As(err, &e):
		q.log.Info("mirror: refused by the origin", "name", q.name, "status", e.status)
		maps.Copy(q.w.Header(), only(e.header, passed))
		q.w.Header().Del("Content-Length")
		q.w.WriteHeader(e.status)
		_, _ = q.w.Write(e.body)
	default:
		q.log.Warn("mirror: failed", "name", q.name, "err", err)
		http.Error(q.w, err.Error(), kind(err).status)
	}
	q.metrics.requests.WithLabelValues("failed").Inc()
}
