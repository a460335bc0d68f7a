package mirror

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/gostream"

	"github.com/venn-p2p/venn/node"
)

// allGet has a client of each peer get content of a registry, all at once.
func allGet(t testing.TB, all []peerOf, digest string, content []byte) {
	t.Helper()
	var wg sync.WaitGroup
	for _, p := range all {
		wg.Go(func() { get(t, p.url+blobs+digest).is(t, content) })
	}
	wg.Wait()
}

// board is a network in memory: who has what.
type board struct {
	mu   sync.Mutex
	held map[string]map[peer.ID]peer.AddrInfo
}

func newBoard() *board { return &board{held: make(map[string]map[peer.ID]peer.AddrInfo)} }

// view is the board as the peer of a host sees it.
type view struct {
	*board
	host host.Host
}

func (v view) Ready(context.Context) (bool, error) { return true, nil }

// Lookup tells the host the addresses of those that have it, as a node knows them by records.
func (v view) Lookup(_ context.Context, key []byte) iter.Seq[peer.AddrInfo] {
	v.mu.Lock()
	defer v.mu.Unlock()
	held := maps.Clone(v.held[string(key)])
	delete(held, v.host.ID())
	for p, info := range held {
		v.host.Peerstore().AddAddrs(p, info.Addrs, time.Hour)
	}
	return maps.Values(held)
}

func (v view) Advertise(_ context.Context, keys ...[]byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, k := range keys {
		if v.held[string(k)] == nil {
			v.held[string(k)] = make(map[peer.ID]peer.AddrInfo)
		}
		v.held[string(k)][v.host.ID()] = *host.InfoFromHost(v.host)
	}
	return nil
}

func (v view) Withdraw(_ context.Context, keys ...[]byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, k := range keys {
		delete(v.held[string(k)], v.host.ID())
	}
	return nil
}

// has reports whether a peer advertises content.
func (v view) has(s Sum) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, ok := v.held[string(s.Key())][v.host.ID()]
	return ok
}

func newHost(t testing.TB, options ...libp2p.Option) host.Host {
	t.Helper()
	return newHostAt(t, "/ip4/127.0.0.1/tcp/0", options...)
}

func newHostAt(t testing.TB, listen string, options ...libp2p.Option) host.Host {
	t.Helper()
	options = append(options, libp2p.ListenAddrStrings(listen), libp2p.ConnectionManager(connmgr.NullConnMgr{}), libp2p.DisableMetrics(), libp2p.DisableRelay())
	h, err := libp2p.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// newLimitedHost returns a host with the limits of a daemon's.
func newLimitedHost(t testing.TB) host.Host {
	t.Helper()
	return newHost(t, node.Guarded)
}

// testTimes are short, but for a machine that does much else.
var testTimes = times{
	lookup: 2 * time.Second, silent: 500 * time.Millisecond, late: time.Second, slow: time.Second, stuck: 3 * time.Second,
	gather: time.Millisecond, busy: 20 * time.Second,
}

// peerOf is a mirror in a test, with its front for clients.
type peerOf struct {
	*Mirror
	view
	url string
}

// connect connects a mirror to a host: routers name linked peers.
func (p peerOf) connect(t *testing.T, h host.Host) {
	t.Helper()
	if err := p.cfg.Host.Connect(t.Context(), *host.InfoFromHost(h)); err != nil {
		t.Fatal(err)
	}
}

// logger logs to the test, and fails it for a line about an error without one.
func logger(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == "err" && a.Value.Any() == nil {
			t.Error("an error is logged, and there is none")
		}
		return a
	}}))
}

// start runs a mirror on the board.
func (b *board) start(t testing.TB, up Upstream, change ...func(*Config)) peerOf {
	t.Helper()
	h := newHost(t)
	v := view{b, h}
	c := Config{Host: h, Network: "test", Router: v, Dir: t.TempDir(), Size: 64 << 20, Upstream: up, Log: logger(t), times: testTimes}
	for _, f := range change {
		f(&c)
	}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	s := httptest.NewServer(m.Handler())
	t.Cleanup(s.Close)
	return peerOf{m, v, s.URL}
}

// registry is an origin: blobs and manifests by digest, tags.
type registry struct {
	*httptest.Server
	mu    sync.Mutex
	blobs map[string][]byte
	tags  map[string]string // digests
	gets  map[string]int    // requests by path
	sent  int64
	rate  int // bytes a second; 0: all at once
	// before answers a request in place of the registry, if it returns true.
	before func(http.ResponseWriter, *http.Request) bool
}

func newRegistry(t testing.TB) *registry {
	o := &registry{blobs: make(map[string][]byte), tags: make(map[string]string), gets: make(map[string]int)}
	o.Server = httptest.NewServer(o)
	t.Cleanup(o.Close)
	return o
}

// add puts content into the registry.
func (o *registry) add(b []byte) (digest string, sum Sum) {
	o.mu.Lock()
	defer o.mu.Unlock()
	digits := fmt.Sprintf("%x", sha256.Sum256(b))
	digest, sum = "sha256:"+digits, Sum("sha256-"+digits)
	o.blobs[digest] = b
	return digest, sum
}

func (o *registry) set(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
}

func (o *registry) count(prefix string) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for path, times := range o.gets {
		if strings.HasPrefix(path, prefix) {
			n += times
		}
	}
	return n
}

