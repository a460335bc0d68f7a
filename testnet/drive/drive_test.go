package drive_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/metrics"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/leaktest"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/drive"
	"github.com/venn-p2p/venn/testnet/strategy"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// counter is a metrics.Reporter that counts what is sent by protocol.
type counter struct {
	metrics.Reporter
	mu              sync.Mutex
	bytes, messages map[protocol.ID]int64
}

func (c *counter) LogSentMessageStream(n int64, id protocol.ID, _ peer.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes[id] += n
	c.messages[id]++
}

func (c *counter) LogSentMessage(int64)                             {}
func (c *counter) LogRecvMessage(int64)                             {}
func (c *counter) LogRecvMessageStream(int64, protocol.ID, peer.ID) {}
func (c *counter) sent(id protocol.ID) (messages int, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(c.messages[id]), int(c.bytes[id])
}

// atLeast is sent when the given number of messages are counted: a message may arrive before its sender counts it.
func (c *counter) atLeast(id protocol.ID, least int) (messages int, bytes int) {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if messages, bytes = c.sent(id); messages >= least {
			break
		}
	}
	return messages, bytes
}

// testNetwork is a network on hosts of its own.
type testNetwork struct {
	*drive.Network
	hosts []host.Host
	meter *counter // of all hosts
}

// newTestNetwork runs a strategy on n peers. The last two hold key 1.
func newTestNetwork(t *testing.T, n int, s strategy.Strategy, links ...[2]strategy.ID) *testNetwork {
	t.Helper()
	holds := func(p strategy.ID, k strategy.Key) bool { return k.Number == 1 && int(p) >= n-2 }
	net, err := drive.New(drive.Config{
		Strategy: s, Links: links, Holds: holds,
		World: strategy.World{
			Peers: n, Seed: 1,
			Rates:      func(strategy.ID) (up, down uint64) { return 1e6, 1e6 },
			Collection: func(strategy.ID) []summary.Fingerprint { return nil },
			Holders:    func(strategy.Key) []strategy.ID { return nil },
			Online:     func(strategy.ID) bool { return true },
			Latency:    func(_, _ strategy.ID) time.Duration { return 0 },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &testNetwork{Network: net, meter: &counter{bytes: map[protocol.ID]int64{}, messages: map[protocol.ID]int64{}}}
	t.Cleanup(b.end)
	for range n {
		h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.BandwidthReporter(b.meter),
			libp2p.ResourceManager(&network.NullResourceManager{}), libp2p.ConnectionManager(connmgr.NullConnMgr{}),
			libp2p.DisableRelay(), libp2p.DisableMetrics())
		if err != nil {
			t.Fatal(err)
		}
		b.hosts = append(b.hosts, h)
		net.Add(h)
	}
	if err := net.Link(t.Context()); err != nil {
		t.Fatal(err)
	}
	net.Start()
	return b
}

func (b *testNetwork) end() {
	b.Close()
	for _, h := range b.hosts {
		_ = h.Close()
	}
}

// settle waits for rest, in the time that a busy machine takes.
func (b *testNetwork) settle(t *testing.T) {
	t.Helper()
	if err := b.Settle(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
}

func (b *testNetwork) find(t *testing.T, all bool) drive.Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := b.Find(ctx, 0, strategy.Key{Number: 1}, all)
	if err != nil || ctx.Err() != nil {
		t.Fatal(err, ctx.Err())
	}
	return a
}

// script is a strategy whose peers do what a function says.
func script(step func(h strategy.Host, now time.Duration, in strategy.Input)) strategy.Strategy {
	return strategy.Strategy{Name: "script", Open: func(strategy.World) (strategy.Factory, error) {
		return func(h strategy.Host) strategy.Peer { return scripted{h, step} }, nil
	}}
}

type scripted struct {
	host strategy.Host
	do   func(strategy.Host, time.Duration, strategy.Input)
}

func (s scripted) Step(now time.Duration, in strategy.Input) { s.do(s.host, now, in) }

// log is what happened, by peer.
type log struct {
	mu     sync.Mutex
	inputs map[strategy.ID][]strategy.Input
}

func (l *log) add(p strategy.ID, in strategy.Input) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inputs == nil {
		l.inputs = map[strategy.ID][]strategy.Input{}
	}
	l.inputs[p] = append(l.inputs[p], in)
}

func (l *log) of(p strategy.ID) []strategy.Input {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.inputs[p])
}

type ask struct{ key strategy.Key }

type yes struct{}

const askBytes = strategy.Overhead + 100

// asking asks all neighbours, and never says that a query is over.
func asking(h strategy.Host, _ time.Duration, in strategy.Input) {
	switch in := in.(type) {
	case strategy.Started:
		for _, p := range h.Links() {
			h.Send(p, strategy.Message{Body: ask{in.Query.Key}, Bytes: askBytes, Query: in.Query.ID})
		}
	case strategy.Received:
		switch b := in.Message.Body.(type) {
		case ask:
			if h.Look(in.Message.Query, b.key) {
				h.Send(in.From, strategy.Message{Body: yes{}, Bytes: 1, Query: in.Message.Query})
			}
		case yes:
			h.Found(in.Message.Query, in.From, 1)
		}
	}
}

