package mirror

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/gostream"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/overlay/admission"
)

// Limits of serving clients and peers.
const (
	maxClients = 512 // requests of all clients at once
	maxServed  = 128 // requests of all peers at once
	busyServed = 32  // requests of peers at once; with more, this mirror reports itself busy
)

// servePeers answers peers until the mirror is closed. The time for writing moves with each piece (paced).
func (m *Mirror) servePeers() error {
	l, err := gostream.Listen(m.cfg.Host, m.protocol())
	if err != nil {
		return err
	}
	s := &http.Server{
		Handler:     http.HandlerFunc(m.servePeer),
		ReadTimeout: m.times.piece, WriteTimeout: m.times.piece, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeaders,
		BaseContext: func(net.Listener) context.Context { return m.ctx }, ErrorLog: slog.NewLogLogger(m.log.Handler(), slog.LevelDebug),
	}
	m.tasks.Run(func() {
		if err := s.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) && m.ctx.Err() == nil {
			m.log.Error("mirror: peers are served no more", "err", err)
		}
	})
	context.AfterFunc(m.ctx, func() { _ = s.Close() })
	return nil
}

// servePeer gives a peer content (GET), or this mirror's state of the content (HEAD).
func (m *Mirror) servePeer(w http.ResponseWriter, r *http.Request) {
	p, err := peer.Decode(r.RemoteAddr)
	sum, sumErr := ParseSum(strings.TrimPrefix(r.URL.Path, "/"))
	switch {
	case err != nil || sumErr != nil || sum.kind() == kindName:
		w.WriteHeader(http.StatusBadRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		r, leave := enter(m.served, admit.Principal(m.cfg.Host.Network(), p), r)
		if r == nil {
			w.WriteHeader(errBusy.status)
			return
		}
		defer leave()
		m.give(w, r, p, sum)
	}
}

// enter takes a place for a request. It returns the request with a context that ends when the place goes to a group or
// an asker with fewer places; nil: no place is free.
func enter(places *admission.Slots, who admission.Principal, r *http.Request) (in *http.Request, leave func()) {
	ctx, cancel := context.WithCancel(r.Context())
	place := places.Take(who, cancel)
	if place == nil {
		cancel()
		return nil, nil
	}
	return r.WithContext(ctx), func() {
		place.Release()
		cancel()
	}
}

// give answers a peer's request for content.
func (m *Mirror) give(w http.ResponseWriter, r *http.Request, p peer.ID, sum Sum) {
	here := state{Place: m.cfg.Place, Busy: m.served.Held() > busyServed}
	if size, ok := m.cache.size(sum); ok {
		here.Whole, here.Have, here.Size = true, size, size
		if here.write(w.Header()); r.Method == http.MethodHead {
			return
		}
		if file, size, ok := m.cache.open(sum); ok {
			defer func() { _ = file.Close() }()
			m.send(w, r, io.NewSectionReader(file, 0, size))
			return
		}
	} else if f := m.join(sum, named{}); f != nil {
		defer f.leave()
		m.passOn(w, r, p, f, here)
		return
	}
	w.WriteHeader(errLacks.status)
}

// passOn answers a peer's request for content that is being fetched: with the bytes that are here, and the rest as they
// come. It refuses a peer that may not take from this mirror by rank, or that finds no room.
func (m *Mirror) passOn(w http.ResponseWriter, r *http.Request, p peer.ID, f *flight, here state) {
	asker, _ := parseState(r.Header)
	asker.lot, here.lot = lotOf(p, f.sum), lotOf(m.cfg.Host.ID(), f.sum)
	f.mu.Lock()
	here.Have, here.Size, here.Origin = f.ready(), f.size, f.origin
	here.Busy = here.Busy || f.children >= maxChildren
	below, get := here.below(asker, f.takes()), r.Method == http.MethodGet
	gives := below && get && !here.Busy
	if gives {
		f.children++
		defer f.news(func(time.Time) { f.children-- })
	}
	f.mu.Unlock()
	switch {
	case !below:
		w.WriteHeader(errBehind.status)
	case !get:
		here.write(w.Header())
	case !gives:
		w.WriteHeader(errBusy.status)
	}
	if !gives {
		return
	}
	content, err := f.reader(r.Context())
	if err != nil {
		w.WriteHeader(errLacks.status)
		return
	}
	here.Size = content.Size()
	here.write(w.Header())
	m.send(w, r, content)
}

// send serves content to a peer, and counts it.
func (m *Mirror) send(w http.ResponseWriter, r *http.Request, content io.ReadSeeker) {
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(m.paced(w, r, toPeers), r, "", time.Time{}, content)
}

// paced returns a writer that gives the receiver times.piece for each piece, and counts the bytes. It ends with the
// request. It flushes each piece: the receiver gets all bytes that are there, before the rest has come.
func (m *Mirror) paced(w http.ResponseWriter, r *http.Request, to flow) http.ResponseWriter {
	return &paced{w, r.Context(), http.NewResponseController(w), m.times.piece, func(n int) { m.count(to, int64(n)) }}
}

type paced struct {
	http.ResponseWriter
	ctx     context.Context
	control *http.ResponseController
	each    time.Duration
	count   func(int)
}

func (p *paced) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	_ = p.control.SetWriteDeadline(time.Now().Add(p.each))
	n, err := p.ResponseWriter.Write(b)
	p.count(n)
	return n, errors.Join(err, p.control.Flush())
}
