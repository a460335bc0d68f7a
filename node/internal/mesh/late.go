package mesh

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/wire"
)

const (
	// mostLate is how many catalogues wait for one peer, mostLateBytes how many bytes of them.
	mostLate      = 32
	mostLateBytes = 4 * wire.MaxCatalogue
)

// late is the catalogues that wait until pubsub can send to a linked peer. Pubsub may hear of the subscription, or open
// its stream, after the link has begun, and the core does not repeat what it has announced.
type late struct {
	mu   sync.Mutex
	open map[peer.ID]bool     // peers that pubsub has a stream to
	kept map[peer.ID][][]byte // the newest, in order
}

// opened notes that pubsub has a stream to a peer, or has it no longer.
func (l *late) opened(p peer.ID, open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if open {
		l.open[p] = true
		return
	}
	delete(l.open, p)
}

// take returns what waits for a peer, if it can be sent now.
func (l *late) take(p peer.ID) (catalogues [][]byte, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open[p] {
		return nil, false
	}
	catalogues = l.kept[p]
	delete(l.kept, p)
	return catalogues, true
}

// keep has a catalogue wait while the peer is linked. The oldest give way.
func (l *late) keep(p peer.ID, catalogue []byte, linked func(peer.ID) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !linked(p) { // asked under the lock: the link's end calls forget after it
		return
	}
	kept, bytes := append(l.kept[p], catalogue), 0
	for _, c := range kept {
		bytes += len(c)
	}
	for len(kept) > mostLate || bytes > mostLateBytes {
		bytes -= len(kept[0])
		kept[0] = nil
		kept = kept[1:]
	}
	l.kept[p] = kept
}

// forget drops what waits for a peer.
func (l *late) forget(p peer.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.kept, p)
}

// waits says whether anything waits for a peer.
func (l *late) waits(p peer.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.kept[p]) > 0
}

// remembered is of how many peers something is kept.
func (l *late) remembered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open) + len(l.kept)
}