var star = [][2]strategy.ID{{0, 1}, {2, 0}, {0, 3}}

// A query finds what there is, ends when nothing of it is under way, and is on the wire as long as its messages say.
func TestFind(t *testing.T) {
	b := newTestNetwork(t, 4, script(asking), star...)
	b.settle(t)
	first := b.find(t, true) // opens streams, which takes some bytes more
	if slices.Sort(first.Holders); !slices.Equal(first.Holders, []strategy.ID{2, 3}) || first.Found <= 0 || first.Over != 0 || first.Hops != 1 || first.Probes != 3 || first.Wasted != 1 {
		t.Errorf("found %+v", first)
	}
	messages, bytes := b.meter.atLeast(drive.QueryID, 5)
	if messages != 5 || bytes < 3*100+2*4 || bytes > 3*100+2*4+5*100 {
		t.Errorf("%d messages of %d bytes, streams opened", messages, bytes)
	}
	if one := b.find(t, false); len(one.Holders) == 0 || one.Found <= 0 {
		t.Errorf("found %+v", one)
	}
	m, n := b.meter.atLeast(drive.QueryID, messages+5)
	if m-messages != 5 || n-bytes != 3*100+2*4 {
		t.Errorf("%d messages of %d bytes", m-messages, n-bytes)
	}
	if none, err := b.Find(t.Context(), 0, strategy.Key{Number: 2}, true); err != nil || len(none.Holders) > 0 {
		t.Errorf("found %+v, %v", none, err)
	}
}

// Messages of any size come in order and whole.
func TestSizes(t *testing.T) {
	sizes := []int{0, 1, strategy.Overhead, 50, 1 << 10, 1 << 20, 44, 3 << 20, 45}
	var l log
	b := newTestNetwork(t, 2, script(func(h strategy.Host, _ time.Duration, in strategy.Input) {
		l.add(h.Self(), in)
		if _, ok := in.(strategy.LinkOpened); ok && h.Self() == 0 {
			for _, n := range sizes {
				h.Send(1, strategy.Message{Body: n, Bytes: n})
			}
		}
	}), [2]strategy.ID{0, 1})
	b.settle(t)
	var got []int
	for _, in := range l.of(1) {
		if r, ok := in.(strategy.Received); ok {
			got = append(got, r.Message.Body.(int))
		}
	}
	if !slices.Equal(got, sizes) {
		t.Errorf("got %v", got)
	}
	want := 0
	for _, n := range sizes {
		want += max(4, n-strategy.Overhead)
	}
	messages, bytes := b.meter.atLeast(drive.UpkeepID, len(sizes)+2)
	if messages != len(sizes)+2 || bytes < want+8 || bytes > want+8+200 { // and the link's frames, with the names of protocols
		t.Errorf("%d messages of %d bytes, want %d", messages, bytes, want)
	}
}

// What a machine wants of its links happens, and both ends hear of it.
func TestLinks(t *testing.T) {
	var l log
	b := newTestNetwork(t, 3, script(func(h strategy.Host, _ time.Duration, in strategy.Input) {
		l.add(h.Self(), in)
		switch in := in.(type) {
		case strategy.LinkOpened:
			if _, there := slices.BinarySearch(h.Links(), in.Peer); !there {
				t.Errorf("peer %d: no link to %d among %v", h.Self(), in.Peer, h.Links())
			}
			if h.Self() == 0 && in.Peer == 1 {
				h.Connect(1) // there is one
				h.Connect(2)
			}
			if h.Self() == 0 && in.Peer == 2 {
				h.Disconnect(1)
			}
		case strategy.LinkClosed:
			if slices.Contains(h.Links(), in.Peer) {
				t.Errorf("peer %d: still a link to %d", h.Self(), in.Peer)
			}
		}
	}), [2]strategy.ID{1, 0})
	b.settle(t)
	is := func(p strategy.ID, want ...strategy.Input) {
		t.Helper()
		if got := l.of(p); !slices.Equal(got[:len(want)], want) {
			t.Errorf("peer %d: %v, want %v", p, got, want)
		}
	}
	joined := strategy.Joined{}
	is(0, joined, strategy.LinkOpened{Peer: 1}, strategy.LinkOpened{Peer: 2, Outbound: true}, strategy.LinkClosed{Peer: 1})
	is(1, joined, strategy.LinkOpened{Peer: 0, Outbound: true}, strategy.LinkClosed{Peer: 0})
	is(2, joined, strategy.LinkOpened{Peer: 0})
}

