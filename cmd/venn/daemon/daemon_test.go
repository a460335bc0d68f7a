package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	"github.com/libp2p/go-libp2p/core/peer"
	"go.uber.org/goleak"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/leaktest"
	"github.com/venn-p2p/venn/node/store"
	"github.com/venn-p2p/venn/summary"
)

// newRepo makes a repository of a daemon that asks no router and finds nobody by itself.
func newRepo(t *testing.T) repo.Repo {
	t.Helper()
	dir := must(os.MkdirTemp("", "venn")) // t.TempDir's names are too long for a socket
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := must(repo.Init(filepath.Join(dir, "r")))
	configure(t, r, func(c *repo.Config) { c.Discovery.MDNS, c.NAT.PortMap = false, false })
	return r
}

// start runs a daemon until stop is called, which returns what it returned.
func start(t *testing.T, r repo.Repo, bootstrap ...peer.AddrInfo) (s Started, d *daemon, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan Started, 1), make(chan error, 1)
	o := Options{Bootstrap: bootstrap, Log: slog.New(slog.DiscardHandler), Ready: func(s Started) { ready <- s }}
	d = &daemon{}
	go func() { done <- run(ctx, r, o, d) }()
	stop = func() error { cancel(); return <-done }
	select {
	case s = <-ready:
		return s, d, stop
	case err := <-done:
		cancel()
		t.Fatalf("the daemon ended: %v", err)
	case <-time.After(time.Minute):
		cancel()
		t.Fatal("the daemon is not ready within a minute")
	}
	return s, d, stop
}

// TestLeaks holds daemons to leaving nothing behind in their process.
func TestLeaks(t *testing.T) {
	before := goleak.IgnoreCurrent()
	r := newRepo(t)
	for range 5 {
		if _, _, stop := start(t, r); stop() != nil {
			t.Fatal("a daemon did not end well")
		}
	}
	leaktest.Check(t, before)
}

// TestWarmRestart starts a daemon again without bootstrap peers: it connects to the peers that it knew.
func TestWarmRestart(t *testing.T) {
	known, knower := newRepo(t), newRepo(t)
	s, d, stop := start(t, known)
	defer func() { _ = stop() }()
	must(d.node.Add(t.Context(), []byte("key")))
	info := must(peer.AddrInfoFromString(s.Addresses[0]))
	for _, bootstrap := range [][]peer.AddrInfo{{*info}, nil} {
		_, again, end := start(t, knower, bootstrap...)
		eventually(t, "the summary is there", func() bool { _, err := again.node.SummaryOf(t.Context(), info.ID); return err == nil })
		noErr(t, end())
	}
}

// TestLostPeersAreDialledAgain ends a daemon and starts it again: one that was connected with it comes back.
func TestLostPeersAreDialledAgain(t *testing.T) {
	lost, dialler := newRepo(t), newRepo(t)
	s, _, stop := start(t, lost)
	info := must(peer.AddrInfoFromString(s.Addresses[0]))
	_, d, end := start(t, dialler, *info)
	defer func() { _ = end() }()
	connected := func() bool { return len(d.host.Network().ConnsToPeer(info.ID)) > 0 }
	eventually(t, "they are connected", connected)
	noErr(t, stop())
	eventually(t, "the connection is lost", func() bool { return !connected() })
	_, _, stop = start(t, lost)
	defer func() { _ = stop() }()
	begun := time.Now()
	eventually(t, "they are connected again", connected)
	t.Logf("connected again %v after it serves", time.Since(begun).Round(time.Millisecond))
}

// TestAddressesAreKept listens on the same ports after a restart. It names an address that programs of this machine
// reach, also where it listens on all.
func TestAddressesAreKept(t *testing.T) {
	r := newRepo(t)
	configure(t, r, func(c *repo.Config) { c.HTTP.Listen = strings.TrimPrefix(c.HTTP.Listen, "127.0.0.1") })
	first, _, stop := start(t, r)
	noErr(t, stop())
	second, _, stop := start(t, r)
	noErr(t, stop())
	if len(first.Addresses) == 0 || !slices.Equal(first.Addresses, second.Addresses) || first.HTTP != second.HTTP || !strings.HasPrefix(first.HTTP, "http://127.0.0.1:") {
		t.Errorf("%v and %v, then %v and %v", first.Addresses, first.HTTP, second.Addresses, second.HTTP)
	}
}

// TestEndWithoutRoom ends well although there is no room for what makes the next start fast, and loses nothing.
func TestEndWithoutRoom(t *testing.T) {
	memory, full := dssync.MutexWrap(ds.NewMapDatastore()), false
	room := func(int) error {
		if full {
			return syscall.ENOSPC
		}
		return nil
	}
	d := &daemon{log: slog.New(slog.DiscardHandler)}
	for range 2 {
		full = false
		s := must(store.Open(t.Context(), memory, d.seed(), store.WithRoom(room)))
		key := []byte("key")
		if _, err := s.Add([][]byte{key}, []summary.Fingerprint{d.seed().Hasher().Fingerprint(key)}); err != nil || s.Count() != 1 {
			t.Fatalf("%d keys, %v", s.Count(), err)
		}
		full = true
		if err := d.closed(s); err != nil {
			t.Error(err)
		}
	}
}

func TestOneDaemonOnARepository(t *testing.T) {
	r := newRepo(t)
	_, _, stop := start(t, r)
	err := Run(t.Context(), r, Options{Log: slog.New(slog.DiscardHandler)})
	if !errors.Is(err, repo.ErrLocked) {
		t.Errorf("a second daemon: %v", err)
	}
	noErr(t, stop())
}

// must returns v of what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// noErr ends the test if there is an error.
func noErr(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}
