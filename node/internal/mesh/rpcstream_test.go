package mesh

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-msgio"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// piped is a stream on a pipe, as far as it is read.
type piped struct {
	network.Stream
	conn net.Conn
}

func (s piped) Read(b []byte) (int, error)        { return s.conn.Read(b) }
func (s piped) SetReadDeadline(t time.Time) error { return s.conn.SetReadDeadline(t) }

// TestRepeat: what a peer has said of its subscription is read again between two of its RPCs, whenever that is wanted,
// and the RPCs come as they were sent.
func TestRepeat(t *testing.T) {
	m, _ := newMesh()
	far, near := net.Pipe()
	in := &rpcStream{Stream: piped{conn: near}, m: m, pays: payer(1)}
	m.get("p").in = in
	m.repeat("p") // it has said nothing yet
	sub := &pb.RPC_SubOpts{Topicid: proto.String("topic"), Subscribe: proto.Bool(true), RequestsPartial: proto.Bool(true)}
	m.said("p", []*pb.RPC_SubOpts{{Topicid: proto.String("other"), Subscribe: proto.Bool(true)}, sub})
	want, err := proto.Marshal(&pb.RPC{Subscriptions: []*pb.RPC_SubOpts{sub}})
	if err != nil {
		t.Fatal(err)
	}
	const messages = 200
	message := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 1+i*7%300) }
	rng := rand.New(rand.NewPCG(1, 2))
	go func() {
		for i := range messages {
			frame := protowire.AppendBytes(nil, message(i))
			for len(frame) > 0 {
				k := 1 + rng.IntN(len(frame))
				if rng.IntN(3) == 0 {
					m.repeat("p")
				}
				if _, err := far.Write(frame[:k]); err != nil {
					t.Error(err)
				}
				frame = frame[k:]
			}
		}
		m.repeat("p") // while nothing comes
		_ = far.Close()
	}()
	r := msgio.NewVarintReader(in)
	repeated, got, last := 0, 0, false
	for {
		msg, err := r.ReadMsg()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if last = bytes.Equal(msg, want); last {
			repeated++
		} else if !bytes.Equal(msg, message(got)) {
			t.Fatalf("message %d is %x, want %x", got, msg, message(got))
		} else {
			got++
		}
	}
	if got != messages || repeated < 10 || !last {
		t.Errorf("%d messages, %d repetitions, one of them at the end: %v", got, repeated, last)
	}
	m.said("p", []*pb.RPC_SubOpts{{Topicid: proto.String("topic"), Subscribe: proto.Bool(false)}})
	if in.subscribes != nil {
		t.Error("who has unsubscribed is still said to subscribe")
	}
}

// twice is a stream whose reader is woken twice: for the second time before it has taken in the first.
type twice struct {
	network.Stream
	in      *rpcStream
	reads   int
	sets    chan struct{} // the second time has begun
	cleared chan struct{} // the reader has taken in a time
	over    chan struct{} // the second time has ended

	mu   sync.Mutex
	wake bool // a Read ends at once
	set  int
}

func (s *twice) SetReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake = !t.IsZero(); !s.wake {
		close(s.cleared)
		return nil
	}
	if s.set++; s.set == 2 {
		s.mu.Unlock()
		close(s.sets)
		select {
		case <-s.cleared:
		case <-time.After(100 * time.Millisecond):
		}
		s.mu.Lock()
		s.wake = true
	}
	return nil
}

func (s *twice) Read(b []byte) (int, error) {
	if s.reads++; s.reads == 1 {
		s.in.insert([]byte{1, 2})
		go func() {
			defer close(s.over)
			s.in.insert([]byte{1, 2})
		}()
		<-s.sets
		return 0, os.ErrDeadlineExceeded
	}
	<-s.over
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wake {
		return 0, os.ErrDeadlineExceeded
	}
	return copy(b, []byte{1, 3}), nil
}

// TestRepeatTwice: a reader that is woken again while it takes in that it was woken goes on reading.
func TestRepeatTwice(t *testing.T) {
	m, _ := newMesh()
	s := &twice{sets: make(chan struct{}), cleared: make(chan struct{}), over: make(chan struct{})}
	s.in = &rpcStream{Stream: s, m: m, pays: payer(1)}
	s.in.begun.Store(true)
	for _, want := range [][]byte{{1, 2}, {1, 3}} {
		b := make([]byte, 10)
		if k, err := s.in.Read(b); err != nil || !bytes.Equal(b[:k], want) {
			t.Fatalf("%x, %v, want %x", b[:k], err, want)
		}
	}
}

// TestRepeatLater: what is inserted before the first RPC of a stream is read after it.
func TestRepeatLater(t *testing.T) {
	m, _ := newMesh()
	far, near := net.Pipe()
	in := &rpcStream{Stream: piped{conn: near}, m: m, pays: payer(1)}
	in.insert([]byte{1, 2})
	go func() {
		_, _ = far.Write([]byte{1, 3})
		_ = far.Close()
	}()
	if got, err := io.ReadAll(in); err != nil || !slices.Equal(got, []byte{1, 3, 1, 2}) {
		t.Errorf("%x, %v", got, err)
	}
}

