package mesh

import (
	"maps"
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	// mostKept is the most catalogues that wait for one peer, mostKeptBytes the most bytes of them.
	mostKept      = 32
	mostKeptBytes = 4 * wire.MaxCatalogue
	// mostSentBytes is the most bytes of sent catalogues kept for one peer, to be sent again if its stream ends.
	mostSentBytes = 16 << 10
)

// peers holds the mesh's state of each peer. It keeps announcements to linked peers until they are sent, because the
// core does not repeat them. So no catalogue is dropped because the outbox is full, or because pubsub cannot send to
// the peer yet. Pubsub may learn of the subscription, and open its stream, only after the link has begun.
type peers struct {
	wake chan struct{} // holds a value while peers are due

	mu  sync.Mutex
	of  map[peer.ID]*remote
	due []peer.ID // peers to which waiting catalogues may be sent now, each once
}

// remote is the state of a peer that is linked, or has a stream of pubsub to or from this node.
type remote struct {
	in   *rpcStream // the peer's latest stream to this node; nil: there is none
	open bool       // pubsub has a stream to the peer
	full bool       // pubsub's own queue to the peer was full
	kept [][]byte   // the newest waiting catalogues, oldest first
	sent [][]byte   // the newest catalogues sent on the present stream, oldest first; nil: none since the link ended
}

func newPeers() peers {
	return peers{wake: make(chan struct{}, 1), of: make(map[peer.ID]*remote)}
}

// get returns the state of a peer, and makes one if there is none. The caller holds c.mu.
func (c *peers) get(p peer.ID) *remote {
	if c.of[p] == nil {
		c.of[p] = new(remote)
	}
	return c.of[p]
}

// tidy removes the state of a peer if nothing in it is needed. The caller holds c.mu.
func (c *peers) tidy(p peer.ID) {
	if o := c.of[p]; o != nil && o.in == nil && !o.open && len(o.kept) == 0 && o.sent == nil {
		delete(c.of, p)
	}
}

// opened records whether pubsub has a stream to a peer. When the stream ends, pubsub forgets the peer's subscription.
// Catalogues sent on that stream may be lost, so they wait again: two ends that dial at once lose a stream that way.
// Their asks are removed: most of the parts have arrived, and the core asks again for the rest. opened returns the
// number of catalogues dropped for lack of room.
func (c *peers) opened(p peer.ID, open bool) (dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.get(p)
	o.open, o.full = open, false
	if !open && len(o.sent) > 0 {
		for i := range o.sent {
			o.sent[i] = withoutAsks(o.sent[i])
		}
		o.kept, dropped = newest(append(o.sent, o.kept...), mostKeptBytes)
		o.sent = nil
	}
	c.tidy(p)
	return dropped
}

// withoutAsks returns a catalogue that announces the same parts, but asks for nothing.
func withoutAsks(catalogue []byte) []byte {
	items, err := wire.ParseCatalogue(catalogue)
	asks := func(it wire.Item) bool { return it.Want > it.Have }
	if err != nil || !slices.ContainsFunc(items, asks) {
		return catalogue
	}
	for i := range items {
		if asks(items[i]) {
			items[i] = wire.Item{Group: items[i].Group, Have: items[i].Have}
		}
	}
	return items.Append(nil)
}

// newest returns the last catalogues within mostKept and most bytes, and the number of those left out.
func newest(all [][]byte, most int) (kept [][]byte, dropped int) {
	bytes, first := 0, len(all)
	for first > 0 && len(all)-first < mostKept && bytes+len(all[first-1]) <= most {
		first--
		bytes += len(all[first])
	}
	return slices.Clone(all[first:]), first
}

// is reports whether the state of a peer exists and has the given property.
func (c *peers) is(p peer.ID, what func(*remote) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[p] != nil && what(c.of[p])
}

// isOpen reports whether pubsub has a stream to a peer.
func (c *peers) isOpen(p peer.ID) bool { return c.is(p, func(o *remote) bool { return o.open }) }

// keep adds a catalogue to those waiting for a peer. It returns the number of old catalogues dropped for it.
func (c *peers) keep(p peer.ID, catalogue []byte) (dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.get(p)
	o.kept, dropped = newest(append(o.kept, catalogue), mostKeptBytes)
	c.stir(p)
	return dropped
}

// again makes a peer due if catalogues wait for it, because it may now be possible to send them.
func (c *peers) again(p peer.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.of[p]; o != nil && len(o.kept) > 0 {
		c.stir(p)
	}
}

// stir makes a peer due. The caller holds c.mu.
func (c *peers) stir(p peer.ID) {
	if !slices.Contains(c.due, p) {
		c.due = append(c.due, p)
	}
	c.signal()
}

// signal wakes the goroutine that sends. The caller holds c.mu.
func (c *peers) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// next removes and returns the peer that has been due for longest. If others are due, it signals again, so that
// catalogues and other messages take turns.
func (c *peers) next() (p peer.ID, ok bool) {
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

// refused puts back the catalogue that was taken last, because pubsub's own queue to the peer is full. No more is
// taken until Retry. It returns the number of catalogues dropped for lack of room.
func (c *peers) refused(p peer.ID, catalogue []byte) (dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.of[p]
	if o == nil || o.sent == nil { // the peer was forgotten meanwhile
		return 0
	}
	o.full = true
	if len(o.sent) > 0 { // else the catalogue was too long to be kept
		o.sent = o.sent[:len(o.sent)-1]
	}
	o.kept, dropped = newest(append([][]byte{catalogue}, o.kept...), mostKeptBytes)
	return dropped
}

// Retry makes the peers due for which pubsub's own queue was full.
func (c *peers) Retry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range slices.Sorted(maps.Keys(c.of)) {
		if c.of[p].full {
			c.of[p].full = false
			c.stir(p)
		}
	}
}

// take removes and returns the oldest waiting catalogue of a peer. It returns none while pubsub has no stream to the
// peer, or while pubsub's queue to it is full.
func (c *peers) take(p peer.ID) (catalogue []byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.of[p]
	if o == nil || !o.open || o.full || len(o.kept) == 0 {
		return nil, false
	}
	catalogue = o.kept[0]
	o.kept = slices.Delete(o.kept, 0, 1)
	o.sent, _ = newest(append(o.sent, catalogue), mostSentBytes)
	return catalogue, true
}

// forget drops the waiting catalogues of a peer, and returns their number.
func (c *peers) forget(p peer.ID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due = slices.DeleteFunc(c.due, func(q peer.ID) bool { return q == p })
	o := c.of[p]
	if o == nil {
		return 0
	}
	dropped := len(o.kept)
	o.kept, o.sent, o.full = nil, nil, false
	c.tidy(p)
	return dropped
}

// Catalogues returns the number of waiting catalogues.
func (c *peers) Catalogues() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.of {
		n += len(o.kept)
	}
	return n
}

// Remembered returns the number of peers with a state.
func (c *peers) Remembered() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.of)
}
