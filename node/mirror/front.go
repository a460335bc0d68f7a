package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// What clients may take.
const (
	maxOpen  = 4096
	openTime = 10 * time.Minute // for which it is remembered whether everybody may have what is below a name
)

// adapter answers the requests for what is below its path. escaped is the rest of the path, as the client wrote it.
type adapter func(w http.ResponseWriter, r *http.Request, escaped string)

// Handler returns the handler for clients: /v2/ for registries, /go, /nix, /hf and /apt. Those without an origin answer
// with status 404. It does not look at the Host header: who serves it to others than this machine should.
func (m *Mirror) Handler() http.Handler {
	adapters := make(map[string]adapter)
	if len(m.origins.oci) > 0 {
		adapters["v2"] = newOCI(m).serve
	}
	for name, make := range map[string]func(*Mirror, *url.URL) adapter{"go": newGo, "nix": newNix, "hf": newHF, "apt": newApt} {
		if base := m.origins.base[name]; base != nil {
			adapters[name] = make(m, base)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
		serve := adapters[name]
		switch {
		case serve == nil:
			http.Error(w, "mirror: nothing is mirrored here; see mirror.upstream of the configuration", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "mirror: only GET and HEAD", http.StatusMethodNotAllowed)
		default:
			serve(w, r, rest)
		}
	})
}

// everybody reports whether anybody may have what a client asks for with its credentials: the origin gives it without
// them. A scope is what has the same answer.
func (m *Mirror) everybody(r *http.Request, scope string, origin func(context.Context, string) (*http.Request, error)) bool {
	if r.Header.Get("Authorization") == "" {
		return true
	}
	if yes, ok := m.open.Get(scope); ok {
		return yes
	}
	yes, err := m.free(r.Context(), anonymous(origin))
	if err == nil {
		m.open.Add(scope, yes)
	}
	return yes
}

// free reports whether the origin gives something to those that it does not know. The error says that it does not tell.
func (m *Mirror) free(ctx context.Context, origin func(context.Context, string) (*http.Request, error)) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, m.times.origin)
	defer cancel()
	req, err := origin(ctx, http.MethodHead)
	if err != nil {
		return false, err
	}
	resp, err := m.do(req)
	if err == nil {
		return true, resp.Body.Close()
	}
	var e *originError
	if !errors.As(err, &e) || down(err) {
		return false, err
	}
	token, ok := m.anyToken(ctx, e)
	if !ok {
		return false, nil
	}
	if req, err = origin(ctx, http.MethodHead); err != nil {
		return false, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if resp, err = m.do(req); err == nil {
		return true, resp.Body.Close()
	}
	if down(err) {
		return false, err
	}
	return false, nil
}

// serve gives a client content: from the cache, or as it is fetched.
func (m *Mirror) serve(w http.ResponseWriter, r *http.Request, rec record, want Wanted) {
	if file, size, ok := m.cache.open(want.Sum); ok {
		defer func() { _ = file.Close() }()
		m.hit(want.Name, size)
		m.deliver(w, r, rec, io.NewSectionReader(file, 0, size))
		return
	}
	if r.Method == http.MethodHead && m.serveHead(w, r, rec, want) {
		return
	}
	f := m.join(want)
	defer f.leave()
	size, err := f.known(r.Context())
	switch {
	case errors.Is(err, errDisk):
		m.through(w, r, want.Name, want.Origin)
	case err != nil:
		m.fail(w, r, want.Name, err)
	default:
		m.deliver(w, r, rec, &rescued{reader: f.reader(r.Context(), size), m: m, want: want})
	}
}

// serveHead answers with the origin's word on content, so that nothing is fetched for it. It reports whether it did.
func (m *Mirror) serveHead(w http.ResponseWriter, r *http.Request, rec record, want Wanted) bool {
	req, err := want.Origin(r.Context(), http.MethodHead)
	if err != nil {
		return false
	}
	resp, err := m.do(req)
	if err != nil && down(err) {
		return false // peers may have it
	}
	if err != nil {
		m.fail(w, r, want.Name, err)
		return true
	}
	defer func() { _ = resp.Body.Close() }()
	rec.write(w)
	if resp.ContentLength >= 0 {
		w.Header().Set("Content-Length", fmt.Sprint(resp.ContentLength))
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	return true
}

// deliver serves content to a client. An answer whose content breaks off is cut off.
func (m *Mirror) deliver(w http.ResponseWriter, r *http.Request, rec record, content io.ReadSeeker) {
	rec.write(w)
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	changed, err := http.ParseTime(rec.Header["Last-Modified"])
	if err != nil {
		changed = time.Time{}
	}
	http.ServeContent(w, r, "", changed, &paced{content, http.NewResponseController(w), m.counter("clients")})
}

// rescued reads a flight's content, and the rest from the origin when the disk can take no more.
type rescued struct {
	*reader
	m    *Mirror
	want Wanted
	rest io.ReadCloser
}

func (r *rescued) Read(p []byte) (int, error) {
	if r.rest != nil {
		return r.rest.Read(p)
	}
	n, err := r.reader.Read(p)
	if !errors.Is(err, errDisk) {
		return n, err
	}
	resp, err := r.m.askOrigin(r.ctx, r.want, r.at)
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
func (m *Mirror) through(w http.ResponseWriter, r *http.Request, name string, origin func(context.Context, string) (*http.Request, error)) {
	req, err := origin(r.Context(), r.Method)
	if err != nil {
		m.fail(w, r, name, err)
		return
	}
	if v := r.Header.Get("Range"); v != "" {
		req.Header.Set("Range", v)
	}
	resp, err := m.do(req)
	if err != nil {
		m.fail(w, r, name, err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	pass(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	control := http.NewResponseController(w)
	n, err := io.Copy(w, &slowly{resp.Body, control})
	m.count(fromOrigin, n)
	m.metrics.requests.WithLabelValues("passed").Inc()
	m.log.Info("mirror: passed through", "name", name, "bytes", n, "err", err)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

// slowly gives the client a time for each piece.
type slowly struct {
	io.Reader
	control *http.ResponseController
}

func (s *slowly) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	return n, err
}

// fail answers with an error: the origin's own one, if that is what it is.
func (m *Mirror) fail(w http.ResponseWriter, r *http.Request, name string, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	m.metrics.requests.WithLabelValues("failed").Inc()
	var e *originError
	if errors.As(err, &e) {
		m.log.Info("mirror: refused by the origin", "name", name, "status", e.status)
		pass(w.Header(), e.header)
		w.Header().Del("Content-Length")
		w.WriteHeader(e.status)
		_, _ = w.Write(e.body)
		return
	}
	m.log.Warn("mirror: failed", "name", name, "err", err)
	status := http.StatusBadGateway
	if errors.Is(err, errPath) {
		status = http.StatusBadRequest
	}
	http.Error(w, err.Error(), status)
}