// TestStreamAgain: a peer's new stream ends the one before and waits until pubsub has dealt with that to the end.
func TestStreamAgain(t *testing.T) {
	near, far := newHost(t), newHost(t)
	m, _ := newMesh()
	m.opened(far.ID(), true)
	var streams atomic.Int32
	end, ended, order := make(chan struct{}), make(chan struct{}), make(chan string, 2)
	watchedHost{near, m}.SetStreamHandler("/again", func(s network.Stream) {
		if streams.Add(1) == 2 {
			order <- "the second begins"
			return
		}
		_, _ = io.Copy(io.Discard, s)
		close(ended)
		<-end
		order <- "the first is dealt with"
	})
	if err := far.Connect(t.Context(), peer.AddrInfo{ID: near.ID(), Addrs: near.Addrs()}); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		s, err := far.NewStream(t.Context(), near.ID(), "/again")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		for i == 0 && streams.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	select {
	case <-ended:
	case early := <-order:
		t.Fatal(early, "while the first goes on")
	}
	close(end)
	for _, want := range []string{"the first is dealt with", "the second begins"} {
		if got := <-order; got != want {
			t.Errorf("%s, want that %s", got, want)
		}
	}
	until(t, "no stream of it is left", func() bool { return m.is(far.ID(), func(o *remote) bool { return o.in == nil }) })
}

// TestRepeatEnds: an error of the stream is returned, also to a reader that was woken.
func TestRepeatEnds(t *testing.T) {
	m, _ := newMesh()
	far, near := net.Pipe()
	in := &rpcStream{Stream: piped{conn: near}, m: m, pays: payer(1)}
	in.begun.Store(true)
	in.insert([]byte{1, 2})
	_ = far.Close()
	got, err := io.ReadAll(in)
	if err != nil || !slices.Equal(got, []byte{1, 2}) {
		t.Errorf("%x, %v", got, err)
	}
	_ = near.Close()
	if _, err := in.Read(make([]byte, 1)); err == nil {
		t.Error("a closed stream is read")
	}
}

// TestStrangersRPCs: pubsub gets no memory for a long RPC of a peer without a link, which is no offence. A short one comes,
// and a long one of a link.
func TestStrangersRPCs(t *testing.T) {
	for _, c := range []struct {
		size         int
		linked, fits bool
	}{{100, false, true}, {strangerRPC + 1, false, false}, {strangerRPC + 1, true, true}} {
		m, _ := newMesh()
		m.cfg.Refuse = func(peer.ID, string, error) { t.Error("blamed") }
		far, near := net.Pipe()
		in := &rpcStream{Stream: piped{conn: near}, m: m, pays: table(1, c.linked).Of(at{})}
		go func() {
			_, _ = far.Write(protowire.AppendBytes(nil, make([]byte, c.size)))
			_ = far.Close()
		}()
		rpc, err := msgio.NewVarintReader(in).ReadMsg()
		if c.fits != (err == nil) || c.fits != (len(rpc) == c.size) {
			t.Errorf("%+v: %d bytes came, %v", c, len(rpc), err)
		}
		_ = near.Close()
	}
}

// TestSaidIsSmall: what is kept of a subscription does not grow with what a peer sends beside it.
func TestSaidIsSmall(t *testing.T) {
	m, _ := newMesh()
	in := &rpcStream{m: m, pays: payer(1)}
	m.get("p").in = in
	sub := &pb.RPC_SubOpts{Topicid: proto.String("topic"), Subscribe: proto.Bool(true), RequestsPartial: proto.Bool(true)}
	sub.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 1000, protowire.BytesType), make([]byte, 1<<19)))
	m.said("p", []*pb.RPC_SubOpts{sub})
	if in.subscribes == nil || !in.subscribes.GetRequestsPartial() || proto.Size(in.subscribes) > 100 {
		t.Errorf("%d bytes are kept", proto.Size(in.subscribes))
	}
}

// TestRPCsWait: what a peer sends beyond its share is not read on until it may cost that.
func TestRPCsWait(t *testing.T) {
	m, _ := newMesh()
	ctx, cancel := context.WithCancel(t.Context())
	m.cfg.Done = ctx
	far, near := net.Pipe()
	in := &rpcStream{Stream: piped{conn: near}, m: m, pays: payer(1e-3)} // a millisecond of work a second
	go func() {
		for ctx.Err() == nil {
			_, _ = far.Write(protowire.AppendBytes(nil, make([]byte, 1<<15)))
		}
	}()
	defer near.Close()
	late := time.AfterFunc(300*time.Millisecond, cancel)
	defer late.Stop()
	read, buffer := 0, make([]byte, 1<<12)
	for ctx.Err() == nil && read < 1<<26 {
		k, err := in.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		read += k
	}
	if read > 1<<24 {
		t.Errorf("%d bytes read", read)
	}
}
