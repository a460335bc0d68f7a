package mesh

import (
	"maps"
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	// mostKept is the most catalogues that wait for one peer, mostKeptBytes their most bytes.
	mostKept      = 32
	mostKeptBytes = 4 * wire.MaxCatalogue
	// mostSentBytes bounds the catalogues sent to one peer that are kept in case they are lost.
	mostSentBytes = 16 << 10
)

// catalogues holds announcements to linked peers that are not sent yet. The core does not repeat an announcement. So no
// catalogue is dropped because the outbox is full, or because pubsub cannot send to the peer yet: pubsub sometimes
// hears of the subscription, and opens its stream, after the link has begun.
type catalogues struct {
	wake chan struct{} // has a value while peers are due

	mu   sync.Mutex
	open map[peer.ID]bool     // peers that pubsub has a stream to
	full map[peer.ID]bool     // peers of these for which pubsub's own queue was full
	kept map[peer.ID][][]byte // the newest waiting catalogues, in order
	sent map[peer.ID][][]byte // the newest of those sent on the present stream, in order
	due  []peer.ID            // peers to which what is kept may be sent now, each once
}

func newCatalogues() catalogues {
	return catalogues{wake: make(chan struct{}, 1), open: make(map[peer.ID]bool), full: make(map[peer.ID]bool), kept: make(map[peer.ID][][]byte), sent: make(map[peer.ID][][]byte)}
}

// opened records that pubsub has a stream to a peer, or has it no longer. Catalogues sent on an ended stream may be
// lost, so they wait again: two ends that dial at once lose a stream that way. What they ask for is left out: most of it
// has come, and the core asks again for what has not. It returns how many gave way.
func (c *catalogues) opened(p peer.ID, open bool) (dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.full, p)
	if open {
		c.open[p] = true
		return 0
	}
	delete(c.open, p)
	if sent := c.sent[p]; len(sent) > 0 {
		for i := range sent {
			sent[i] = withoutAsks(sent[i])
		}
		c.kept[p], dropped = newest(append(sent, c.kept[p]...), mostKeptBytes)
		delete(c.sent, p)
	}
	return dropped
}

// withoutAsks returns a catalogue that says the same of what is held, and asks for nothing.
func withoutAsks(catalogue []byte) []byte {
	items, err := wire.ParseCatalogue(catalogue)
	asks := func(it wire.Item) bool { return it.Want > it.Have }
	if err != nil || !slices.ContainsFunc(items, asks) {
		return catalogue
	}
	for i := range items {
		if asks(items[i]) {
			items[i].Want, items[i].Bases = 0, 0
		}
	}
	return items.Append(nil)
}

// newest returns the last catalogues that stay within the limits, and how many are left out.
func newest(all [][]byte, most int) (kept [][]byte, dropped int) {
	bytes, first := 0, len(all)
	for first > 0 && len(all)-first < mostKept && bytes+len(all[first-1]) <= most {
		first--
		bytes += len(all[first])
	}
	return slices.Clone(all[first:]), first
}

// isOpen reports whether pubsub has a stream to a peer.
func (c *catalogues) isOpen(p peer.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[p]
}

// keep adds a catalogue to those that wait, and returns how many of the oldest gave way.
func (c *catalogues) keep(p peer.ID, catalogue []byte) (dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[p], dropped = newest(append(c.kept[p], catalogue), mostKeptBytes)
	c.stir(p)
	return dropped
}

// again makes a peer due, because something may have changed for it.
func (c *catalogues) again(p peer.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept[p]) > 0 {
		c.stir(p)
	}
}

// stir makes a peer due. c.mu is held.
func (c *catalogues) stir(p peer.ID) {
	if !slices.Contains(c.due, p) {
		c.due = append(c.due, p)
	}
	c.signal()
}

// signal wakes the sender. c.mu is held.
func (c *catalogues) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// next removes and returns the peer that has been due for the longest. While others are due, it signals again, so that
// catalogues and other messages take turns.
func (c *catalogues) next() (p peer.ID, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.due) == 0 {
		return p, false
	}
	p = c.due[0]
	if c.due = slices.Delete(c.due, 0, 1); len(c.due) > 0 {
		c.signal()
	}
	return p, true
}

// refused puts back the catalogue that was taken last: pubsub's own queue to the peer is full. No more is taken until
// retry. It returns how many gave way.
func (c *catalogues) refused(p peer.ID, catalogue []byte) (dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent, linked := c.sent[p]
	if !linked { // the peer was forgotten meanwhile
		return 0
	}
	c.full[p] = true
	if len(sent) > 0 { // else it was too long to be kept
		c.sent[p] = sent[:len(sent)-1]
	}
	c.kept[p], dropped = newest(append([][]byte{catalogue}, c.kept[p]...), mostKeptBytes)
	return dropped
}

// retry makes the peers due for which pubsub's queues were full.
func (c *catalogues) retry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(c.full)) {
		c.stir(p)
	}
	clear(c.full)
}

// take returns the oldest waiting catalogue of a peer, unless pubsub has no stream to the peer or its queue is full.
func (c *catalogues) take(p peer.ID) (catalogue []byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.kept[p]
	if !c.open[p] || c.full[p] || len(kept) == 0 {
		return nil, false
	}
	if catalogue = kept[0]; len(kept) == 1 {
		delete(c.kept, p)
	} else {
		c.kept[p] = slices.Delete(kept, 0, 1)
	}
	c.sent[p], _ = newest(append(c.sent[p], catalogue), mostSentBytes)
	return catalogue, true
}

// forget drops the waiting catalogues of a peer, and returns how many there were.
func (c *catalogues) forget(p peer.ID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	dropped := len(c.kept[p])
	delete(c.kept, p)
	delete(c.sent, p)
	delete(c.full, p)
	c.due = slices.DeleteFunc(c.due, func(q peer.ID) bool { return q == p })
	return dropped
}

// waiting returns how many catalogues wait.
func (c *catalogues) waiting() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, kept := range c.kept {
		n += len(kept)
	}
	return n
}

// remembered returns the number of peers of which something is kept.
func (c *catalogues) remembered() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) + len(c.kept) + len(c.sent)
}
