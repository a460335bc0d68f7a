package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"

	"github.com/venn-p2p/venn/node"
)

const (
	keepEvery = time.Second     // between two looks for peers to dial
	dialAgain = 4 * time.Second // from a first dial that failed to the next; twice as long each time, with jitter
	dialRare  = 2 * time.Minute // but no longer than this
	dialTime  = 5 * time.Second // for one dial
	maxFound  = 16              // peers found on the local network that are kept in mind
)

// keeper connects a node to peers found on the local network while it has few others. To its bootstrap peers a node
// connects by itself.
type keeper struct {
	node *node.Node
	host host.Host
	log  *slog.Logger

	mu    sync.Mutex
	found []peer.AddrInfo      // dialled while links are few
	tried map[peer.ID]attempts // without peers due for longer than dialRare: anybody may name peers to be found
	stir  chan struct{}
}

// fewLinks is the number of links below which peers found on the local network are dialled.
const fewLinks = 4

func newKeeper(n *node.Node, h host.Host, log *slog.Logger) *keeper {
	return &keeper{node: n, host: h, log: log, tried: make(map[peer.ID]attempts), stir: make(chan struct{}, 1)}
}

// HandlePeerFound takes in a peer that multicast DNS found.
func (k *keeper) HandlePeerFound(p peer.AddrInfo) {
	if p.ID == k.host.ID() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.found = slices.DeleteFunc(k.found, func(q peer.AddrInfo) bool { return q.ID == p.ID })
	k.found = append(k.found, p)
	if len(k.found) > maxFound {
		k.found = k.found[1:]
	}
	select {
	case k.stir <- struct{}{}:
	default:
	}
}

// discover finds peers of the network on the local network until stop is called.
func (k *keeper) discover(networkName string) (stop func() error, err error) {
	service := mdns.NewMdnsService(k.host, serviceName(networkName), k)
	if err := service.Start(); err != nil {
		return nil, err
	}
	return io.Closer(service).Close, nil
}

// serviceName returns the network's name in multicast DNS: a hash, for names there are short and have few characters.
func serviceName(networkName string) string {
	h := uint64(14695981039346656037) // FNV-1a
	for _, c := range []byte(networkName) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return fmt.Sprintf("_venn-%08x._udp", uint32(h^h>>32))
}

// run connects the node until ctx ends.
func (k *keeper) run(ctx context.Context) {
	look := time.NewTicker(keepEvery)
	defer look.Stop()
	var dials sync.WaitGroup
	defer dials.Wait()
	for {
		for _, p := range k.wanted(time.Now()) {
			dials.Go(func() { k.dial(ctx, p) })
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		case <-k.stir:
		}
	}
}

// wanted returns the peers to dial now.
func (k *keeper) wanted(now time.Time) (out []peer.AddrInfo) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.tried, func(_ peer.ID, a attempts) bool { return now.After(a.next.Add(dialRare)) })
	if len(k.host.Network().Peers()) >= fewLinks {
		return nil
	}
	for _, p := range k.found {
		switch {
		case k.host.Network().Connectedness(p.ID) == network.Connected:
			if a := k.tried[p.ID]; a.failed > 0 {
				k.tried[p.ID] = attempts{next: a.next}
			}
		case !now.Before(k.tried[p.ID].next):
			k.tried[p.ID] = k.tried[p.ID].after(now, rand.Float64())
			out = append(out, p)
		}
	}
	return out
}

// attempts are the dials of a peer since it was last connected.
type attempts struct {
	failed int
	next   time.Time // not dialled before
}

// after notes a dial. random, from 0 up to 1, moves the next dial by up to a quarter of the wait either way. It keeps
// peers that are lost together, as when a line fails, from being dialled together.
func (a attempts) after(now time.Time, random float64) attempts {
	wait := min(dialAgain<<min(a.failed, 10), dialRare)
	wait += time.Duration((random - 0.5) / 2 * float64(wait))
	return attempts{a.failed + 1, now.Add(wait)}
}

func (k *keeper) dial(ctx context.Context, p peer.AddrInfo) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	if err := k.node.Connect(ctx, p); err != nil {
		k.log.Debug("no connection", "peer", p.ID, "err", err)
		return
	}
	k.log.Info("connected", "peer", p.ID)
}
