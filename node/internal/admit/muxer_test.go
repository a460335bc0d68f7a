package admit

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	goyamux "github.com/libp2p/go-yamux/v5"
	"github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/overlay/admission"
)

// connected returns the two ends of a connection that has measured its round trip, and the near end's bill.
func connected(t *testing.T) (near, far network.MuxedConn, bill *billed) {
	m, ends := Muxer{yamux.DefaultTransport}, [2]network.MuxedConn{}
	a, b := net.Pipe()
	for i, c := range []net.Conn{a, b} {
		var err error
		if ends[i], err = m.NewConn(c, i == 0, nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ends[i].Close() })
	}
	for _, c := range ends {
		for s := (*goyamux.Session)(nil); !c.As(&s) || s.RTT() == 0; {
			time.Sleep(time.Millisecond)
		}
	}
	if !ends[0].As(&bill) {
		t.Fatal("the connection is not billed")
	}
	return ends[0], ends[1], bill
}

// counting is a connection that counts what is written.
type counting struct {
	net.Conn
	bytes *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.Conn.Write(p)
}

// TestIdleConnectionsPingSeldom: an idle connection has one ping and its answer in 44 s, of 12 bytes each.
func TestIdleConnectionsPingSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent [2]atomic.Int64
		a, b := net.Pipe()
		for i, c := range []net.Conn{a, b} {
			end, err := Muxer{yamux.DefaultTransport}.NewConn(counting{c, &sent[i]}, i == 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = end.Close() }()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		before := [2]int64{sent[0].Load(), sent[1].Load()}
		time.Sleep(10 * pingTime)
		synctest.Wait()
		for i := range sent {
			if got := sent[i].Load() - before[i]; got != 120 {
				t.Errorf("end %d has sent %d bytes in 440 s, want 120", i, got)
			}
		}
	})
}

