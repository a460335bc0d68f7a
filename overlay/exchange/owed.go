package exchange

import (
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Parts may come long after they were asked for. Meanwhile their origin can be forgotten, or the link can close and
// open again. Nobody is to blame for what comes then.

const (
	// owedFor is how long parts may still come after their origin was forgotten or the link closed.
	owedFor = 30 * time.Second
	// maxReleased bounds the forgotten origins whose parts one link may still send.
	maxReleased = 4096
	// maxOwed bounds the closed links whose asks are remembered.
	maxOwed = 64
)

// released says, by tag, until when parts may come of origins that were forgotten after they were asked for.
type released map[uint64]time.Duration

// release notes until when parts of an origin that is forgotten may still come.
func (r *released) release(until time.Duration, tag uint64) {
	if len(*r) >= maxReleased {
		return
	}
	if *r == nil {
		*r = released{}
	}
	(*r)[tag] = until
}

// expire forgets what is over.
func (r released) expire(now time.Duration) {
	for tag, until := range r {
		if now >= until {
			delete(r, tag)
		}
	}
}

// isReleased says whether what came was asked for of an origin that was forgotten meanwhile.
func (x *Exchange) isReleased(in event.PartsReceived) bool {
	l := x.links[in.From]
	return l != nil && x.now < l.released[in.Group.OriginTag()]
}

// owed is what a link that has closed was asked for. The peer may send it on a link that opens soon.
type owed struct {
	peer     wire.PeerID
	closed   time.Duration
	asked    map[int]summary.Epoch
	released released
}

// leave notes what a link that closes was asked for.
func (x *Exchange) leave(now time.Duration, l *link) {
	if len(l.asked)+len(l.released) == 0 {
		return
	}
	x.owed = append(x.owed, owed{l.peer, now, l.asked, l.released})
	if len(x.owed) > maxOwed || now >= x.owed[0].closed+x.cfg.Limits.Late {
		x.owed = append(x.owed[:0], x.owed[1:]...)
	}
}

// resume gives a new link what the one before was asked for.
func (x *Exchange) resume(now time.Duration, l *link) {
	for i, o := range x.owed {
		if o.peer != l.peer {
			continue
		}
		if now < o.closed+x.cfg.Limits.Late {
			l.asked, l.released = o.asked, o.released
		}
		x.owed = append(x.owed[:i], x.owed[i+1:]...)
		return
	}
}

// releaseOwed lets closed links still send parts of an origin that is forgotten.
func (x *Exchange) releaseOwed(e *origin) {
	for i := range x.owed {
		o := &x.owed[i]
		if _, asked := o.asked[e.Index()]; asked {
			o.released.release(x.now+x.cfg.Limits.Late, e.Tag())
			delete(o.asked, e.Index())
		}
	}
}
