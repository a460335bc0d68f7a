package node

import (
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// line is a TCP line to an address, which can be cut without either end noticing.
type line struct {
	at  ma.Multiaddr
	cut atomic.Bool
}

// newLine returns a line that is entered at another address of this machine.
func newLine(t *testing.T, to ma.Multiaddr) *line {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("no second address on loopback: %v", err)
	}
	_, target, err := manet.DialArgs(to)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{}
	if l.at, err = manet.FromNetAddr(at.Addr()); err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn // touched by one goroutine, until at is closed
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			in, err := at.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target)
			if err != nil {
				_ = in.Close()
				continue
			}
			conns = append(conns, in, out)
			go l.carry(in, out)
			go l.carry(out, in)
		}
	}()
	t.Cleanup(func() {
		_ = at.Close()
		<-done
		for _, c := range conns {
			_ = c.Close()
		}
	})
	return l
}

// carry copies until the line is cut: from then on nothing arrives, not even that the other end has closed.
func (l *line) carry(to io.Writer, from io.Reader) {
	b := make([]byte, 1<<14)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if l.cut.Load() {
			continue
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// TestReplacedConnection: a connection that died with the address of its other end is given up when the peer comes by
// another.
func TestReplacedConnection(t *testing.T) {
	t.Parallel()
	a, b := newNode(t), newNode(t)
	add(t, a, []byte("of a"))
	add(t, b, []byte("of b"))
	to := info(b).Addrs[0]
	l := newLine(t, to)
	dialTo(t, a, peer.AddrInfo{ID: b.ID(), Addrs: []ma.Multiaddr{l.at}})
	eventually(t, "linked", func() bool { return knows(a, b) && knows(b, a) })

	l.cut.Store(true)
	began := time.Now()
	for _, c := range b.host.Network().ConnsToPeer(a.ID()) { // as its own watch of its addresses would have it
		_ = c.Close()
	}
	connect(t, b, a)
	eventually(t, "the dead connection is gone", func() bool {
		conns := a.host.Network().ConnsToPeer(b.ID())
		return len(conns) == 1 && !strings.Contains(conns[0].RemoteMultiaddr().String(), "127.0.0.2")
	})
	t.Logf("gone after %v", time.Since(began).Round(10*time.Millisecond))
	for _, c := range []struct {
		by, of *Node
		key    string
	}{{a, b, "of b"}, {b, a, "of a"}} {
		eventually(t, c.key+" is found", func() bool {
			return slices.Equal(find(t, c.by, []byte(c.key), QueryOptions{Timeout: time.Second}), []peer.ID{c.of.ID()})
		})
	}
}

// TestAlive: a probe says whether anything comes back on a connection.
func TestAlive(t *testing.T) {
	t.Parallel()
	a, b := newNode(t), newNode(t)
	l := newLine(t, info(b).Addrs[0])
	dialTo(t, a, peer.AddrInfo{ID: b.ID(), Addrs: []ma.Multiaddr{l.at}})
	eventually(t, "linked", func() bool { return statusOf(t, a).Links == 1 })
	conn := a.host.Network().ConnsToPeer(b.ID())[0]
	eventually(t, "a connection that works is alive", func() bool { return alive(t.Context(), conn) })
	l.cut.Store(true)
	if alive(t.Context(), conn) {
		t.Error("a connection on which nothing comes is taken for alive")
	}
}

// TestParted: lost links are remembered for some time, in bounded number, and taken once.
func TestParted(t *testing.T) {
	s := newRecent[peer.ID](partedTime, maxParted)
	now := time.Unix(1e9, 0)
	s.note("old", now)
	now = now.Add(partedTime + 1)
	s.note("a", now)
	for i := range 2 * maxParted {
		s.note(peer.ID(rune('b'+i)), now)
	}
	got := s.take(now)
	if len(got) != maxParted || !slices.Contains(got, "a") || slices.Contains(got, "old") {
		t.Errorf("took %d: %q", len(got), got)
	}
	if got := s.take(now); got != nil {
		t.Errorf("took %q again", got)
	}
}
