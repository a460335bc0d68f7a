package view

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/venn-p2p/venn/node/httpapi"
)

// Source is the subject of the page: a Feed or a Recording.
type Source interface {
	// Follow gives all lines to write, in batches, until there are no more or ctx ends.
	Follow(ctx context.Context, write func(lines [][]byte) error) error
}

// Config holds the subject of the page, and the rights of its viewers.
type Config struct {
	Source Source // required
	// Ask asks a peer for a key. nil: the page has no box for that.
	Ask func(ctx context.Context, peer int, key []byte, all bool) (Query, error)
	// Change gives a peer a number of keys that others hold, takes a number from it, and returns the numbers done. nil:
	// the page cannot change anything.
	Change func(ctx context.Context, peer, add, remove int) (added, removed int, err error)
}

// Limits of the server.
const (
	maxViewers   = 32               // that follow at one time
	maxAsking    = 8                // requests to ask or change, at one time
	writeTime    = 10 * time.Second // for a browser to take a batch: one that never reads is left
	readTime     = 10 * time.Second // for a body to come
	askTime      = 20 * time.Second
	maxBody      = 4 << 10
	keepAlive    = 15 * time.Second // between signs of life of a feed where nothing happens
	heldChanges  = 1000             // keys that one change may add or remove
	contentRules = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
		"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// Errors that Ask and Change may return, besides their own.
var (
	errNoPeer = errors.New("no such peer runs here")
	// ErrNotNow says that nothing can be changed yet.
	ErrNotNow = errors.New("keys can be changed once the report is there: the run's figures would be wrong")
)

// Handler serves the page and its source. It does not tell this page's requests from other pages': wrap it in
// [httpapi.Guard].
func Handler(c Config) http.Handler {
	s := &server{Config: c, viewers: make(chan struct{}, maxViewers), asking: make(chan struct{}, maxAsking)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /can", s.can)
	mux.HandleFunc("POST /ask", s.ask)
	mux.HandleFunc("POST /change", s.change)
	mux.HandleFunc("GET /", file)
	return secured(mux)
}

type server struct {
	Config
	viewers, asking chan struct{}
}

// secured has browsers run nothing but this page's own scripts, and show it in no other page.
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

// can tells the page what it may do, and whether it shows a recording.
func (s *server) can(w http.ResponseWriter, _ *http.Request) {
	_, recorded := s.Source.(*Recording)
	answer(w, map[string]bool{"ask": s.Ask != nil, "change": s.Change != nil, "recorded": recorded})
}

// events sends the source's lines as server-sent events, each an array of lines, and an event "end" where there are no
// more.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.viewers <- struct{}{}:
		defer func() { <-s.viewers }()
	default:
		http.Error(w, "too many watch already", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := newStream(w, r)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause(ctx, keepAlive) {
			if out.send([]byte(": still here\n\n")) != nil {
				cancel()
			}
		}
	}()
	err := s.Source.Follow(ctx, func(lines [][]byte) error { return out.send(message(lines)) })
	if err == nil {
		_ = out.send([]byte("event: end\ndata: {}\n\n"))
	}
	cancel()
	<-done
}

// stream writes to a browser that has to take each batch in time.
type stream struct {
	turn    chan struct{} // holds one value while somebody writes
	w       io.Writer
	zip     *gzip.Writer // in front of w; nil: nothing is compressed
	control *http.ResponseController
}

// newStream begins the answer to a request for events. It compresses them for browsers on other machines, to which the
// line may be slow.
func newStream(w http.ResponseWriter, r *http.Request) *stream {
	s := &stream{turn: make(chan struct{}, 1), w: w, control: http.NewResponseController(w)}
	if from, err := netip.ParseAddrPort(r.RemoteAddr); (err != nil || !from.Addr().Unmap().IsLoopback()) && takesGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		s.zip, _ = gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is right
		s.w = s.zip
	}
	return s
}

func (s *stream) send(b []byte) error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := s.w.Write(b); err != nil {
		return err
	}
	if s.zip != nil {
		if err := s.zip.Flush(); err != nil {
			return err
		}
	}
	return s.control.Flush()
}

// takesGzip reports whether a browser takes compressed answers.
func takesGzip(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
}

// message formats lines as one server-sent event.
func message(lines [][]byte) []byte {
	b := []byte("data: [")
	for i, l := range lines {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, bytes.TrimRight(l, "\r\n")...)
	}
	return append(b, "]\n\n"...)
}

// asked is the body of ask and of change.
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

// act reads a request, carries it out, and answers.
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
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	default:
		http.Error(w, "too much is asked at once", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	v, err := do(ctx, a)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	answer(w, v)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}
