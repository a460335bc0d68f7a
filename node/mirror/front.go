package mirror

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/venn-p2p/venn/overlay/admission"
)

// What is remembered of origins.
const (
	maxOpen  = 4096
	openTime = 10 * time.Minute // for which a name is remembered as open to everybody, or not
)

// busyAgain is the time after which a client may ask again, in seconds, that finds too many others.
const busyAgain = "1"

// adapter defines the paths below an origin. Content with a hash comes from peers, other content from the origin.
type adapter struct {
	// route returns the origin that a request is for, and the path below it; nil: the only one, and the request's.
	route func(*request) (base *url.URL, path string, err error)
	ping  string // the path that clients ask for first, to log in; empty: none
	// scope names the paths that are open to everybody, or not, together with a request's; nil: each by itself.
	scope func(*request) string
	// known returns the record of content whose hash is known; ok is false if it is not.
	known func(*request) (rec record, ok bool)
	// fresh returns the time for which the origin's word on a path is taken without asking again, or unkept, or passedOn.
	// nil: the origin is always asked.
	fresh   func(path string) time.Duration
	told    []string                        // headers that the origin gets; its word holds for clients that send the same
	headers []string                        // of named
	learn   func(record, *io.SectionReader) // of named
}

// Times of words that are not kept: of what is passed through unless its hash is known, and always.
const unkept, passedOn = time.Duration(-1), time.Duration(-2)

// request is a client's request.
type request struct {
	*Mirror
	w      http.ResponseWriter
	r      *http.Request
	path   string // below the origin, as the client wrote it
	name   string // for the log and the records
	origin ask    // asks the origin for it, with the client's credentials
}

