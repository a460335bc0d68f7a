//go:build unix

package daemon

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"golang.org/x/sys/unix"
)

// TestSocketIsPrivate: from its first moment nobody else can open the socket, whatever the umask.
func TestSocketIsPrivate(t *testing.T) {
	defer unix.Umask(unix.Umask(0))
	dir, err := os.MkdirTemp("", "venn") // t.TempDir's names are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	name := filepath.Join(dir, "s")
	var over atomic.Bool
	watched := make(chan os.FileMode)
	go func() {
		var open os.FileMode
		for !over.Load() {
			if info, err := os.Lstat(name); err == nil {
				open |= info.Mode().Perm() & 0o077
			}
		}
		watched <- open
	}()
	for range 2000 {
		l := must(listenSocket(name))
		_ = l.Close()
	}
	over.Store(true)
	if open := <-watched; open != 0 {
		t.Errorf("the socket was open to others: %v", open)
	}
	if now := unix.Umask(0); now != 0 {
		t.Errorf("the umask is left at %o", now)
	}
}

// TestStoreIsPrivate: only the owner may read the store, in a repository that others may look into. So it is with a
// store from before, and one that was restored.
func TestStoreIsPrivate(t *testing.T) {
	r, log := newRepo(t), slog.New(slog.DiscardHandler)
	noErr(t, os.Chmod(r.Dir, 0o755))
	private := func(of string) {
		t.Helper()
		if mode := must(os.Stat(r.Store())).Mode().Perm(); mode != 0o700 {
			t.Errorf("%s has mode %#o", of, mode)
		}
	}
	var saved bytes.Buffer
	backup := func() error { saved.Reset(); return Backup(t.Context(), r, &saved, func(int) {}, log) }
	noErr(t, backup())
	private("a new store")
	noErr(t, errors.Join(os.Chmod(r.Store(), 0o755), backup()))
	private("a store from before")
	noErr(t, os.RemoveAll(r.Store()))
	must(Restore(t.Context(), r, bytes.NewReader(saved.Bytes()), log))
	private("a restored store")
}

// TestTCPIsQuiet: a connection's TCP no longer sends signs of life of its own.
func TestTCPIsQuiet(t *testing.T) {
	l := must(manet.Listen(ma.StringCast("/ip4/127.0.0.1/tcp/0")))
	defer func() { _ = l.Close() }()
	c := must(manet.Dial(l.Multiaddr()))
	defer func() { _ = c.Close() }()
	raw := must(c.(syscall.Conn).SyscallConn())
	for _, want := range []int{1, 0} {
		on := -1
		if err := raw.Control(func(fd uintptr) { on = must(unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_KEEPALIVE)) }); err != nil {
			t.Fatal(err)
		}
		if (on != 0) != (want != 0) {
			t.Errorf("TCP sends signs of life: %d, want %d", on, want)
		}
		if !(quiet{}).InterceptSecured(network.DirOutbound, "", c) {
			t.Error("a connection may not pass")
		}
	}
}
