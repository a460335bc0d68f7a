package httpapi

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/overlay/admission"
)

// Config holds what the API serves, and its limits.
type Config struct {
	Node *node.Node // required
	// Keys lists the node's keys. Control requires it.
	Keys func(context.Context) iter.Seq2[[]byte, error]
	// Add adds keys for a client. nil: Node.Add does.
	Add func(ctx context.Context, keys ...[]byte) (added int, err error)
	// Servers returns the peers that serve the content of a peer. It is called for many peers at the same time. nil:
	// every peer serves its own.
	Servers func(context.Context, peer.AddrInfo) []peer.AddrInfo
	// Removals keeps a mark that changes when keys are removed. nil: there is no mark in the status.
	Removals Removals
	// Backup writes everything that the node must not lose. nil: Control offers no backup.
	Backup func(context.Context, io.Writer) error
	// Mirror returns the state of the mirror, nil if there is none now. A nil function means that there is never one.
	Mirror func() *Mirror
	// Version is the program's version, for the status. It may be empty.
	Version string
	// Registry gets the metrics of Control and of Public, which also serve all of its metrics. Control and Public may
	// each be called once for a registry. nil: no metrics are served.
	Registry *prometheus.Registry
	// Shutdown ends the program. nil: Control cannot end it.
	Shutdown func()
	// Level is the level of the program's log. nil: Control cannot change it.
	Level *slog.LevelVar
	// Log gets failures of requests. nil: slog.Default.
	Log *slog.Logger

	MaxBody int64 // most bytes of a request; 0: 32 MiB
	// Most time of a request; 0: 60 s. Ten times as much for /keys, cover, join, backup, and find with wait_ms.
	MaxTime     time.Duration
	MaxRequests int // most requests served at once; 0: 64
}

// Removals keeps a mark that changes when keys are removed. A client reads the mark and then adds keys. While the mark
// is the same, all these keys are still there.
type Removals interface {
	Mark() string
	// Remove changes the mark, if a client may know it, and then calls f, which removes keys.
	Remove(f func() error) error
}

func (c *Config) setDefaults() {
	if c.Add == nil && c.Node != nil {
		c.Add = c.Node.Add
	}
	c.Log = cmp.Or(c.Log, slog.Default())
	c.MaxBody = cmp.Or(c.MaxBody, 32<<20)
	c.MaxTime = cmp.Or(c.MaxTime, time.Minute)
	c.MaxRequests = cmp.Or(c.MaxRequests, 64)
}

// readTime is the most time for reading a request. Tests make it shorter.
var readTime = 20 * time.Second

// The most time for writing an answer, unless the handler sets another.
const (
	writeTime = 10 * time.Minute // a profile may take minutes
	soonTime  = 10 * time.Second // time for an answer that is there at once
)

const mostQuick = 8 // most requests of metrics and health at a time

// Serve answers requests on l until ctx ends. Requests under way then have two seconds to end.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 1 << 16,
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		end, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if s.Shutdown(end) != nil {
			_ = s.Close()
		}
	})
	err := s.Serve(l)
	if !stop() {
		<-stopped
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// URL returns the URL at which programs of this machine reach a server that listens by TCP.
func URL(l net.Listener) string {
	at := *l.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() {
		at.IP = net.IPv4(127, 0, 0, 1)
	}
	return "http://" + at.String()
}

// handler handles a request. Its error is answered in JSON, or cuts off the answer if that has begun.
type handler func(w http.ResponseWriter, r *http.Request) error

// api has the handlers and their shared state.
type api struct {
	Config
	slots   *admission.Slots
	quick   *admission.Slots // places for metrics and health
	refused prometheus.Counter
}

// newAPI makes the api for one of the handlers. name is that handler's label in the metrics.
func newAPI(c Config, name string) *api {
	c.setDefaults()
	labels := prometheus.Labels{"api": name}
	a := &api{Config: c, slots: admission.NewSlots(c.MaxRequests), quick: admission.NewSlots(mostQuick)}
	a.refused = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "venn_http_refused_total", Help: "Requests refused since too many were served already.", ConstLabels: labels,
	})
	serving := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "venn_http_requests", Help: "Requests served now.", ConstLabels: labels,
	}, func() float64 { return float64(a.slots.Held()) })
	if c.Registry != nil {
		c.Registry.MustRegister(a.refused, serving)
	}
	return a
}

