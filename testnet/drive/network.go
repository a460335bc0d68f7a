package drive

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/links"
)

// The protocols.
const (
	// messages without a query, and the opening and closing of links
	UpkeepID protocol.ID = "/venn/compare/upkeep/1.0.0"
	QueryID  protocol.ID = "/venn/compare/query/1.0.0"
)

// Errors that end a run.
var (
	ErrOverflow = errors.New("drive: more messages than a stream carries")
	ErrClosed   = errors.New("drive: closed")
)

// Config describes a run, and what its peers know. All fields but Links are required.
type Config struct {
	Strategy strategy.Strategy
	// World is the strategy's view of the run. A peer that is not online when Add gives it its host is away until Come.
	World strategy.World
	// Holds reports whether a peer holds a key. It is called from many goroutines.
	Holds func(strategy.ID, strategy.Key) bool
	// Links lists the links at the start, opener first. Degree is the mean number of links a peer. A peer with less
	// than half of Degree replaces links that it loses.
	Links  [][2]strategy.ID
	Degree int
}

// Network is a run of a strategy. Make one with New and give it a host for every peer with Add. Then call Link,
// Start and Settle, in this order. After that, call Find as often as you like, from several goroutines if you like.
type Network struct {
	cfg     Config
	factory strategy.Factory
	rules   links.Rules
	peers   []*member
	numbers map[peer.ID]strategy.ID
	began   time.Time
	started atomic.Bool

	pipes pipes
	asks  asks
	open  atomic.Int64 // inputs and messages that were not handled yet
	armed atomic.Int64 // number of peers that wait to be woken

	ctx    context.Context // context of all goroutines of the run; Close or a fatal error ends it
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	closed bool
	work   sync.WaitGroup
}

// New prepares a run. An error is from the strategy's Open.
func New(cfg Config) (*Network, error) {
	factory, err := cfg.Strategy.Open(cfg.World)
	if err != nil {
		return nil, fmt.Errorf("drive: strategy %s: %w", cfg.Strategy.Name, err)
	}
	n := &Network{cfg: cfg, factory: factory, rules: links.Of(&cfg.Strategy, cfg.Degree), numbers: map[peer.ID]strategy.ID{}}
	n.ctx, n.cancel = context.WithCancelCause(context.Background())
	return n, nil
}

// Add gives the next peer, in the order of numbers, its host. The caller closes the host after the Network.
func (n *Network) Add(h host.Host) {
	id := strategy.ID(len(n.peers))
	m := newMember(n, id, h)
	n.peers = append(n.peers, m)
	n.numbers[h.ID()] = id
	for _, p := range []protocol.ID{UpkeepID, QueryID} {
		h.SetStreamHandler(p, func(s network.Stream) {
			if !n.spawn(func() { m.read(s) }) {
				_ = s.Reset()
			}
		})
	}
	m.gone = &network.NotifyBundle{DisconnectedF: m.disconnected}
	h.Network().Notify(m.gone)
}

// random returns a peer's source of randomness for one purpose.
func (n *Network) random(id strategy.ID, purpose string) *rand.Rand {
	return strategy.Random(n.cfg.World.Seed, purpose, uint64(id))
}

// Link opens the links of the configuration, and returns when each is open or has failed. It returns an error if any
// has failed.
func (n *Network) Link(ctx context.Context) error {
	for _, m := range n.peers {
		if !n.spawn(m.run) {
			return ErrClosed
		}
	}
	if err := n.connect(ctx); err != nil {
		return err
	}
	for _, l := range n.cfg.Links {
		m := n.peers[l[0]]
		m.post(event{kind: wanted, peer: l[1]})
	}
	if err := n.wait(ctx, func() bool { return n.open.Load() == 0 }); err != nil {
		return err
	}
	refused := 0
	for _, m := range n.peers {
		refused += int(m.refusals.Load())
	}
	if refused > 0 {
		return fmt.Errorf("drive: %d of %d links could not be opened", refused, len(n.cfg.Links))
	}
	return nil
}

