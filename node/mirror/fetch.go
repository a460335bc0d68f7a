package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// times are the times of a fetch. Tests shorten them.
type times struct {
	lookup time.Duration // until the first peer must be named, while questions are open; then the origin is asked
	answer time.Duration // of a peer to a probe
	late   time.Duration // of a peer that is probed for the first time, while the origin may give it already
	silent time.Duration // without a byte; then another is asked, and the peer whether it is there
	slow   time.Duration // without a byte of a peer that has more, or below slowRate
	origin time.Duration // without a byte of the origin, or of a peer that waits itself
	busy   time.Duration // in all that a peer is waited for that has no room for another
}

var defaultTimes = times{
	lookup: 80 * time.Millisecond, answer: 400 * time.Millisecond, silent: 400 * time.Millisecond, slow: 5 * time.Second,
	late: 2 * time.Second, origin: 30 * time.Second, busy: 3 * time.Second,
}

const (
	slowRate   = 16 << 10 // bytes a second of a peer that has more: below, it is left
	segment    = 4 << 20  // bytes of a range that one of several holders is asked for
	maxSources = 4        // holders that give ranges at once
	maxFailed  = 64       // transfers that fail
	maxRetries = 3        // times in a row that the origin gives nothing
	littleToo  = 1 << 20  // bytes left at which the origin goes on alone
	peersShare = 2        // contents that take more than half of the cache come from the origin
	busyPause  = 30 * time.Millisecond
	watchTick  = 50 * time.Millisecond // between two looks at transfers
	lookTick   = 2 * time.Millisecond  // between two looks at a search for holders that a client waits for
)

// span is a range of bytes from begin up to end; -1: not known. Bytes that come move begin.
type span struct{ begin, end int64 }

// pull is a transfer from a holder, or from the origin: then holder is nil. One at a time brings a range.
type pull struct {
	*holder
	part   *span
	begun  int64     // the first byte
	moved  time.Time // when bytes came; zero: it has no stream yet
	probed time.Time
	since  time.Time // the rate is measured since then,
	from   int64     // and from this byte on
	stop   context.CancelCauseFunc
}

// attempt has the sources of a flight, and how they did.
type attempt struct {
	known   []*holder        // peers to take from, the best first
	skip    map[peer.ID]bool // peers that failed; false: they are asked again beside the origin
	pulls   []*pull
	look    *look         // the last
	pause   time.Duration // between the last look and the next
	alone   bool          // peers are no longer asked
	failed  int
	retries int       // times in a row that the origin gave nothing
	again   time.Time // when the origin may be asked
	fatal   error
	under   sync.WaitGroup // transfers
	timer   *time.Timer    // of the next plan
}

// fetch takes from peers, and then from the origin, until the content is there and right.
func (f *flight) fetch() error {
	f.timer = time.AfterFunc(watchTick, func() { f.news(func(time.Time) {}) })
	defer f.timer.Stop()
	defer f.under.Wait()
	defer f.cancel()
	for {
		if err := f.until(f.ctx, func() (bool, error) { return f.plan(time.Now()) }); err != nil {
			return err
		}
		err := f.want.sum.check(f.file.f, f.size, f.running)
		if !errors.Is(err, errWrong) {
			return err
		}
		f.mu.Lock()
		f.blameAll()
		if f.alone || f.tally[fromPeers] == 0 {
			err = fmt.Errorf("the origin's %w", err)
		} else {
			err = f.restart()
		}
		f.mu.Unlock()
		if err != nil {
			return err
		}
		f.m.metrics.failures.WithLabelValues(errWrong.reason).Inc()
	}
}

// plan starts and stops transfers, until all has come or the fetch fails. It is called when there is news, and after a
// while. f.mu is held.
func (f *flight) plan(now time.Time) (done bool, err error) {
	f.timer.Reset(watchTick)
	if f.users == 1 && len(f.parts) > 0 && now.Sub(f.left) > linger {
		f.fatal = errLeft
	}
	if f.fatal != nil || f.size >= 0 && len(f.parts) == 0 {
		for _, p := range f.pulls {
			p.stop(errFound)
		}
		if len(f.pulls) == 0 {
			return true, f.fatal
		}
		return false, nil
	}
	for _, p := range f.pulls {
		f.watch(p, now)
	}
	for _, s := range f.parts[:min(len(f.parts), maxSources)] {
		if !f.wanting(s, now) {
			continue
		}
		if h := f.choose(s, now); h != nil {
			f.cut(h)
			f.start(h, s)
			return f.plan(now)
		}
		if f.lookDue(now) {
			f.lookAgain(now)
		}
		if len(f.pulls) == 0 && f.nobody(now) && now.After(f.again) {
			f.origin = true
			maps.DeleteFunc(f.skip, func(_ peer.ID, forGood bool) bool { return !forGood })
			f.start(nil, s)
		}
		break
	}
	if len(f.pulls) == 0 {
		f.timer.Reset(lookTick)
	}
	return false, nil
}

