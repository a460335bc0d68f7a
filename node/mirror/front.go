package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/venn-p2p/venn/overlay/admission"
)

// What is remembered of origins.
const (
	maxOpen  = 4096
	openTime = 10 * time.Minute // for which it is remembered whether everybody may have what is below a name
)

// busyAgain is when a client may ask again, in seconds, that finds too many others.
const busyAgain = "1"

// adapter answers requests for what is below its path, that everybody may have.
type adapter struct {
	scope  string // what has the same answer to whether everybody may have it; empty: each path by itself
	answer func(*request)
}

// request is what a client asks for.
type request struct {
	*Mirror
	w      http.ResponseWriter
	r      *http.Request
	path   string // below that of the adapter, as the client wrote it
	name   string // for the log and the records
	at     *url.URL
	origin ask // asks for what is at that URL, with the client's credentials
}

// Handler returns the handler for clients: /v2/ for registries, /go, /nix, /hf and /apt. Those without an origin answer
// with status 404. It does not look at the Host header: who serves it to others than this machine should.
func (m *Mirror) Handler() http.Handler {
	serve := make(map[string]func(*request))
	if len(m.origins.oci) > 0 {
		serve["v2"] = newOCI(m).serve
	}
	for name, adapter := range map[string]func(*Mirror, *url.URL) adapter{"go": newGo, "nix": newNix, "hf": newHF, "apt": newApt} {
		if base := m.origins.base[name]; base != nil {
			serve[name] = adapter(m, base).below(base)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, path, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
		switch serve := serve[kind]; {
		case serve == nil:
			http.Error(w, "mirror: nothing is mirrored here; see mirror.upstream of the configuration", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "mirror: only GET and HEAD", http.StatusMethodNotAllowed)
		default:
			place := m.clients.Take(anyClient, func() {})
			if place == nil {
				w.Header().Set("Retry-After", busyAgain)
				http.Error(w, "mirror: too many requests at once", http.StatusServiceUnavailable)
				return
			}
			defer place.Release()
			serve(&request{Mirror: m, w: w, r: r, path: path, name: kind + "/" + path})
		}
	})
}

// anyClient stands for all clients: they are bounded together.
var anyClient = admission.Principal{Peer: "client"}

// below returns what answers requests for paths below an origin.
func (a adapter) below(base *url.URL) func(*request) {
	return func(q *request) {
		at, err := below(base, q.path)
		if err != nil {
			q.fail(err)
			return
		}
		q.at, q.origin = at, requestTo(at, q.r)
		scope := a.scope
		if scope == "" {
			scope = q.name
		}
		if !q.everybody(scope) {
			q.through()
			return
		}
		a.answer(q)
	}
}

// everybody reports whether anybody may have what a client asks for with its credentials: the origin gives it without
// them. A scope is what has the same answer.
func (q *request) everybody(scope string) bool {
	if q.r.Header.Get("Authorization") == "" {
		return true
	}
	if yes, ok := q.open.Get(scope); ok {
		return yes
	}
	ctx, cancel := context.WithTimeout(q.r.Context(), q.times.origin)
	defer cancel()
	err := q.head(ctx, "")
	var e *originError
	if errors.As(err, &e) && !down(err) {
		if token, ok := q.anyToken(ctx, e); ok {
			err = q.head(ctx, "Bearer "+token)
		}
	}
	if err == nil || !down(err) {
		q.open.Add(scope, err == nil)
	}
	return err == nil
}