const (
	// links that are connected at one time: hundreds of handshakes would slow each other down until they fail
	connecting   = 16
	connectAgain = 6 * time.Second // wait after a failure, until libp2p dials again
	connectTries = 5
)

// connect connects the hosts that will have links. It tries several times, as a busy machine may need.
func (n *Network) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.ctx, cancel)()
	var group errgroup.Group
	group.SetLimit(connecting)
	for _, l := range n.cfg.Links {
		group.Go(func() error {
			for try := 1; ; try++ {
				err := n.peers[l[0]].host.Connect(ctx, n.peers[l[1]].address)
				if err == nil {
					return nil
				}
				if try == connectTries {
					return fmt.Errorf("drive: link from peer %d to peer %d: %w", l[0], l[1], err)
				}
				select {
				case <-time.After(connectAgain):
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
	}
	return group.Wait()
}

// Start starts the clock, and all peers join.
func (n *Network) Start() {
	n.began = time.Now()
	n.started.Store(true)
	for _, m := range n.peers {
		m.post(event{kind: begun})
	}
}

// Leave ends a peer. The caller must then close the connections of its host, and prevent new ones until Come.
func (n *Network) Leave(p strategy.ID) { n.peers[p].post(event{kind: left}) }

// Come starts a peer that has left, or was away. It begins with its collection and nothing else.
func (n *Network) Come(p strategy.ID) { n.peers[p].post(event{kind: came}) }

// Relink opens the closed links of the configuration again, unless the strategy opens links itself.
func (n *Network) Relink() {
	if n.cfg.Strategy.Connects {
		return
	}
	for _, l := range n.cfg.Links {
		n.peers[l[0]].post(event{kind: wanted, peer: l[1]})
	}
}

// Changed tells a peer of a change of its collection.
func (n *Network) Changed(p strategy.ID, c strategy.Changed) {
	n.peers[p].post(event{kind: changed, change: c})
}

// Settle waits until no message is under way and no peer waits to be woken, but no longer than most, because some
// strategies never rest.
func (n *Network) Settle(ctx context.Context, most time.Duration) error {
	end := time.Now().Add(most)
	return n.wait(ctx, func() bool { return n.open.Load() == 0 && n.armed.Load() == 0 || !time.Now().Before(end) })
}

const lookEvery = 10 * time.Millisecond

// wait waits until the function so returns true. It returns an error if ctx, or the run, ends before.
func (n *Network) wait(ctx context.Context, so func() bool) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for !so() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-n.ctx.Done():
			return context.Cause(n.ctx)
		}
	}
	return nil
}

// enter counts an input or a message before it is handled, and leave takes it off the count afterwards. What it causes
// meanwhile is entered before that. So the count falls to 0 only when nothing is left to handle.
func (n *Network) enter(q strategy.QueryID) {
	n.open.Add(1)
	n.asks.enter(q)
}

func (n *Network) leave(q strategy.QueryID) {
	n.asks.leave(q, n.now())
	n.open.Add(-1)
}

func (n *Network) now() time.Duration {
	if !n.started.Load() {
		return 0
	}
	return time.Since(n.began)
}

// spawn runs f in a goroutine that Close waits for. It returns false if the network is closed.
func (n *Network) spawn(f func()) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.work.Go(f)
	return true
}

// resetAtEnd resets a stream when the run ends. Once done has returned, the stream is not reset any more.
func (n *Network) resetAtEnd(s network.Stream) (done func()) {
	over := make(chan struct{})
	stop := context.AfterFunc(n.ctx, func() {
		defer close(over)
		_ = s.Reset()
	})
	return func() {
		if !stop() {
			<-over
		}
	}
}

// Close ends the run, and returns when all its goroutines have ended. It may be called again.
func (n *Network) Close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.cancel(ErrClosed)
	for _, m := range n.peers {
		m.host.Network().StopNotify(m.gone)
		m.host.RemoveStreamHandler(UpkeepID)
		m.host.RemoveStreamHandler(QueryID)
	}
	n.work.Wait()
}
