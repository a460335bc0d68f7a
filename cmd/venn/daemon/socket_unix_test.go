//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

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