// Handler returns the handler for clients: /v2/ for registries, /go, /nix, /hf and /apt. A path without an origin
// answers with status 404. It does not check the Host header: a program that serves it beyond this machine should.
func (m *Mirror) Handler() http.Handler {
	serve := make(map[string]func(*request))
	for name, bases := range m.origins {
		a := fronts[name].open(m, bases)
		serve[name] = func(q *request) { a.answer(q, bases[0]) }
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

// answer answers a request for a path below an origin.
func (a adapter) answer(q *request, base *url.URL) {
	var err error
	if a.route != nil {
		base, q.path, err = a.route(q)
	}
	if err == nil && a.ping != "" && q.path == a.ping {
		q.ping(base)
		return
	}
	var at *url.URL
	if err == nil {
		at, err = below(base, q.path)
	}
	if err != nil {
		q.fail(err)
		return
	}
	scope := ""
	if a.scope != nil {
		scope = a.scope(q)
	}
	if at.RawQuery = q.r.URL.RawQuery; at.RawQuery != "" {
		q.name += "?" + at.RawQuery
	}
	q.origin = requestTo(at, q.r, a.told...)
	n := named{name: q.name, origin: q.origin, headers: a.headers, learn: a.learn}
	if a.fresh != nil {
		n.fresh = a.fresh(q.path)
	}
	if n.fresh == passedOn || !q.everybody(cmp.Or(scope, q.name)) {
		q.through()
		return
	}
	if rec, ok := a.known(q); ok {
		q.serve(rec)
		return
	}
	if n.fresh == unkept {
		q.through()
		return
	}
	for _, name := range a.told {
		n.name += " " + strings.Join(slices.Sorted(slices.Values(q.r.Header.Values(name))), " ")
	}
	q.serveNamed(n)
}

// everybody reports whether anybody may have the content that a client asks for with its credentials: the origin gives
// it without them, or with a token that it gives to all. All names of one scope have the same answer.
func (q *request) everybody(scope string) bool {
	if q.r.Header.Get("Authorization") == "" {
		return true
	}
	return q.opens(scope, func() error {
		ctx, cancel := context.WithTimeout(q.r.Context(), q.times.origin)
		defer cancel()
		req, err := q.origin(ctx, http.MethodHead)
		if err != nil {
			return err
		}
		req.Header.Del("Authorization")
		resp, err := (&auth.Client{Client: q.Mirror.origin}).Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return &originError{status: resp.StatusCode}
		}
		return nil
	})
}

// opens reports whether the origin gives what a name stands for to everybody. Its answer is remembered for a while.
func (m *Mirror) opens(name string, ask func() error) bool {
	yes, ok := m.open.Get(name)
	if !ok {
		err := ask()
		if yes = err == nil; yes || !down(err) {
			m.open.Add(name, yes)
		}
	}
	return yes
}

// serve gives a client the content that a record tells of: from the cache, or as it is fetched.
func (q *request) serve(rec record) {
	if file, size, ok := q.body(rec); ok {
		defer func() { _ = file.Close() }()
		if rec.Name == "" { // else it was asked for right now
			q.metrics.requests.WithLabelValues("cache").Inc()
			q.count(fromCache, size)
		}
		q.log.Debug("mirror: from the cache", "name", q.name, "bytes", size)
		q.deliver(rec, io.NewSectionReader(file, 0, size))
		return
	}
	if q.r.Method == http.MethodHead && rec.typeOf == nil { // nothing is fetched for it, while the origin answers
		if err := q.pass(rec); err == nil {
			return
		} else if !down(err) {
			q.fail(err)
			return
		}
	}
	f := q.join(wanted{sum: rec.Sum, name: q.name, origin: q.origin})
	defer f.leave()
	content, err := f.reader(q.r.Context())
	switch {
	case errors.Is(err, errDisk):
		q.through()
	case err != nil:
		q.fail(err)
	default:
		q.deliver(rec, &rescued{reader: content})
	}
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
	changed, _ := http.ParseTime(rec.Header["Last-Modified"]) // else the zero time
	http.ServeContent(q.paced(q.w, q.r, toClients), q.r, "", changed, content)
}

// rescued reads a flight's content, and the rest from the origin when the disk can take no more.
type rescued struct {
	*reader
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
	resp, err := r.f.m.askOrigin(r.ctx, r.f.want, span{r.at, -1})
	if err != nil {
		return 0, err
	}
	context.AfterFunc(r.ctx, func() { _ = resp.Body.Close() })
	if got, size, err := given(resp, span{r.at, -1}); err != nil || size >= 0 && size != r.size || got.begin != r.at {
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
	if err := q.pass(record{}); err != nil {
		q.fail(err)
	}
}

// pass passes the origin's answer on, with a record's headers. After an error nothing of it was passed on.
func (q *request) pass(rec record) error {
	req, err := q.origin(q.r.Context(), q.r.Method)
	if err != nil {
		return err
	}
	if v := q.r.Header.Get("Range"); v != "" {
		req.Header.Set("Range", v)
	}
	resp, err := q.do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	pass(q.w.Header(), resp.Header)
	for name, v := range rec.Header {
		q.w.Header().Set(name, v)
	}
	q.w.WriteHeader(resp.StatusCode)
	n, err := io.Copy(q.paced(q.w, q.r, toClients), resp.Body)
	q.count(fromOrigin, n)
	q.metrics.requests.WithLabelValues("passed").Inc()
	q.log.Info("mirror: passed through", "name", q.name, "bytes", n, failure(err))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

// fail answers with an error: the origin's own, if it is one.
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
	if !strings.HasPrefix(q.r.URL.Path, "/v2/") {
		http.Error(q.w, err.Error(), status)
		return
	}
	q.w.Header().Set("Content-Type", "application/json") // as registries tell their errors
	q.w.WriteHeader(status)
	code := cmp.Or(map[int]string{http.StatusNotFound: "NAME_UNKNOWN", http.StatusBadRequest: "NAME_INVALID"}[status], "UNKNOWN")
	_ = json.NewEncoder(q.w).Encode(map[string]any{"errors": []map[string]string{{"code": code, "message": err.Error()}}})
}
