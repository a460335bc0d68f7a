//go:build unix

package daemon

import (
	"net"
	"path/filepath"
	"testing"
)

func TestNotify(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	if err := notify(stateReady); err != nil {
		t.Errorf("%v, want nothing to happen where nobody wants to know", err)
	}
	name := filepath.Join(t.TempDir(), "notify")
	l := must(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"}))
	defer func() { _ = l.Close() }()
	t.Setenv("NOTIFY_SOCKET", name)
	noErr(t, notify(stateReady))
	b := make([]byte, 100)
	if n, err := l.Read(b); err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("%q, %v", b[:n], err)
	}
	t.Setenv("NOTIFY_SOCKET", name+".none")
	if notify(stateStopping) == nil {
		t.Error("no error where nobody listens")
	}
}
