package node

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/node/wire"
	"github.com/venn-p2p/venn/overlay/tails"
)

// touched are keys that were added or removed since the last tail or epoch, whichever it was: the key store says which.
type touched struct {
	mu   sync.Mutex
	keys [][]byte
	many bool // more than a tail takes: they are not kept
}

// add takes in keys that the key store has just taken in or dropped.
func (t *touched) add(keys [][]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.many = t.many || len(t.keys)+len(keys) > tails.MaxStep; t.many {
		t.keys = nil
		return
	}
	for _, k := range keys {
		t.keys = append(t.keys, append([]byte(nil), k...))
	}
}

// begin empties t before the keys for a new epoch are read, if it is of the node's own seed.
func (t *touched) begin(own bool) {
	if own {
		_, _ = t.take()
	}
}

// take empties t. many says that there were more keys than a tail takes.
func (t *touched) take() (keys [][]byte, many bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	keys, many = t.keys, t.many
	t.keys, t.many = nil, false
	return keys, many
}

// waiting is how many there are, and whether there are more than a tail takes.
func (t *touched) waiting() (n int, many bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.keys), t.many
}

const (
	// tailEvery is the least time from a tail to the next one.
	tailEvery = 100 * time.Millisecond
	// ownEpochs is the part of the line's budget that the node's own epochs may take, allEpochs that of all origins if all
	// change as fast as the node. An epoch takes about epochBytes a receiver, and changeBytes for each change in it.
	ownEpochs   = 1.0 / 4
	allEpochs   = 1.0 / 2
	epochBytes  = 400
	changeBytes = 2
)

// tailer says when the next tail is due.
type tailer struct {
	last   time.Duration
	made   bool
	waking bool
}

// tail announces what has changed, changes keys since the last call, in a tail or, if tails do not bear it, in a new
// epoch.
func (l *loop) tail(changes int) {
	n, many := l.n.touched.waiting()
	switch {
	case l.publisher.building:
		if many {
			l.press(changes)
		}
		return
	case many || changes > 0 && n == 0 || !l.core.Tails.Bears(n):
		l.press(max(changes, n))
		return
	case n == 0:
		return
	}
	now := l.n.now()
	if due := l.tails.last + l.tailPause(); l.tails.made && now < due {
		l.wakeTail(due - now)
		return
	}
	l.tails.last, l.tails.made = now, true
	keys, _ := l.n.touched.take()
	in := tails.Changed{}
	for _, k := range keys {
		if f := l.n.hasher.Fingerprint(k); l.n.keys.Has(k) {
			in.Added = append(in.Added, f)
		} else {
			in.Removed = append(in.Removed, f)
		}
	}
	l.step(in)
	l.publisher.schedule.Tailed(now, len(keys))
}

// press has a new epoch made as soon as the line bears one.
func (l *loop) press(changes int) {
	if changes == 0 {
		return
	}
	s := &l.publisher.schedule
	s.Space(max(l.n.cfg.spacing.Seconds(), l.epochPause(changes)))
	s.Pressing(l.n.now(), changes)
}

// wakeTail has the loop look again after a while.
func (l *loop) wakeTail(after time.Duration) {
	if l.tails.waking {
		return
	}
	l.tails.waking = true
	time.AfterFunc(after, l.n.in.Poke)
}

// tailPause is how long to wait after a tail.
func (l *loop) tailPause() time.Duration {
	o := l.core.Overlay
	return max(tailEvery, tails.Pause(o.LineOut(), o.Links(), o.Origins()), l.core.Tails.Pace())
}

// epochPause is how many seconds to wait after an epoch, for one with so many changes. What the node makes all others
// carry, it has to carry of them.
func (l *loop) epochPause(changes int) float64 {
	o := l.core.Overlay
	times := max(float64(o.Links())/ownEpochs, float64(o.Origins())/allEpochs)
	return (epochBytes + changeBytes*float64(changes)) * times / o.LineOut()
}

// hides says whether the node holds keys, or has dropped some, that neither a summary nor a tail shows.
func (n *Node) hides() bool {
	if n.changing.Load() > 0 { // looked at first: a call that ends now has told touched
		return true
	}
	waiting, many := n.touched.waiting()
	return n.cfg.private.Len() > 0 || n.changes.Load() > 0 || waiting > 0 || many || n.untold.Load()
}

// takeTails takes in a message of tails. While the loop has no room for it, the stream that it came on waits. That is
// the peer's own queue, which says nothing of the loop: the message comes when it finds room.
func (n *Node) takeTails(from peer.ID, b []byte) error {
	items, err := wire.ParseTails(b)
	if err != nil || len(items) == 0 {
		return err
	}
	for !n.in.OfferPartial(inbox.Partial{From: from, Bytes: len(b), Tails: items, Came: n.now()}) {
		n.counters.Drop("tails late")
		if pause(n.ctx, roomPause); n.ctx.Err() != nil {
			return n.ctx.Err()
		}
	}
	return nil
}

// roomPause is how long a message of tails waits for room before it is tried again.
const roomPause = 10 * time.Millisecond

// lostTails takes in that messages of tails to a peer were lost.
func (n *Node) lostTails(p peer.ID) {
	n.counters.Drop("tails")
	n.in.Unheard(p)
}

var errTailSigner = errors.New("node: no public key of the tail's origin")

// verifyTail checks the signature of a tail.
func (n *Node) verifyTail(origin string, message, signature []byte) error {
	id := peer.ID(origin)
	key, err := id.ExtractPublicKey()
	if err != nil {
		key = n.host.Peerstore().PubKey(id)
	}
	if key == nil {
		return fmt.Errorf("%w: %s", errTailSigner, id)
	}
	ok, err := key.Verify(message, signature)
	if err != nil || !ok {
		return tails.ErrSigner
	}
	return nil
}