// A peer that goes is missed: links to it close, and what is sent to it fails.
func TestGone(t *testing.T) {
	var l log
	lost, failed := make(chan struct{}), make(chan strategy.Failed, 2)
	b := newTestNetwork(t, 2, script(func(h strategy.Host, _ time.Duration, in strategy.Input) {
		l.add(h.Self(), in)
		if h.Self() != 0 {
			return
		}
		switch in := in.(type) {
		case strategy.LinkClosed:
			h.Send(1, strategy.Message{Body: "hello", Bytes: 60, Query: 7})
			close(lost)
		case strategy.Failed:
			if in.Message.Body == nil { // the link isn't replaced either
				return
			}
			failed <- in
		}
	}), [2]strategy.ID{0, 1})
	b.settle(t)
	_ = b.hosts[1].Close()
	<-lost
	if f := <-failed; f.To != 1 || f.Message != (strategy.Message{Body: "hello", Bytes: 60, Query: 7}) {
		t.Errorf("failed: %+v", f)
	}
}

// A machine is woken when it wants, and as often; it may write to itself.
func TestWake(t *testing.T) {
	var l log
	var times []time.Duration
	b := newTestNetwork(t, 1, script(func(h strategy.Host, now time.Duration, in strategy.Input) {
		l.add(h.Self(), in)
		switch in.(type) {
		case strategy.Joined:
			h.Wake(time.Hour)
			h.Wake(20 * time.Millisecond) // in place of that
		case strategy.Woken:
			if times = append(times, now); len(times) < 3 {
				h.Wake(0) // as soon as may be
				return
			}
			h.Send(0, strategy.Message{Body: "to myself", Bytes: 50})
		}
	}))
	b.settle(t)
	if len(times) != 3 || times[0] < 20*time.Millisecond || times[1] < times[0]+time.Millisecond || times[2] < times[1]+time.Millisecond {
		t.Errorf("woken at %v", times)
	}
	in := l.of(0)
	if r, ok := in[len(in)-1].(strategy.Received); !ok || r.From != 0 || r.Message.Body != "to myself" {
		t.Errorf("inputs %v", in)
	}
	if m, _ := b.meter.sent(drive.UpkeepID); m > 0 {
		t.Errorf("%d messages", m)
	}
}

// Who is waited for and says so is believed; who wants to be woken for ever is not waited for.
func TestOver(t *testing.T) {
	b := newTestNetwork(t, 2, script(func(h strategy.Host, now time.Duration, in strategy.Input) {
		switch in := in.(type) {
		case strategy.Woken, strategy.Joined:
			h.Wake(now + 10*time.Millisecond)
		case strategy.Started:
			if in.Query.All {
				h.Found(in.Query.ID, 1, 1)
				h.Done(in.Query.ID)
			}
			h.Found(in.Query.ID, 0, 1) // of a query that is over: too late
		}
	}), [2]strategy.ID{0, 1})
	if err := b.Settle(t.Context(), 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if a := b.find(t, true); !slices.Equal(a.Holders, []strategy.ID{1}) || a.Over < a.Found {
		t.Errorf("%+v", a)
	}
	if a := b.find(t, false); len(a.Holders) != 1 || a.Over != 0 {
		t.Errorf("%+v", a)
	}
}

// A strategy that never stops sending ends the run, with an error that says so.
func TestOverflow(t *testing.T) {
	for to := range strategy.ID(2) {
		b := newTestNetwork(t, 2, script(func(h strategy.Host, _ time.Duration, in strategy.Input) {
			if s, ok := in.(strategy.Started); ok {
				for range 1 << 16 {
					h.Send(to, strategy.Message{Bytes: 1 << 10, Query: s.Query.ID})
				}
			}
		}))
		if _, err := b.Find(t.Context(), 0, strategy.Key{}, false); !errors.Is(err, drive.ErrOverflow) {
			t.Errorf("to %d: %v", to, err)
		}
	}
}

// A run that is closed while it is busy ends, and says so to those that wait.
func TestClose(t *testing.T) {
	b := newTestNetwork(t, 4, script(func(h strategy.Host, _ time.Duration, in strategy.Input) { // a message goes round for ever
		switch in := in.(type) {
		case strategy.Started:
			h.Send(1, strategy.Message{Bytes: 1 << 20, Query: in.Query.ID})
		case strategy.Received:
			h.Send((h.Self()+1)%4, in.Message)
		}
	}), star...)
	ended := make(chan error)
	go func() {
		_, err := b.Find(context.Background(), 0, strategy.Key{}, true)
		ended <- err
	}()
	for { // until it does
		if m, _ := b.meter.sent(drive.QueryID); m > 10 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	b.Close()
	if err := <-ended; !errors.Is(err, drive.ErrClosed) {
		t.Error(err)
	}
	b.Close()
}

// A query that has no end is cut off with what is known.
func TestCutOff(t *testing.T) {
	var found sync.Once
	known := make(chan struct{})
	b := newTestNetwork(t, 2, script(func(h strategy.Host, _ time.Duration, in strategy.Input) {
		switch in := in.(type) {
		case strategy.Started:
			h.Found(in.Query.ID, 1, 1)
			h.Send(1, strategy.Message{Bytes: 100, Query: in.Query.ID})
		case strategy.Received:
			found.Do(func() { close(known) })
			h.Send(in.From, in.Message)
		}
	}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-known; cancel() }()
	if a, err := b.Find(ctx, 0, strategy.Key{}, true); err != nil || len(a.Holders) != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}