// Control returns the handler for the owner: /api/v1, metrics, health, and Go's profiles under /debug/pprof.
func Control(c Config) http.Handler {
	a := newAPI(c, "control")
	mux := http.NewServeMux()
	described := operations()
	for pattern, h := range a.routes() {
		mux.Handle(pattern, a.limited(strict(described[pattern], h)))
	}
	a.common(mux)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// routes returns the handlers of /api/v1, by method and path.
func (a *api) routes() map[string]handler {
	return map[string]handler{
		"GET /api/v1/id":           a.id,
		"GET /api/v1/status":       a.status,
		"GET /api/v1/peers":        a.peers,
		"GET /api/v1/neighbours":   a.neighbours,
		"GET /api/v1/similar":      a.similar,
		"GET /api/v1/overlap":      a.overlap,
		"GET /api/v1/find":         a.find,
		"GET /api/v1/join":         a.join,
		"POST /api/v1/cover":       a.cover,
		"GET /api/v1/keys":         a.listKeys,
		"POST /api/v1/keys/add":    a.addKeys,
		"POST /api/v1/keys/remove": a.removeKeys,
		"POST /api/v1/keys/has":    a.hasKeys,
		"POST /api/v1/connect":     a.connect,
		"POST /api/v1/disconnect":  a.disconnect,
		"GET /api/v1/ping":         a.ping,
		"GET /api/v1/events":       a.events,
		"POST /api/v1/log":         a.logLevel,
		"POST /api/v1/shutdown":    a.shutdown,
		"GET /api/v1/backup":       a.backup,
		"GET /api/v1/openapi.json": a.openapi,
	}
}

// common adds metrics and health to mux.
func (a *api) common(mux *http.ServeMux) {
	if a.Registry != nil {
		mux.Handle("GET /debug/metrics/prometheus", a.soon(promhttp.HandlerFor(a.Registry, promhttp.HandlerOpts{})))
	}
	mux.Handle("GET /health/live", a.soon(a.answered(func(w http.ResponseWriter, _ *http.Request) error {
		return writeJSON(w, map[string]bool{"live": true})
	})))
	mux.Handle("GET /health/ready", a.soon(a.answered(a.ready)))
}

// soon limits a handler whose answer is there at once.
func (a *api) soon(h http.Handler) http.Handler {
	return a.placed(a.quick, func(*http.Request) time.Duration { return soonTime }, h)
}

// ready answers with success once the node answers, its key store works and, if it has keys, its summary is made. It
// answers with an error while the last summary could not be made.
func (a *api) ready(w http.ResponseWriter, r *http.Request) error {
	s, err := a.Node.Status(r.Context())
	if err != nil {
		return err
	}
	if s.Fault != "" {
		return fault{http.StatusServiceUnavailable, errors.New(s.Fault)}
	}
	if s.Keys > 0 && s.Epoch.Sequence == 0 {
		return fault{http.StatusServiceUnavailable, errors.New("the summary is being made")}
	}
	return writeJSON(w, map[string]any{"ready": true, "peers": s.Links})
}

// Principal returns a request's client: its address, and the group of that. All clients of a unix socket are one.
func Principal(r *http.Request) admission.Principal {
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		return admission.Principal{Peer: at.Addr().String(), Group: admission.Group(at.Addr().AsSlice())}
	}
	return admission.Principal{Peer: r.RemoteAddr}
}

// limited limits a handler of the API, and answers its error.
func (a *api) limited(h handler) http.Handler {
	return a.placed(a.slots, func(r *http.Request) time.Duration {
		switch {
		case r.URL.Path == "/api/v1/events":
			return endless
		case long(r):
			return 10 * a.MaxTime
		}
		return a.MaxTime
	}, a.answered(h))
}

// Placed serves requests while there are places for the requests of who asks, and answers others by full. A request's
// context ends when its place goes to a group or an asker with fewer places.
func Placed(places *admission.Slots, who func(*http.Request) admission.Principal, full http.HandlerFunc, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		place := places.Take(who(r), cancel)
		if place == nil {
			full(w, r)
			return
		}
		defer place.Release()
		h.ServeHTTP(w, r.WithContext(ctx))
	})
}

// placed gives requests places, and limits a handler's time and the size of a request.
func (a *api) placed(places *admission.Slots, most func(*http.Request) time.Duration, h http.Handler) http.Handler {
	full := func(w http.ResponseWriter, _ *http.Request) {
		a.refused.Inc()
		writeError(w, http.StatusServiceUnavailable, errors.New("too many requests at once are served already"))
	}
	return Placed(places, Principal, full, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, limit := r.Context(), most(r)
		within, end := context.WithTimeout(ctx, limit)
		defer end()
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(limit))
		_ = control.SetWriteDeadline(time.Now().Add(limit + time.Second))
		defer context.AfterFunc(ctx, func() { // the request must give way, or its client has gone
			_ = control.SetReadDeadline(time.Now())
			_ = control.SetWriteDeadline(time.Now().Add(time.Second))
		})()
		r = r.WithContext(within)
		r.Body = http.MaxBytesReader(w, r.Body, a.MaxBody)
		h.ServeHTTP(w, r)
	}))
}

// answered answers a handler's error. If the answer has begun, the error cuts it off, so that the client sees that it
// is incomplete.
func (a *api) answered(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &answer{ResponseWriter: w}
		if err := h(out, r); err != nil && out.begun {
			a.warn(r, "answer cut off", err)
			panic(http.ErrAbortHandler)
		} else if err != nil {
			a.fail(w, r, err)
		}
	})
}