// wanting reports whether nobody brings a range, or a whole holder is silent: another may. One that waits itself is only
// probed. The origin brings all that is left, until a holder is known. f.mu is held.
func (f *flight) wanting(s *span, now time.Time) bool {
	for _, p := range f.pulls {
		if p.holder == nil {
			return !f.alone && (f.size < 0 || f.size-f.there >= littleToo)
		}
		if p.part == s {
			return p.Whole && p.idle(now) >= f.m.times.silent
		}
	}
	return true
}

// choose returns the holder to ask for a range, nil if there is none now. Those that fetch it themselves give its
// beginning. Beside another source it must have had as much as is there now, and the other ends first: the origin, or one
// that is silent. A little after the first answer, others that are equally near have answered. f.mu is held.
func (f *flight) choose(s *span, now time.Time) *holder {
	if f.alone || len(f.pulls) == 0 && !f.look.over && now.Before(f.look.others) {
		return nil
	}
	beside := slices.IndexFunc(f.pulls, func(p *pull) bool { return p.holder == nil || p.part == s })
	for _, h := range f.known {
		switch {
		case h.pulling || now.Before(h.again) || !h.Whole && s != f.parts[0] || beside >= 0 && !h.Whole && h.Have < f.there:
		case beside >= 0 && f.pulls[beside].holder == nil:
			f.pulls[beside].stop(errFound)
			return nil
		case beside >= 0:
			f.pulls[beside].stop(errSilent)
			return nil
		default:
			return h
		}
	}
	return nil
}

// cut cuts what a whole holder is to give into ranges, if others can give some. f.mu is held.
func (f *flight) cut(h *holder) {
	last := f.parts[len(f.parts)-1]
	others := slices.ContainsFunc(f.known, func(o *holder) bool { return o != h && !o.pulling && o.Whole && o.Size == h.Size })
	if len(f.pulls) > 0 || !h.Whole || !others || h.Size-last.begin < 2*segment || f.setSize(h.Size) != nil {
		return
	}
	for end := last.end; end-last.begin > segment; last = f.parts[len(f.parts)-1] {
		last.end = last.begin + segment
		f.parts = append(f.parts, &span{last.end, end})
	}
}

// lookDue reports whether a look for holders is of use now: once, while a peer is silent. f.mu is held.
func (f *flight) lookDue(now time.Time) bool {
	l := f.look
	looked := func(p *pull) bool { return p.holder != nil && l.began.After(p.moved) }
	return !f.alone && l.over && now.Sub(l.ended) >= f.pause && !slices.ContainsFunc(f.pulls, looked)
}

// nobody reports whether no peer is to be waited for. f.mu is held.
func (f *flight) nobody(now time.Time) bool {
	return f.alone || len(f.known) == 0 && (f.look.over || now.After(f.look.until))
}

