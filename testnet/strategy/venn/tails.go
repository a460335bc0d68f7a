package venn

import (
	"bytes"
	"crypto/sha256"
	"time"

	"github.com/venn-p2p/venn/node/wire"
	"github.com/venn-p2p/venn/overlay/defence"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// tailItems is a message of tails.
type tailItems []tails.Item

// When a node makes a tail, and when an epoch in its place: package node has these numbers too.
const (
	tailEvery    = 100 * time.Millisecond // from a tail to the next one at least
	overdue      = 2 * time.Minute        // from a change that a tail carries to an epoch, at most
	leastSpacing = time.Second            // between epochs, where the line bears them
	ownEpochs    = 1.0 / 4                // of the line's budget, for its owner's epochs
	allEpochs    = 1.0 / 2                // of it, for those of all origins, if all change as fast
	epochBytes   = 400                    // of an epoch, and
	changeBytes  = 2                      // of each change in it

	signatureBytes = 64
)

// tailsConfig has tails signed with a hash: as long as a signature, and as costly to nobody.
func (v *node) tailsConfig() tails.Config {
	if v.older {
		return tails.Config{}
	}
	sign := func(origin string, message []byte) []byte {
		sum := sha256.Sum256(append([]byte(origin), message...))
		return append(make([]byte, signatureBytes-len(sum), signatureBytes), sum[:]...)
	}
	var off defence.Off
	if v.run.world.Params.Undefended {
		off = ^off
	}
	return tails.Config{
		Undefended: off,
		Sign:       func(message []byte) ([]byte, error) { return sign(string(peerID(v.host.Self())), message), nil },
		Verify: func(origin string, message, signature []byte) error {
			if !bytes.Equal(signature, sign(origin, message)) {
				return tails.ErrSigner
			}
			return nil
		},
	}
}

// touched are the changes that neither a tail nor an epoch has carried.
type touched struct {
	held  map[summary.Fingerprint]bool
	order []summary.Fingerprint
	next  time.Duration // when the next tail may come
}

func (t *touched) note(c strategy.Changed) {
	if t.held == nil {
		t.held = map[summary.Fingerprint]bool{}
	}
	f := c.Key.Fingerprint
	if _, before := t.held[f]; !before {
		t.order = append(t.order, f)
	}
	t.held[f] = c.Held
}

// take empties t.
func (t *touched) take() (in tails.Changed) {
	for _, f := range t.order {
		if t.held[f] {
			in.Added = append(in.Added, f)
		} else {
			in.Removed = append(in.Removed, f)
		}
	}
	t.held, t.order = nil, nil
	return in
}

// changed takes in a change of the collection.
func (v *node) changed(now time.Duration, c strategy.Changed) {
	v.run.origins[v.host.Self()].changed = true
	v.touched.note(c)
	if !v.tailed() {
		v.publish = min(v.publish, max(now+settle, v.last+v.spacing()))
	}
}

// tailed says whether tails tell of the changes that wait. If not, an epoch does.
func (v *node) tailed() bool {
	return v.machine.Tails != nil && v.machine.Tails.Bears(len(v.touched.order))
}

// tail publishes a tail if one is due.
func (v *node) tail(now time.Duration) {
	if len(v.touched.order) == 0 || now < v.touched.next || !v.tailed() {
		return
	}
	o := v.machine.Overlay
	v.touched.next = now + max(tailEvery, tails.Pause(o.LineOut(), o.Links(), o.Origins()))
	v.publish = min(v.publish, now+overdue)
	v.step(now, v.touched.take())
}

// due is when the peer has something to publish.
func (v *node) due() time.Duration {
	if len(v.touched.order) > 0 && v.tailed() {
		return min(v.publish, v.touched.next)
	}
	return v.publish
}

// spacing is the least time from an epoch to the next one. What a peer makes all others carry, it has to carry of them.
func (v *node) spacing() time.Duration {
	o, bytes := v.machine.Overlay, float64(epochBytes+changeBytes*len(v.touched.order))
	times := max(float64(o.Links())/ownEpochs, float64(o.Origins())/allEpochs)
	return min(max(time.Duration(bytes*times/o.LineOut()*float64(time.Second)), leastSpacing), spacing)
}

// tailsBytes is a message of tails on a stream that is open.
func tailsBytes(items []tails.Item) int { return strategy.Overhead + len(wire.AppendTails(nil, items)) }

// lost asks a peer whether it is still there: it has ended a link that this peer had not.
func (v *node) lost(p strategy.ID) {
	if _, known := v.machine.Overlay.Record(peerID(p)); known && v.machine.Tails != nil {
		v.send(p, knock{}, strategy.Overhead, 0)
	}
}

// knock asks for nothing: a connection is made for it if there is none.
type knock struct{}