// answer records whether anything was written. After that, status and header can no longer be changed.
type answer struct {
	http.ResponseWriter
	begun bool
}

func (a *answer) WriteHeader(status int) {
	a.begun = true
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

// FlushError is called by http.ResponseController.
func (a *answer) FlushError() error {
	a.begun = true
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Unwrap is called by http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// endless is the most time for which events are sent.
const endless = 10 * 365 * 24 * time.Hour

func long(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/v1/keys") || r.URL.Path == "/api/v1/join" || r.URL.Path == "/api/v1/backup" || r.URL.Path == "/api/v1/cover" ||
		r.URL.Path == "/api/v1/find" && r.URL.Query().Has("wait_ms")
}

// operation has the description of a request in openapi.json.
type operation struct {
	Parameters  []parameter
	RequestBody any // nil: the request has none, but a form may have its parameters
}

type parameter struct {
	Name   string
	Schema struct{ Type string } // array: the parameter may be repeated
}

// operations returns what openapi.json describes, by method and path.
func operations() map[string]operation {
	var doc struct {
		Paths map[string]map[string]operation
	}
	if err := json.Unmarshal(openapiJSON, &doc); err != nil {
		panic(err) // a test reads it
	}
	all := make(map[string]operation)
	for path, methods := range doc.Paths {
		for method, o := range methods {
			all[strings.ToUpper(method)+" "+path] = o
		}
	}
	return all
}

// strict refuses parameters that cannot be parsed, because URL.Query drops them, and those that are not described: a
// misspelt one must not be ignored. It also refuses parameters given twice, because handlers see only the first.
func strict(o operation, h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		parameters, err := url.ParseQuery(r.URL.RawQuery)
		if err == nil && o.RequestBody == nil {
			err = r.ParseForm()
			parameters = r.Form
		}
		if err != nil {
			return fault{http.StatusBadRequest, fmt.Errorf("parameters: %w", err)}
		}
		for _, name := range slices.Sorted(maps.Keys(parameters)) {
			i := slices.IndexFunc(o.Parameters, func(p parameter) bool { return p.Name == name })
			if i < 0 {
				return fault{http.StatusBadRequest, fmt.Errorf("no parameter %q; %s", name, o.names())}
			}
			if len(parameters[name]) > 1 && o.Parameters[i].Schema.Type != "array" {
				return fault{http.StatusBadRequest, fmt.Errorf("%s: is given twice", name)}
			}
		}
		return h(w, r)
	}
}

// names says which parameters a request may have.
func (o operation) names() string {
	if len(o.Parameters) == 0 {
		return "there are none"
	}
	var names []string
	for _, p := range o.Parameters {
		names = append(names, p.Name)
	}
	return "there are " + strings.Join(names, ", ")
}

// fault is an error with the HTTP status of its answer.
type fault struct {
	status int
	error
}

func (f fault) Unwrap() error { return f.error }

// fail answers with an error and the HTTP status that fits it. It logs errors with a status of 500 or above.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	var f fault
	switch {
	case errors.As(err, &f):
		status = f.status
	case errors.Is(err, node.ErrUnknown):
		status = http.StatusNotFound
	case errors.Is(err, node.ErrNoJoins):
		status = http.StatusConflict
	case errors.Is(err, node.ErrKey), errors.Is(err, ErrKeyText):
		status = http.StatusBadRequest
	case errors.As(err, new(*http.MaxBytesError)):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, syscall.ENOSPC):
		status = http.StatusInsufficientStorage
	case errors.Is(err, node.ErrClosed):
		status = http.StatusServiceUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		status = http.StatusGatewayTimeout
	}
	if status >= 500 && status != http.StatusNotImplemented { // what is not offered is no failure
		a.warn(r, "request failed", err)
	}
	writeError(w, status, err)
}

// warn logs the failure of a request. It logs none whose client has gone, or whose place went to another client:
// clients could fill the log.
func (a *api) warn(r *http.Request, what string, err error) {
	if !errors.Is(r.Context().Err(), context.Canceled) {
		a.Log.Warn(what, "path", r.URL.Path, "err", err)
	}
}

func writeError(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(Error{err.Error()})
}

// Error is the body of an answer that reports an error.
type Error struct {
	Error string `json:"error"`
}

func writeJSON(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(v)
}

// lines begins an answer in NDJSON. It returns a function that writes a line, which the client gets at once.
func lines(w http.ResponseWriter) func(any) error {
	w.Header().Set("Content-Type", "application/x-ndjson")
	control, enc := http.NewResponseController(w), json.NewEncoder(w)
	return func(v any) error { return cmp.Or(enc.Encode(v), control.Flush()) }
}

// manyLines begins an answer in NDJSON. write may hold lines back; end sends those held back.
func manyLines(w http.ResponseWriter) (write func(any) error, end func() error) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := bufio.NewWriterSize(w, 1<<16)
	return json.NewEncoder(out).Encode, out.Flush
}