// start begins a transfer of a range; a nil holder is the origin. f.mu is held.
func (f *flight) start(h *holder, s *span) {
	ctx, stop := context.WithCancelCause(f.ctx)
	p := &pull{holder: h, part: s, begun: s.begin, from: s.begin, stop: stop}
	f.pulls = append(f.pulls, p)
	if h != nil {
		h.pulling = true
	} else {
		p.begin(time.Now())
	}
	f.under.Go(func() {
		err := f.take(ctx, p)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		stop(nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.pulls = slices.DeleteFunc(f.pulls, func(other *pull) bool { return other == p })
		if h != nil {
			h.pulling = false
		}
		if err != nil && f.ctx.Err() == nil && !errors.Is(err, errFound) {
			f.fail(p, err)
		}
		f.wake()
	})
}

// begin notes that the source can be silent from now on.
func (p *pull) begin(now time.Time) { p.moved, p.since = now, now }

// idle returns the time without a byte; none passes while the transfer waits for a stream.
func (p *pull) idle(now time.Time) time.Duration {
	if p.moved.IsZero() {
		return 0
	}
	return now.Sub(p.moved)
}

// watch finds a transfer that has died, stalls or is slow: a peer is asked whether it has more, and one that waits itself
// is waited for. f.mu is held.
func (f *flight) watch(p *pull, now time.Time) {
	t, idle := f.m.times, p.idle(now)
	slow := false
	if !p.moved.IsZero() && now.Sub(p.since) >= t.slow {
		slow = p.part.begin-p.from < slowRate*int64(t.slow)/int64(time.Second)
		p.from, p.since = p.part.begin, now
	}
	switch {
	case idle >= t.origin:
		p.stop(errWaits)
	case p.holder == nil:
	case slow || idle >= t.silent && now.Sub(p.probed) >= t.silent:
		p.probed = now
		at := p.part.begin
		f.m.tasks.Run(func() {
			said, err := f.probe(f.ctx, p.ID, t.answer, func() {})
			switch more := err == nil && (said.Whole || said.Have > at); {
			case err != nil && !errors.Is(err, errBehind):
				p.stop(errSilent)
			case more && slow:
				p.stop(errSlow)
			}
		})
	}
}

// fail takes in the end of a transfer that broke off. f.mu is held.
func (f *flight) fail(p *pull, err error) {
	if p.holder == nil {
		f.failOrigin(p, err)
	} else {
		f.failPeer(p.holder, err)
	}
	switch {
	case errors.Is(err, errDisk):
		f.fatal = err
	case f.failed > maxFailed:
		f.fatal = errNobody
	}
}

// failOrigin decides whether the origin is asked again. One that gave nothing at all is not: the client may do so. If its
// size is another than the peers', it is right. f.mu is held.
func (f *flight) failOrigin(p *pull, err error) {
	f.note("origin", err)
	switch {
	case errors.Is(err, errSize) && f.round == 0:
		f.blameAll()
		f.fatal = f.restart()
	case errors.As(err, new(*originError)):
		f.fatal = err
	case p.part.begin > p.begun:
		f.retries = 0
	case f.there == 0 || f.retries == maxRetries:
		f.fatal = err
	default:
		f.retries++
		f.again = time.Now().Add(time.Duration(f.retries) * 200 * time.Millisecond)
	}
}

// failPeer waits with a holder that has no room, and gives up others: they are of no use for this content, or not before
// the origin was asked. f.mu is held.
func (f *flight) failPeer(h *holder, err error) {
	if wait := min(max(h.waited, busyPause), 8*busyPause); errors.Is(err, errBusy) && h.waited < f.m.times.busy {
		h.waited += wait
		h.again = time.Now().Add(wait)
		return
	}
	f.known = slices.DeleteFunc(f.known, func(other *holder) bool { return other == h })
	f.skip[h.ID] = !errors.Is(err, errSilent) && !errors.Is(err, errBusy) && !errors.Is(err, errBehind)
	f.alone = f.alone || errors.Is(err, errShare) // other holders have as much
	if f.pause = 0; errors.Is(err, errBehind) {
		return
	}
	f.note("peer "+h.ID.String(), err)
	f.m.metrics.failures.WithLabelValues(reason(err)).Inc()
}

// blameAll blames the peers that claimed to have the content whole and gave a part of it. f.mu is held.
func (f *flight) blameAll() {
	for p := range f.gave {
		f.m.blame(p, maxBlame/len(f.gave))
	}
	clear(f.gave)
}

// restart drops the bytes so far, and all peers. Readers that have begun end with errRestarted. f.mu is held.
func (f *flight) restart() error {
	f.round++
	f.there, f.size, f.parts, f.known, f.alone = 0, -1, []*span{{0, -1}}, nil, true
	f.running.Reset()
	f.wake()
	if err := f.file.f.Truncate(0); err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	return nil
}

// take takes a range from a source.
func (f *flight) take(ctx context.Context, p *pull) (err error) {
	f.mu.Lock()
	want := *p.part
	f.mu.Unlock()
	var resp *http.Response
	if p.holder == nil {
		resp, err = f.m.askOrigin(ctx, f.want, want)
	} else {
		resp, err = f.ask(ctx, p.ID, &want, func() { f.news(p.begin) })
	}
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	size, err := begin(resp, want.begin)
	if err == nil {
		err = f.accept(p, resp.Header, size)
	}
	if err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := resp.Body.Read(buf)
		complete, wrote := f.write(p, buf[:n])
		switch {
		case wrote != nil || complete:
			return wrote
		case errors.Is(err, io.EOF):
			return f.ends(p.part)
		case err != nil:
			return err
		}
	}
}

// begin has the body of an answer begin at a place, and returns the size of the whole, -1 if it is not known. A source
// may give all instead of a range: then what is there is skipped.
func begin(resp *http.Response, at int64) (size int64, err error) {
	if resp.StatusCode == http.StatusOK {
		if _, err := io.CopyN(io.Discard, resp.Body, at); err != nil {
			return 0, fmt.Errorf("skipping what is there: %w", err)
		}
		return resp.ContentLength, nil
	}
	var first, last int64
	text := resp.Header.Get("Content-Range")
	_, err = fmt.Sscanf(text, "bytes %d-%d/%d", &first, &last, &size)
	if err != nil || first != at || last < first || size <= last {
		return 0, fmt.Errorf("%w: %.80q", errRange, text)
	}
	return size, nil
}

// accept takes in the head of an answer. A peer's has its state.
func (f *flight) accept(p *pull, head http.Header, size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.holder == nil {
		return f.setSize(size)
	}
	if size < 0 || size > f.m.cfg.Size/peersShare {
		return errShare
	}
	said, err := parseState(head)
	if p.state = said; said.Whole {
		f.gave[p.ID] = true
	}
	return errors.Join(err, f.setSize(size))
}
