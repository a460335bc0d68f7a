package daemon

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

// TestPeersFillNoLog: of the errors that libp2p logs in a row, one is a line of the daemon's log.
func TestPeersFillNoLog(t *testing.T) {
	var log strings.Builder
	quiet := slog.New(seldom{slog.NewTextHandler(&log, nil), new(atomic.Int64)}).With("logger", "net/identify")
	for range 100 {
		quiet.Warn("a warning")
		quiet.Error("a wrong key")
	}
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "a wrong key") {
		t.Errorf("logged: %q", &log)
	}
}

// TestAnnounced: addresses are announced in place of the host's, or besides, each once.
func TestAnnounced(t *testing.T) {
	a, b := ma.StringCast("/ip4/1.2.3.4/tcp/1"), ma.StringCast("/ip4/5.6.7.8/tcp/1")
	for _, c := range []struct{ own, announce, also, want []ma.Multiaddr }{
		{want: []ma.Multiaddr{}},
		{own: []ma.Multiaddr{a}, want: []ma.Multiaddr{a}},
		{own: []ma.Multiaddr{a}, announce: []ma.Multiaddr{b}, want: []ma.Multiaddr{b}},
		{own: []ma.Multiaddr{a}, also: []ma.Multiaddr{b, a}, want: []ma.Multiaddr{a, b}},
		{own: []ma.Multiaddr{a}, announce: []ma.Multiaddr{b}, also: []ma.Multiaddr{a}, want: []ma.Multiaddr{b, a}},
	} {
		if got := announced(c.own, c.announce, c.also); len(got) != len(c.want) || len(got) > 0 && !got[0].Equal(c.want[0]) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