// given returns the bytes of contents that were sent.
func (o *registry) given() (sent int64) {
	o.set(func() { sent = o.sent })
	return sent
}

// sentAtMost fails if more bytes of contents were sent.
func (o *registry) sentAtMost(t testing.TB, most int64) {
	t.Helper()
	if sent := o.given(); sent > most {
		t.Errorf("the origin was asked %d times, and sent %d bytes, most %d", o.count("GET "+blobs), sent, most)
	}
}

func (o *registry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.gets[r.Method+" "+r.URL.Path]++
	ref := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	if d, ok := o.tags[ref]; ok {
		ref = d
	}
	b, ok := o.blobs[ref]
	before, rate := o.before, o.rate
	o.mu.Unlock()
	switch {
	case before != nil && before(w, r):
	case r.URL.Path == "/v2/":
		_, _ = io.WriteString(w, "{}")
	case !ok:
		http.Error(w, `{"errors":[]}`, http.StatusNotFound)
	default:
		w.Header().Set("Etag", `"`+ref+`"`)
		w.Header().Set("Docker-Content-Digest", ref)
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", time.Time{}, &slowBody{Reader: bytes.NewReader(b), rate: rate, sent: func(n int) { o.set(func() { o.sent += int64(n) }) }})
	}
}

// slowBody gives bytes at a rate.
type slowBody struct {
	*bytes.Reader
	rate int
	sent func(int)
}

func (s *slowBody) Read(p []byte) (int, error) {
	if s.rate > 0 {
		time.Sleep(10 * time.Millisecond)
		p = p[:min(len(p), max(1, s.rate/100))]
	}
	n, err := s.Reader.Read(p)
	s.sent(n)
	return n, err
}

// WriteTo is there so that nobody reads in another way.
func (s *slowBody) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(struct{ io.Writer }{w}, struct{ io.Reader }{s})
}

// some returns random bytes.
func some(n int, seed uint64) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = r.Read(b)
	return b
}

// answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error // the answer was cut off
}

// fill has a mirror fetch a number of contents, one after the other, each of the given bytes, and returns their hashes.
func fill(t testing.TB, o *registry, p peerOf, contents uint64, bytes int) (sums []Sum) {
	t.Helper()
	for i := range contents {
		content := some(bytes, 100+i)
		digest, sum := o.add(content)
		sums = append(sums, sum)
		get(t, p.url+blobs+digest).is(t, content)
	}
	return sums
}

func get(t testing.TB, url string, header ...string) answer {
	t.Helper()
	return do(t, http.MethodGet, url, header...)
}

func do(t testing.TB, method, url string, header ...string) answer {
	t.Helper()
	return send(t, method, url, nil, header...)
}

func post(t testing.TB, url, body string) answer {
	t.Helper()
	return send(t, http.MethodPost, url, strings.NewReader(body), "Content-Type", "application/json")
}

func send(t testing.TB, method, url string, body io.Reader, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, b, err}
}

// is fails the test unless the answer is whole, and the content.
func (a answer) is(t testing.TB, want []byte) {
	t.Helper()
	if a.err != nil || a.status != http.StatusOK || !bytes.Equal(a.body, want) {
		t.Fatalf("status %d, %d bytes of %d, same %v: %v\n%.200s", a.status, len(a.body), len(want), bytes.Equal(a.body, want), a.err, a.header)
	}
}

// notWrong fails the test if the answer passes for whole and is something else than the content.
func (a answer) notWrong(t testing.TB, want []byte) {
	t.Helper()
	if a.err == nil && a.status == http.StatusOK && !bytes.Equal(a.body, want) {
		t.Fatalf("wrong content was served as whole: %d bytes", len(a.body))
	}
}

// liar is a peer that says that it has content, and answers as it likes.
func (b *board) liar(t testing.TB, s Sum, answer http.HandlerFunc) host.Host {
	t.Helper()
	h := newHost(t)
	m := &Mirror{cfg: Config{Network: "test"}}
	l, err := gostream.Listen(h, m.protocol())
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: answer, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	if err := (view{b, h}).Advertise(t.Context(), s.Key()); err != nil {
		t.Fatal(err)
	}
	return h
}

// claims has a liar say that it has content of a size whole.
func claims(w http.ResponseWriter, size int) {
	state{Whole: true, Have: int64(size), Size: int64(size)}.write(w.Header())
}

// gives has a liar claim content of a size, and begin to give all of it.
func gives(w http.ResponseWriter, size int) {
	claims(w, size)
	w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", size-1, size))
	w.WriteHeader(http.StatusPartialContent)
}

// until waits until something is so, and fails the test if it takes too long.
func until(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so for 30 s: %s", what)
		}
	}
}

// tried fails the test unless the last fetch noted something.
func (p peerOf) tried(t testing.TB, what string) {
	t.Helper()
	for _, f := range p.Status().Recent {
		if slices.ContainsFunc(f.Tried, func(s string) bool { return strings.Contains(s, what) }) {
			return
		}
	}
	t.Fatalf("nothing about %q in %v", what, fmt.Sprint(p.Status().Recent))
}

// counter returns the value of a counter with a label.
func counter(t testing.TB, p peerOf, name, label string) float64 {
	t.Helper()
	all, err := p.metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && m.GetLabel()[0].GetValue() == label {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}
