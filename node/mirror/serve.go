package mirror

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/gostream"
)

// What is given to peers at once.
const (
	maxServed    = 128              // requests of all peers
	maxServedTo  = 16               // of one
	busyServed   = 32               // transfers from which on this mirror says that it is busy
	writeTimeout = 30 * time.Second // for some bytes to be taken
)

// served counts the requests of peers under way.
type served struct {
	mu  sync.Mutex
	all int
	of  map[peer.ID]int
}

// enter reports whether a request of a peer may be served. Each that may needs a leave.
func (s *served) enter(p peer.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= maxServed || s.of[p] >= maxServedTo {
		return false
	}
	s.all++
	s.of[p]++
	return true
}

func (s *served) leave(p peer.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[p]--; s.of[p] == 0 {
		delete(s.of, p)
	}
}

// open returns the number of requests that are served.
func (s *served) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

func (s *served) busy() bool { return s.open() > busyServed }

// servePeers answers peers until the mirror is closed.
func (m *Mirror) servePeers() error {
	l, err := gostream.Listen(m.cfg.Host, m.protocol())
	if err != nil {
		return err
	}
	s := &http.Server{
		Handler: http.HandlerFunc(m.servePeer), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeaders,
		BaseContext: func(net.Listener) context.Context { return m.ctx }, ErrorLog: m.quiet,
	}
	m.tasks.Run(func() {
		if err := s.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) && m.ctx.Err() == nil {
			m.log.Error("mirror: peers are served no more", "err", err)
		}
	})
	context.AfterFunc(m.ctx, func() { _ = s.Close() })
	return nil
}

// servePeer gives a peer content, or tells it what there is of it.
func (m *Mirror) servePeer(w http.ResponseWriter, r *http.Request) {
	p, err := peer.Decode(r.RemoteAddr)
	sum, sumErr := ParseSum(strings.TrimPrefix(r.URL.Path, "/"))
	switch {
	case err != nil || sumErr != nil:
		w.WriteHeader(http.StatusBadRequest)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case !m.served.enter(p):
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		defer m.served.leave(p)
		m.give(w, r, p, sum)
	}
}

// give answers a peer's request for content.
func (m *Mirror) give(w http.ResponseWriter, r *http.Request, p peer.ID, sum Sum) {
	here := state{place: m.cfg.Place, busy: m.served.busy()}
	if size, ok := m.cache.size(sum); ok {
		here.whole, here.have, here.size = true, size, size
		if here.write(w.Header()); r.Method == http.MethodHead {
			return
		}
		if file, size, ok := m.cache.open(sum); ok {
			defer func() { _ = file.Close() }()
			m.send(w, r, io.NewSectionReader(file, 0, size))
			return
		}
	} else if f := m.joinIfThere(sum); f != nil {
		defer f.leave()
		m.pass(w, r, p, f, here)
		return
	}
	w.WriteHeader(http.StatusNotFound)
}

// pass answers a peer's request for content that is being fetched.
func (m *Mirror) pass(w http.ResponseWriter, r *http.Request, p peer.ID, f *flight, here state) {
	theirs := rankOf(p, f.want.Sum, parseDepth(r.Header.Get(headerDepth)))
	f.mu.Lock()
	here.have, here.size, here.depth = max(0, f.there-holdBack), f.size, f.rank.depth
	here.busy = here.busy || f.children >= maxChildren
	behind := !f.rank.below(theirs)
	take := !behind && !here.busy && r.Method == http.MethodGet
	if take {
		f.children++
	}
	f.mu.Unlock()
	switch {
	case behind:
		w.WriteHeader(http.StatusConflict)
	case r.Method == http.MethodHead:
		here.write(w.Header())
	case !take:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		m.passOn(w, r, f, here)
	}
}

// passOn gives a peer what there is of a flight, and the rest as it comes.
func (m *Mirror) passOn(w http.ResponseWriter, r *http.Request, f *flight, here state) {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.children--
	}()
	size, err := f.known(r.Context())
	if err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	here.size, here.depth = size, f.depth()
	here.write(w.Header())
	m.send(w, r, f.reader(r.Context(), size))
}

// send serves content to a peer, and counts it.
func (m *Mirror) send(w http.ResponseWriter, r *http.Request, content io.ReadSeeker) {
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, &paced{content, http.NewResponseController(w), m.counter("peers")})
}

// paced gives who takes content a time for each piece, and counts.
type paced struct {
	io.ReadSeeker
	control *http.ResponseController
	count   func(int)
}

func (p *paced) Read(b []byte) (int, error) {
	n, err := p.ReadSeeker.Read(b)
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	p.count(n)
	return n, err
}
