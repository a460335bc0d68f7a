package view

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/overlay/admission"
)

// Source has the lines that the page shows: a Feed or a Recording.
type Source interface {
	// Follow calls write with all lines, in batches, until there are no more or ctx ends. An empty batch tells the
	// viewer that the source is still there.
	Follow(ctx context.Context, write func(lines [][]byte) error) error
}

// Config has the source of the page, and what viewers may do.
type Config struct {
	Source Source // required
	// Ask asks a peer for a key. nil: the page has no field for queries.
	Ask func(ctx context.Context, peer int, key []byte, all bool) (Query, error)
	// Change gives a peer a number of keys that others hold, and removes a number of its keys. It returns the
	// numbers done. nil: the page cannot change anything.
	Change func(ctx context.Context, peer, add, remove int) (added, removed int, err error)
}

// Limits of the server.
const (
	maxViewers = 32 // viewers at one time
	maxAsking  = 8  // requests to ask or to change, at one time
	// longest time for a browser to read a batch; a browser that takes longer is disconnected
	writeTime    = 10 * time.Second
	readTime     = 10 * time.Second // longest time to receive a body
	askTime      = 20 * time.Second
	maxBody      = 4 << 10
	heldChanges  = 1000 // keys that one change may add, or remove, at most
	contentRules = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// Errors that Config.Ask and Config.Change may return, among others.
var (
	errNoPeer = errors.New("no such peer runs here")
	// ErrNotNow is returned while keys cannot be changed yet.
	ErrNotNow = errors.New("keys can be changed once the report is there: the run's figures would be wrong")
)

// Handler serves the page and its source. It accepts requests of other web pages, too: wrap it in [httpapi.Guard].
func Handler(c Config) http.Handler {
	s := &server{c, admission.NewSlots(maxAsking)}
	mux := http.NewServeMux()
	mux.Handle("GET /events", placed(admission.NewSlots(maxViewers), "too many watch already", s.events))
	mux.HandleFunc("GET /can", s.can)
	mux.HandleFunc("POST /ask", s.ask)
	mux.HandleFunc("POST /change", s.change)
	mux.HandleFunc("GET /", file)
	return secured(compressed(mux))
}

// placed serves requests while there are places for those of their client, and answers others with a text.
func placed(places *admission.Slots, full string, serve http.HandlerFunc) http.Handler {
	return httpapi.Placed(places, httpapi.Principal, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, full, http.StatusServiceUnavailable)
	}, serve)
}

// compressed compresses the answers to browsers on other machines, to which the line may be slow.
func compressed(h http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(1), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // cannot be: the options are valid
	}
	zipped := wrap(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && from.Addr().Unmap().IsLoopback() {
			h.ServeHTTP(w, r)
			return
		}
		zipped(w, r)
	})
}

type server struct {
	Config
	asking *admission.Slots
}

// secured tells browsers to run only this page's scripts, and not to show it in another page.
func secured(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", contentRules)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.ServeHTTP(w, r)
	})
}

// can tells the page whether it may ask and change, and whether it shows a recording.
func (s *server) can(w http.ResponseWriter, _ *http.Request) {
	_, recorded := s.Source.(*Recording)
	answer(w, map[string]bool{"ask": s.Ask != nil, "change": s.Change != nil, "recorded": recorded})
}

// events sends the source's lines as server-sent events, each with an array of lines, and an event "end" after the
// last.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	send := func(b []byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(writeTime))
		if _, err := w.Write(b); err != nil {
			return err
		}
		return control.Flush()
	}
	if s.Source.Follow(r.Context(), func(lines [][]byte) error { return send(message(lines)) }) == nil {
		_ = send([]byte("event: end\ndata: {}\n\n"))
	}
}

// message formats lines as one server-sent event. Without lines it returns a comment, which browsers ignore.
func message(lines [][]byte) []byte {
	if len(lines) == 0 {
		return []byte(": still here\n\n")
	}
	b := []byte("data: [")
	for i, l := range lines {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, bytes.TrimRight(l, "\r\n")...)
	}
	return append(b, "]\n\n"...)
}

// asked is the body of the requests ask and change.
type asked struct {
	Peer   int    `json:"peer"`
	Key    string `json:"key"`
	All    bool   `json:"all"`
	Add    int    `json:"add"`
	Remove int    `json:"remove"`
}

func (s *server) ask(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, s.Ask != nil, func(ctx context.Context, a asked) (any, error) {
		key, err := httpapi.ParseKey(a.Key)
		if err != nil {
			return nil, err
		}
		return s.Ask(ctx, a.Peer, key, a.All)
	})
}

func (s *server) change(w http.ResponseWriter, r *http.Request) {
	s.act(w, r, s.Change != nil, func(ctx context.Context, a asked) (any, error) {
		if min(a.Add, a.Remove) < 0 || max(a.Add, a.Remove) > heldChanges {
			return nil, fmt.Errorf("a change adds or removes 0 to %d keys", heldChanges)
		}
		added, removed, err := s.Change(ctx, a.Peer, a.Add, a.Remove)
		return map[string]int{"added": added, "removed": removed}, err
	})
}

// act reads a request, calls do, and answers. It refuses the request if can is false.
func (s *server) act(w http.ResponseWriter, r *http.Request, can bool, do func(context.Context, asked) (any, error)) {
	if !can {
		http.Error(w, "this view only shows", http.StatusForbidden)
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(readTime))
	var a asked
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&a); err != nil {
		http.Error(w, "no JSON: "+err.Error(), http.StatusBadRequest)
		return
	}
	_ = control.SetReadDeadline(time.Time{})
	placed(s.asking, "too much is asked at once", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), askTime)
		defer cancel()
		v, err := do(ctx, a)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		answer(w, v)
	}).ServeHTTP(w, r)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