// head asks the origin with other credentials than the client's. The error is nil if it gives the content.
func (q *request) head(ctx context.Context, credentials string) error {
	req, err := q.origin(ctx, http.MethodHead)
	if err != nil {
		return err
	}
	if req.Header.Del("Authorization"); credentials != "" {
		req.Header.Set("Authorization", credentials)
	}
	resp, err := q.do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// serve gives a client content: from the cache, or as it is fetched.
func (q *request) serve(rec record, sum Sum) {
	if file, size, ok := q.cache.open(sum); ok {
		defer func() { _ = file.Close() }()
		q.metrics.requests.WithLabelValues("cache").Inc()
		q.count(fromCache, size)
		q.log.Debug("mirror: from the cache", "name", q.name, "bytes", size)
		q.deliver(rec, io.NewSectionReader(file, 0, size))
		return
	}
	if q.r.Method == http.MethodHead && rec.typeOf == nil && q.serveHead(rec) {
		return
	}
	want := Wanted{sum, q.name, q.origin}
	f := q.join(want)
	defer f.leave()
	content, err := f.reader(q.r.Context())
	switch {
	case errors.Is(err, errDisk):
		q.through()
	case err != nil:
		q.fail(err)
	default:
		q.deliver(rec, &rescued{reader: content, want: want})
	}
}

// serveHead answers with the origin's word on content, so that nothing is fetched for it. It reports whether it did.
func (q *request) serveHead(rec record) bool {
	req, err := q.origin(q.r.Context(), http.MethodHead)
	if err != nil {
		return false
	}
	resp, err := q.do(req)
	if err != nil && down(err) {
		return false // peers may have it
	}
	if err != nil {
		q.fail(err)
		return true
	}
	defer func() { _ = resp.Body.Close() }()
	rec.write(q.w)
	if resp.ContentLength >= 0 {
		q.w.Header().Set("Content-Length", fmt.Sprint(resp.ContentLength))
	}
	return true
}

// deliver serves content to a client. An answer whose content breaks off is cut off.
func (q *request) deliver(rec record, content io.ReadSeeker) {
	if rec.typeOf != nil {
		b, err := io.ReadAll(io.LimitReader(content, maxSniffed))
		if err == nil {
			_, err = content.Seek(0, io.SeekStart)
		}
		if err != nil {
			q.fail(err)
			return
		}
		rec.Header = maps.Clone(rec.Header)
		rec.Header["Content-Type"] = rec.typeOf(b)
	}
	rec.write(q.w)
	changed, err := http.ParseTime(rec.Header["Last-Modified"])
	if err != nil {
		changed = time.Time{}
	}
	http.ServeContent(q.w, q.r, "", changed, q.paced(q.w, q.r, content, toClients))
}

// rescued reads a flight's content, and the rest from the origin when the disk can take no more.
type rescued struct {
	*reader
	want Wanted
	rest io.Reader
}

func (r *rescued) Read(p []byte) (int, error) {
	if r.rest != nil {
		return r.rest.Read(p)
	}
	n, err := r.reader.Read(p)
	if !errors.Is(err, errDisk) {
		return n, err
	}
	resp, err := r.f.m.askOrigin(r.ctx, r.want, r.at)
	if err != nil {
		return 0, err
	}
	context.AfterFunc(r.ctx, func() { _ = resp.Body.Close() })
	if size, err := originSize(resp, r.at); err != nil || size >= 0 && size != r.size {
		return 0, errors.Join(err, errSize)
	}
	r.rest = resp.Body
	return r.rest.Read(p)
}

// passed are the headers of the origin's answers that clients get.
var passed = []string{
	"Content-Type", "Content-Length", "Content-Range", "Accept-Ranges", "Etag", "Last-Modified", "Retry-After", "Www-Authenticate", "Link",
	"Docker-Content-Digest", "Docker-Distribution-Api-Version", "X-Repo-Commit", "X-Linked-Etag", "X-Linked-Size", "X-Error-Code", "X-Error-Message",
}

func pass(to, from http.Header) {
	for _, name := range passed {
		if v := from.Values(name); len(v) > 0 {
			to[name] = v
		}
	}
}

// through answers with the origin's answer, and keeps nothing of it.
func (q *request) through() {
	req, err := q.origin(q.r.Context(), q.r.Method)
	if err != nil {
		q.fail(err)
		return
	}
	if v := q.r.Header.Get("Range"); v != "" {
		req.Header.Set("Range", v)
	}
	resp, err := q.do(req)
	if err != nil {
		q.fail(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	pass(q.w.Header(), resp.Header)
	q.w.WriteHeader(resp.StatusCode)
	onlyReads := struct {
		io.Reader
		io.Seeker
	}{resp.Body, nil}
	n, err := io.Copy(q.w, q.paced(q.w, q.r, onlyReads, toClients))
	q.count(fromOrigin, n)
	q.metrics.requests.WithLabelValues("passed").Inc()
	q.log.Info("mirror: passed through", "name", q.name, "bytes", n, failure(err))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// fail answers with an error: the origin's own one, if that is what it is.
func (q *request) fail(err error) {
	if q.r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	q.metrics.requests.WithLabelValues("failed").Inc()
	var e *originError
	if errors.As(err, &e) {
		q.log.Info("mirror: refused by the origin", "name", q.name, "status", e.status)
		pass(q.w.Header(), e.header)
		q.w.Header().Del("Content-Length")
		q.w.WriteHeader(e.status)
		_, _ = q.w.Write(e.body)
		return
	}
	q.log.Warn("mirror: failed", "name", q.name, "err", err)
	status := http.StatusBadGateway
	if f := (*fault)(nil); errors.As(err, &f) {
		status = f.status
	}
	http.Error(q.w, err.Error(), status)
}
