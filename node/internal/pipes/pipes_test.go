package pipes

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/counters"
	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/node/internal/tasks"
)

const (
	testID = protocol.ID("/venn/test/1")
	limit  = 1 << 10
)

// end is a host with pipes, and what came and went wrong there.
type end struct {
	*Pipes
	*Pipe // to the other end
	h     host.Host
	tasks *tasks.Group

	mu   sync.Mutex
	got  []string
	lost int
	take func() error // nil: at once
}

func newEnd(t *testing.T) *end {
	t.Helper()
	h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.ResourceManager(&network.NullResourceManager{}), libp2p.DisableRelay())
	if err != nil {
		t.Fatal(err)
	}
	e := &end{h: h, tasks: &tasks.Group{}}
	node := &streams.Node{
		MayAsk: func(peer.ID) bool { return true },
		Host:   h, Service: "test", Done: t.Context(), Log: slog.Default(), Tasks: e.tasks, Counters: counters.New(20),
		Versions: func(id protocol.ID) []protocol.ID { return []protocol.ID{id} },
		Relayed:  func(protocol.ID) bool { return false },
		Lasting:  func(protocol.ID) bool { return true },
		Admit:    admit.New(1, 100, func(peer.ID) bool { return true }),
		Refuse:   func(peer.ID, string, error) {},
		Barred:   func(peer.ID) bool { return false },
	}
	e.Pipes = New(Config{
		Streams: node, ID: testID, Limit: limit, Within: 10 * time.Minute, Done: t.Context(), Tasks: e.tasks,
		Lost: func(peer.ID) { e.mu.Lock(); defer e.mu.Unlock(); e.lost++ },
		Take: func(_ *streams.Stream, b []byte) error {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.got = append(e.got, string(b))
			if e.take == nil {
				return nil
			}
			e.mu.Unlock()
			defer e.mu.Lock()
			return e.take()
		},
	})
	e.serve()
	t.Cleanup(func() {
		_ = h.Close()
		e.tasks.Close()
		e.tasks.Wait()
	})
	return e
}

func (e *end) serve() { e.h.SetStreamHandler(testID, e.Pipes.cfg.Streams.Served(testID, e.Serve)) }

func (e *end) messages() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.got)
}

func (e *end) waits() int {
	e.Pipe.mu.Lock()
	defer e.Pipe.mu.Unlock()
	return len(e.waiting)
}

func (e *end) losses() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lost
}

func ends(t *testing.T) (a, b *end) {
	t.Helper()
	a, b = newEnd(t), newEnd(t)
	if err := a.h.Connect(t.Context(), peer.AddrInfo{ID: b.h.ID(), Addrs: b.h.Addrs()}); err != nil {
		t.Fatal(err)
	}
	a.Pipe, b.Pipe = a.To(b.h.ID()), b.To(a.h.ID())
	return a, b
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("not within a minute: " + what)
		}
	}
}

// open are the streams of the protocol between a host and a peer.
func open(h host.Host, p peer.ID) (n int) {
	for _, c := range h.Network().ConnsToPeer(p) {
		for _, s := range c.GetStreams() {
			if s.Protocol() == testID {
				n++
			}
		}
	}
	return n
}

// TestMessages: what is sent comes whole and in order, on one stream each way, and then nobody is busy.
func TestMessages(t *testing.T) {
	a, b := ends(t)
	var want []string
	bytes := 0
	for i := range 200 {
		m := fmt.Sprintf("%d %s", i, filler(i*5))
		want, bytes = append(want, m), bytes+len(m)+1
		if len(m) > 127 {
			bytes++
		}
		for a.Busy() {
			time.Sleep(time.Microsecond)
		}
		a.Send([]byte(m))
	}
	b.Send([]byte("back"))
	eventually(t, "all messages come", func() bool { return slices.Equal(b.messages(), want) && slices.Equal(a.messages(), []string{"back"}) })
	eventually(t, "nothing waits", func() bool { return !a.Busy() })
	sent := int(a.Pipes.cfg.Streams.Counters.Protocols()[testID].Sent)
	if n := open(a.h, b.h.ID()); n != 2 || a.losses() > 0 || sent != bytes {
		t.Errorf("%d streams, %d losses; %d bytes sent, want %d", n, a.losses(), sent, bytes)
	}
}

func filler(n int) []byte { return bytes.Repeat([]byte{'x'}, n%900) }