// stream opens a stream, and returns its two ends.
func stream(t *testing.T, from, to network.MuxedConn) (opened, accepted network.MuxedStream) {
	opened, err := from.OpenStream(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err = to.AcceptStream()
	if err != nil {
		t.Fatal(err)
	}
	return opened, accepted
}

// TestSendersPay: what a peer without credit sends on streams that it opened is not read, even if a handler reads. What
// comes on our own streams costs it nothing. Closing the connection ends the wait.
func TestSendersPay(t *testing.T) {
	near, far, bill := connected(t)
	ours, from := stream(t, near, far)
	theirs, in := stream(t, far, near)
	time.Sleep(50 * time.Millisecond) // until the connection waits for its next frame
	bill.by.Store(poor())

	const bytes = 1 << 20
	send := func(to network.MuxedStream) {
		_, _ = to.Write(make([]byte, bytes))
		_ = to.CloseWrite()
	}
	go send(from)
	_ = ours.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := io.Copy(io.Discard, ours); n != bytes || err != nil {
		t.Fatalf("%d of %d bytes on our stream: %v", n, bytes, err)
	}
	go send(theirs)
	_ = in.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, _ := io.Copy(io.Discard, in); n != 0 {
		t.Errorf("%d bytes that nobody has paid for were read", n)
	}
	_ = near.Close()
	if bill.ctx.Err() == nil {
		t.Error("who waits to pay waits on")
	}
}

// over is a connection with a muxer.
type over struct {
	network.Conn
	muxed interface{ As(any) bool }
	from  string
}

func (c over) RemotePeer() peer.ID { return peer.ID(c.from) }
func (c over) RemoteMultiaddr() multiaddr.Multiaddr {
	return multiaddr.StringCast("/ip4/" + cmp.Or(c.from, "1.2.3.4") + "/tcp/1")
}
func (over) Scope() network.ConnScope { return nil }
func (c over) As(target any) bool     { return c.muxed.As(target) }

type nothing struct{}

func (nothing) As(any) bool { return false }

// TestBytesArePaidOnce: below the streams where the connection is billed, else where they are read.
func TestBytesArePaidOnce(t *testing.T) {
	near, _, _ := connected(t)
	table := New(1, 1, func(peer.ID) bool { return true })
	if d := table.Of(over{muxed: near}).Reading(1000); d != 0 {
		t.Errorf("%v are paid twice", d)
	}
	if d := table.Of(over{muxed: nothing{}}).Reading(1000); d != 1000*Byte {
		t.Errorf("%v where nobody else pays", d)
	}
}

// TestLongMessages: however many streams there are, few have a long message, and a peer of another network has one.
// Short messages are not counted, nor long ones that were taken in.
func TestLongMessages(t *testing.T) {
	const places = 8
	table := New(1, 2*places, func(peer.ID) bool { return true })
	held := 0
	enter := func(from string, bytes int) (*Stream, bool) {
		s, ok := table.Enter(over{muxed: nothing{}, from: from}, func() { held-- })
		if !ok {
			t.Fatal("no place for a stream")
		}
		if ok = s.Takes(bytes); ok && bytes > Short {
			held++
		}
		return s, ok
	}
	for i := range places + places/2 {
		s, _ := enter(fmt.Sprint("1.2.3.", i), 64<<10)
		if i == 0 {
			s.Took()
			held--
		}
		if i%4 > 0 {
			continue
		}
		if _, ok := enter(fmt.Sprint("1.2.3.", i), Short); !ok {
			t.Fatal("a short message has no place")
		}
	}
	if held != places {
		t.Errorf("%d long messages at a time, want %d", held, places)
	}
	if _, ok := enter("9.9.9.9", 64<<10); !ok || held != places {
		t.Errorf("another network's: %v, %d at a time", ok, held)
	}
}

// TestUnaskedFramesPay: of a peer without credit as many frames are read as a window is worth once this end has opened a
// stream. Before that, frames of streams that are not open are not read, whichever end would have opened them.
func TestUnaskedFramesPay(t *testing.T) {
	const worth = firstWindow / asFrame // frames of a byte
	for _, c := range []struct {
		name   string
		stream uint32
		most   int // frames that are read
	}{{"opened here", 2, worth + 1}, {"not open", 1000, 1}, {"not open, of theirs", 1001, 1}} {
		near, far := net.Pipe()
		muxed, err := Muxer{yamux.DefaultTransport}.NewConn(near, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		var b *billed
		if !muxed.(billedConn).As(&b) {
			t.Fatal("the connection is not billed")
		}
		b.by.Store(poor())
		go func() { _, _ = io.Copy(io.Discard, far) }()
		if c.most > 1 {
			if _, err := muxed.OpenStream(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(20 * time.Millisecond) // the first frames have gone
		frame := binary.BigEndian.AppendUint32([]byte{0, dataFrame, 0, 0}, c.stream)
		frame = append(binary.BigEndian.AppendUint32(frame, 1), 'x')
		read := 0
		_ = far.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		for ; read < 2*worth; read++ {
			if _, err := far.Write(frame); err != nil {
				break
			}
		}
		if read > c.most {
			t.Errorf("%s: %d frames are read, want %d at most", c.name, read, c.most)
		}
		if c.most > 1 && read < worth/2 {
			t.Errorf("%s: %d of %d frames are read", c.name, read, worth)
		}
		_ = muxed.Close()
	}
}

// TestAnnouncedBytesAreFree: a frame whose header announces 4 GB, and brings a byte, leaves the peer's network its
// credit.
func TestAnnouncedBytesAreFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := New(.1, 1, func(peer.ID) bool { return false })
		near, far := net.Pipe()
		muxed, err := Muxer{yamux.DefaultTransport}.NewConn(near, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = muxed.Close() }()
		var b *billed
		if !muxed.(billedConn).As(&b) {
			t.Fatal("the connection is not billed")
		}
		b.by.Store(&Stream{t: table, who: admission.Principal{Peer: "bad", Group: "g"}})
		go func() { _, _ = io.Copy(io.Discard, far) }()
		time.Sleep(time.Second)
		_, _ = far.Write([]byte{0, dataFrame, 0, 0, 0, 0, 3, 233, 255, 255, 255, 255, 'x'})
		synctest.Wait()
		for range 10 {
			if other := (&Stream{t: table, who: admission.Principal{Peer: "other", Group: "g"}}); !other.Pay(Open) {
				t.Fatal("another peer of the group is refused")
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// poor returns a principal without credit.
func poor() *Stream {
	by := &Stream{t: New(1e-9, 1, func(peer.ID) bool { return false }), who: admission.Principal{Peer: "p"}}
	for by.Pay(time.Second) {
		time.Sleep(time.Millisecond)
	}
	return by
}
