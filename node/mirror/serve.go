package mirror

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/gostream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/overlay/admission"
)

// Limits of serving clients and peers.
const (
	maxClients = 512 // requests of all clients at once
	maxServed  = 128 // requests of all peers at once
	busyServed = 32  // requests of peers at once; with more, this mirror reports itself busy
)

// peerHandler returns the handler for peers.
func (m *Mirror) peerHandler() http.Handler {
	who := func(r *http.Request) admission.Principal { return admit.Principal(m.cfg.Host.Network(), asker(r)) }
	return limited(m.served, who, m.servePeer)
}

// servePeers answers peers until the mirror is closed. The time for writing moves with each piece (paced).
func (m *Mirror) servePeers() error {
	l, err := gostream.Listen(m.cfg.Host, m.protocol())
	if err != nil {
		return err
	}
	s := &http.Server{
		Handler:     m.peerHandler(),
		ReadTimeout: m.times.stuck, WriteTimeout: m.times.stuck, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeaders,
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

// limited serves GET, HEAD and questions to a hub while there are places for the requests of who asks.
func limited(places *admission.Slots, who func(*http.Request) admission.Principal, serve http.HandlerFunc) http.HandlerFunc {
	placed := httpapi.Placed(places, who, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "mirror: too many requests at once", http.StatusServiceUnavailable)
	}, serve)
	return func(w http.ResponseWriter, r *http.Request) {
		if m := r.Method; m != http.MethodGet && m != http.MethodHead && (m != http.MethodPost || !pathsInfo.MatchString(r.URL.EscapedPath())) {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "mirror: only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		placed.ServeHTTP(w, r)
	}
}

// asker returns the peer that a request comes from.
func asker(r *http.Request) peer.ID {
	p, _ := peer.Decode(r.RemoteAddr) // the address of a stream is its peer
	return p
}

// servePeer gives a peer content (GET), or this mirror's state of the content (HEAD).
func (m *Mirror) servePeer(w http.ResponseWriter, r *http.Request) {
	here := state{Place: m.cfg.Place, Busy: m.served.Held() > busyServed}
	if err := m.give(w, r, &here); err != nil {
		here.write(w.Header())
		w.WriteHeader(kind(err).status)
	}
}

// give answers a peer's request for content. After an error nothing was answered; here has what the peer may know.
func (m *Mirror) give(w http.ResponseWriter, r *http.Request, here *state) error {
	sum, err := ParseSum(strings.TrimPrefix(r.URL.Path, "/"))
	if err != nil || sum.kind() == kindName {
		return errSum
	}
	here.Others = m.asks(asker(r), sum)
	if size, ok := m.cache.size(sum); ok {
		here.Whole, here.Have, here.Size = true, size, size
		if r.Method == http.MethodHead {
			here.write(w.Header())
			return nil
		}
		if file, ok := m.cache.open(sum); ok {
			defer func() { _ = file.Close() }()
			m.send(w, r, *here, file)
			return nil
		}
	} else if f := m.join(sum, named{}); f != nil {
		defer f.leave()
		return m.passOn(w, r, f, *here)
	}
	return errLacks
}

// passOn answers a peer's request for content that is being fetched: with the bytes that are here, and the rest as they
// come. It refuses a peer that may not take from this mirror by rank, and then asks it in turn, or that finds no room.
// After an error nothing was answered.
func (m *Mirror) passOn(w http.ResponseWriter, r *http.Request, f *flight, here state) error {
	there, _ := parseState(r.Header)
	there.lot, here.lot = lotOf(asker(r), f.sum), lotOf(m.cfg.Host.ID(), f.sum)
	get := r.Method == http.MethodGet
	f.mu.Lock()
	takes := slices.ContainsFunc(f.parts, func(s *span) bool { return s.from != nil && s.from.ID != "" && !s.from.Whole })
	here.Have, here.Size, here.Origin = f.ready(), f.size, f.origin || f.lost(time.Now())
	here.Busy = here.Busy || f.children >= maxChildren
	below := here.below(there, takes)
	if !below {
		f.name(asker(r), true) // this mirror may take from the asker
	} else if get && !here.Busy {
		f.children++
		defer f.news(func(time.Time) { f.children-- })
	}
	f.mu.Unlock()
	switch {
	case !below:
		return errBehind
	case !get:
		here.write(w.Header())
		return nil
	case here.Busy:
		return errBusy
	}
	content, err := f.reader(r.Context())
	if err != nil {
		return errLacks
	}
	here.Size = content.Size()
	m.send(w, r, here, content)
	return nil
}

// send serves content to a peer, and counts it.
func (m *Mirror) send(w http.ResponseWriter, r *http.Request, here state, content io.ReadSeeker) {
	here.write(w.Header())
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(&paced{w, r, m, m.metrics.toPeers}, r, "", time.Time{}, content)
}

// paced is a writer that gives the receiver times.stuck for each piece, and counts the bytes. It ends with the request.
// It flushes each piece: the receiver gets all bytes that are there, before the rest has come.
type paced struct {
	http.ResponseWriter
	r     *http.Request
	m     *Mirror
	given prometheus.Counter // bytes
}

func (p *paced) Write(b []byte) (int, error) {
	if err := p.r.Context().Err(); err != nil {
		return 0, err
	}
	control := http.NewResponseController(p.ResponseWriter)
	_ = control.SetWriteDeadline(time.Now().Add(p.m.times.stuck))
	n, err := p.ResponseWriter.Write(b)
	p.given.Add(float64(n))
	return n, errors.Join(err, control.Flush())
}