// TestLostMessages: who does not serve the protocol, or ends its stream, gets nothing, and the sender learns so.
func TestLostMessages(t *testing.T) {
	a, b := ends(t)
	b.h.RemoveStreamHandler(testID)
	eventually(t, "a loss is noted", func() bool {
		a.Send([]byte("unserved"))
		return a.losses() > 0
	})
	b.serve()
	eventually(t, "a message comes", func() bool {
		a.Send([]byte("served"))
		return slices.Contains(b.messages(), "served")
	})
	before := a.losses()
	b.mu.Lock()
	b.take = func() error { return errors.New("refused") }
	b.mu.Unlock()
	eventually(t, "another loss is noted", func() bool {
		a.Send([]byte("refused"))
		return a.losses() > before
	})
	before = a.losses()
	a.Send(make([]byte, limit+1))
	eventually(t, "one that is too long ends the stream", func() bool {
		a.Send([]byte("after"))
		return a.losses() > before
	})
	if slices.ContainsFunc(b.messages(), func(m string) bool { return len(m) > limit }) {
		t.Error("it was taken in")
	}
}

// TestSlowReader: who does not read makes the sender busy, and loses what is sent all the same. Nothing is lost of what
// went out before.
func TestSlowReader(t *testing.T) {
	a, b := ends(t)
	release := make(chan struct{})
	b.take = func() error { <-release; return nil }
	var want []string
	for busy := 0; busy < 300 || len(want) < 285; busy++ { // a stream takes 256 KiB unread
		if !a.Busy() {
			want = append(want, fmt.Sprintf("%4d%s", len(want), filler(895)))
			a.Send([]byte(want[len(want)-1]))
			busy = 0
		}
		time.Sleep(time.Millisecond)
	}
	eventually(t, "what is too much is lost", func() bool {
		a.Send([]byte("too much"))
		return a.losses() > 0 && a.waits() == maxWaiting
	})
	close(release)
	eventually(t, "the rest comes", func() bool { return !a.Busy() && len(b.messages()) >= len(want)+maxWaiting-1 })
	if got := b.messages(); !slices.Equal(got[:len(want)], want) {
		t.Errorf("%d messages came, %d were sent first", len(got), len(want))
	}
}

// TestNoReader: a message that does not go out in time is lost, with those behind it, and the stream ends. Later ones go
// out on a new one.
func TestNoReader(t *testing.T) {
	a, b := ends(t)
	a.Pipes.cfg.Within = 100 * time.Millisecond
	release := make(chan struct{})
	free := sync.OnceFunc(func() { close(release) })
	t.Cleanup(free)
	b.take = func() error { <-release; return nil }
	eventually(t, "a loss is noted", func() bool {
		if !a.Busy() { // never more than one waits
			a.Send(filler(895))
		}
		return a.losses() > 0
	})
	free()
	eventually(t, "a later message comes", func() bool {
		a.Send([]byte("later"))
		return slices.Contains(b.messages(), "later")
	})
}

// TestLinkEnds: with a link its stream ends, and nothing is kept. A new link has a new one.
func TestLinkEnds(t *testing.T) {
	a, b := ends(t)
	for range 3 {
		came := len(b.messages())
		eventually(t, "a message comes", func() bool {
			a.Send([]byte("message"))
			return len(b.messages()) > came
		})
		eventually(t, "it has gone out", func() bool { return !a.Busy() })
		a.Close()
		a.Pipe = a.To(b.h.ID())
		eventually(t, "the stream has ended", func() bool { return open(a.h, b.h.ID())+open(b.h, a.h.ID()) == 0 })
		if n := b.Remembered(); n > 0 {
			t.Errorf("%d remembered", n)
		}
	}
	if a.losses() > 0 {
		t.Errorf("%d losses", a.losses())
	}
}

// TestOneStream: however many streams a peer opens, one is read, the latest.
func TestOneStream(t *testing.T) {
	a, b := ends(t)
	var last network.Stream
	for i := range 20 {
		s, err := a.h.NewStream(t.Context(), b.h.ID(), testID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write([]byte{1, byte('a' + i)}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "it is read", func() bool { return len(b.messages()) == i+1 })
		last = s
	}
	eventually(t, "one stream is left", func() bool { return open(b.h, a.h.ID()) == 1 })
	if _, err := last.Write([]byte{1, 'z'}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the last is read", func() bool { m := b.messages(); return m[len(m)-1] == "z" })
}
