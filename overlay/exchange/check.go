package exchange

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Check recounts the exchange's counters and returns every invariant that does not hold, joined. It looks at all
// origins and links; tests call it after every step.
func (x *Exchange) Check(now time.Duration) error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("exchange: "+format, args...))
		}
	}
	want(len(x.rests) == len(x.origins), "%d rests of %d origins", len(x.rests), len(x.origins))
	direct, inFlight := 0, map[wire.PeerID]int{}
	for i := range x.origins {
		e := x.origin(i)
		if e == nil {
			continue
		}
		want(e.Index() == i, "index %d holds entry %v", i, e.Entry)
		if !e.ask.open() {
			want(i < x.owns || e.State() == directory.Foreign || x.rests[i] < agenda.Never && x.due.At(duePlan) <= max(now, x.rests[i]), "%v is never looked at", e.Entry)
			continue
		}
		want(x.due.At(dueAsks) <= e.ask.deadline, "the ask for %v never times out", e.Entry)
		if e.ask.way == event.Direct {
			direct++
		} else {
			want(x.link(e.ask.peer) != nil, "%q is asked for %v without a link", e.ask.peer, e.Entry)
			inFlight[e.ask.peer] += e.ask.bytes
		}
	}
	want(direct == x.direct, "%d direct fetches, counted %d", direct, x.direct)
	want(slices.EqualFunc(x.links, x.directory.Links(), func(l *link, of *directory.Link) bool { return l.Link == of }), "other links than the directory's")
	for _, l := range x.links {
		want(l.inFlight == inFlight[l.Peer], "%q: %d bytes in flight, counted %d", l.Peer, inFlight[l.Peer], l.inFlight)
		errs = append(errs, l.check(now))
	}
	return errors.Join(errs...)
}

// check returns the invariants that a link breaks, as one error.
func (l *link) check(now time.Duration) error {
	var wrong []string
	want := func(ok bool, what string) {
		if !ok {
			wrong = append(wrong, what)
		}
	}
	queued := map[int]bool{}
	for _, w := range l.wants {
		want(!queued[w.index], "an origin is wanted twice")
		queued[w.index] = true
	}
	want(l.out.last <= now, "its budget is of a later time")
	want(len(l.wants) <= maxWants, "it has too many wants")
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("exchange: link %q: %s", l.Peer, strings.Join(wrong, ", "))
}

// String describes the exchange in a line, and one for each link in the order of peers.
func (x *Exchange) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "up %.0f of %.0f B/s, down %.0f of %.0f B/s, %d direct, %d requests\n", x.up.tokens, x.up.rate, x.down.tokens, x.down.rate, x.direct, len(x.requests))
	for _, l := range x.links {
		fmt.Fprintf(&b, "%q mesh %v heard %v, out %.0f of %.0f B/s, in %.0f B/s, %d in flight, %d wants, %d matters\n",
			l.Peer, l.Meshed, l.Heard, l.out.tokens, l.out.rate, l.inRate, l.inFlight, len(l.wants), len(l.about))
	}
	return b.String()
}
