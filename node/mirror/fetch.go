package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// times are the waits of a fetch. Tests shorten them.
type times struct {
	lookup time.Duration // longest wait until the first peer is named; then the origin is asked
	late   time.Duration // longest wait for a connection with a peer, and for its answer to a probe; the origin may be asked meanwhile
	silent time.Duration // time without an answer or bytes of a peer; then it is probed, and others or the origin may be asked
	slow   time.Duration // time without bytes, or with a trickle only, after which a peer that has more is given up
	stuck  time.Duration // time after which whoever sends nothing, or takes nothing, is given up: source, client or asker
	gather time.Duration // pause after a small read, so that the small pieces of a slow line become one
	busy   time.Duration // longest sum of waits for a peer without room, for an origin that breaks off, or that all peers waste
}

var defaultTimes = times{
	lookup: 80 * time.Millisecond, silent: 400 * time.Millisecond, slow: 5 * time.Second, late: 2 * time.Second,
	stuck: 30 * time.Second, gather: 4 * time.Millisecond, busy: 3 * time.Second,
}

const (
	trickle    = 8 << 10               // bytes: fewer new ones count as silence; after a smaller read, take pauses
	segment    = 1 << 20               // bytes of a range that one of several holders is asked for; the origin keeps fewer
	maxSources = 4                     // holders that give ranges at once
	maxFailed  = 64                    // failed transfers; after them, peers are no longer asked
	peersShare = 2                     // peers' bytes whose hash is not verified take at most 1/peersShare of the cache
	busyPause  = 30 * time.Millisecond // first wait for a busy source, and first pause after a look for holders
	watchTick  = 50 * time.Millisecond // time between two checks of a transfer
)

// span is a range of bytes from begin up to end; an end of -1 is not known. begin moves as bytes come.
type span struct {
	begin, end int64
	from       *source // source that brings the range now; nil: none
}

// source is a peer that has content, or fetches it; without an ID, it is the origin. It brings one range at a time.
type source struct {
	ID peer.ID
	state
	out    bool                    // nobody serves the source: it has not answered yet, or has failed
	gave   int                     // blame for bytes that it gave, if they are wrong: most if it claimed to have it whole
	trip   time.Duration           // time from the dial or probe to the answer
	waited time.Duration           // sum of the waits, since bytes came, for the source to have room, or to answer
	again  time.Time               // time before which the source is not asked
	moved  time.Time               // when a trickle of bytes was last complete; zero: the transfer has no stream yet
	mark   int64                   // first byte after moved
	stop   context.CancelCauseFunc // ends the transfer; nil: there is none
	in     *look                   // the last look in which it was named
}

// bring has sources bring the content, until all has come or the fetch fails. Each source waits for its turn and brings
// a range, again and again; meanwhile seek looks for peers. When bring returns, all of them have ended.
func (f *flight) bring() error {
	defer f.under.Wait()
	defer f.cancel(errFound)
	f.under.Go(f.seek)
	f.under.Go(func() { f.serve(&source{}, f.originTurn) })
	return f.until(f.ctx, f.turn, func() (done bool, err error) {
		done, err = f.size >= 0 && len(f.parts) == 0, f.fatal
		if !done && err == nil && f.users == 1 && time.Since(f.left) >= linger {
			err = errLeft
		}
		return done, err
	})
}

// serve has a source bring the ranges that turn returns, one after the other, until it is out, or the flight ends.
func (f *flight) serve(p *source, turn func(*source, time.Time) *span) {
	for {
		var s *span
		var transfer context.Context
		err := f.until(f.ctx, f.turn, func() (bool, error) {
			if s = turn(p, time.Now()); s == nil {
				return false, nil
			}
			transfer, p.stop = context.WithCancelCause(f.ctx)
			p.mark, p.moved, s.from = s.begin, time.Time{}, p
			f.turn.Broadcast()
			return true, nil
		})
		if err != nil {
			return
		}
		stop := p.stop
		if p.ID != "" {
			f.under.Go(func() { stop(f.watch(transfer, p, s)) })
		}
		err = f.take(transfer, p, s)
		if err != nil && transfer.Err() != nil {
			err = context.Cause(transfer)
		}
		stop(nil)
		var out bool
		f.news(func(time.Time) {
			s.from, p.stop = nil, nil
			if err != nil && f.ctx.Err() == nil && !errors.Is(err, errFound) {
				f.fail(p, err)
			}
			out = p.out
		})
		if out {
			return
		}
	}
}

// peerTurn returns the range that a peer is to bring now. If the origin or a silent peer brings that range, it stops
// their transfer first, and returns nil. f.mu is held.
func (f *flight) peerTurn(p *source, now time.Time) *span {
	best, s := f.next(now)
	switch {
	case best != p:
		return nil
	case s.from == nil:
		f.cut(p, s)
		return s
	case s.from.ID == "":
		s.from.stop(errFound)
	default:
		s.from.stop(errSilent)
	}
	return nil
}

// originTurn returns the range that the origin is to bring: the first one missing, if no peer brings any range and no
// peer's answer is awaited. f.mu is held.
func (f *flight) originTurn(p *source, now time.Time) *span {
	if !f.lost(now) || len(f.parts) == 0 || f.taken() || now.Before(p.again) {
		return nil
	}
	f.origin = true
	return f.parts[0]
}

// lost reports whether no peer's bytes or answer are awaited: then the origin is next. f.mu is held.
func (f *flight) lost(now time.Time) bool {
	return f.shut() || !f.found() && !f.lookDue(now) && !now.Before(f.look.until)
}

// found reports whether a peer is a source. f.mu is held.
func (f *flight) found() bool {
	return slices.ContainsFunc(f.known, func(p *source) bool { return !p.out })
}

// next returns the range to be brought next, nil if there is none, and the best peer for it, nil if there is none now.
// Peers that still fetch the content give its first missing bytes only. They replace the origin or a whole holder, if
// they have more bytes than are here, and not each other: one with as many may take them from here. f.mu is held.
func (f *flight) next(now time.Time) (*source, *span) {
	for _, s := range f.parts[:min(len(f.parts), maxSources)] {
		if !f.wanting(s, now) {
			continue
		}
		waits := s.from != nil && s.from.ID != "" && !s.from.Whole
		for _, p := range f.known {
			has := p.Whole || s == f.parts[0] && !waits && (s.from == nil || p.Have > f.there)
			if has && !p.out && p.stop == nil && !now.Before(p.again) && !f.shut() && (f.taken() || !now.Before(f.look.near)) {
				return p, s
			}
		}
		return nil, s
	}
	return nil, nil
}

// wanting reports whether a range needs a source: nobody brings it, the peer that brings it is silent, or the origin
// brings it with much left. f.mu is held.
func (f *flight) wanting(s *span, now time.Time) bool {
	switch {
	case s.from == nil:
		return true
	case s.from.ID == "":
		return f.size < 0 || f.size-f.there >= segment
	}
	return s.from.idle(now) >= f.m.times.silent
}

// shut reports whether no peer is asked: peers have wasted as much time as a client waits for one, or more. f.mu is held.
func (f *flight) shut() bool { return f.alone || f.wasted > f.m.times.busy }

// taken reports whether a source brings a range now. f.mu is held.
func (f *flight) taken() bool {
	return slices.ContainsFunc(f.parts, func(s *span) bool { return s.from != nil })
}

// cut leaves a segment of the last range to a whole holder, which brings it or is about to, and the rest to others, if
// they can give some. f.mu is held.
func (f *flight) cut(p *source, s *span) {
	others := slices.ContainsFunc(f.known, func(o *source) bool { return o != p && !o.out && o.Whole && o.Size == p.Size })
	if !p.Whole || !others || s != f.parts[len(f.parts)-1] || f.setSize(p.Size) != nil || s.end-s.begin <= segment {
		return
	}
	f.parts = append(f.parts, &span{begin: s.begin + segment, end: s.end})
	s.end = s.begin + segment
}

// idle returns the time without a byte; 0 while the transfer waits for a stream.
func (p *source) idle(now time.Time) time.Duration {
	if p.moved.IsZero() {
		return 0
	}
	return now.Sub(p.moved)
}

// watch returns the reason to end a peer's transfer: it has died, stalls or is slow. It probes a silent peer, and
// waits for one that has no more bytes itself. Meanwhile another may take over. It returns nil when ctx ends.
func (f *flight) watch(ctx context.Context, p *source, s *span) error {
	t, pause := f.m.times, watchTick
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		var idle time.Duration
		var at int64
		f.mu.Lock()
		if idle, at, pause = p.idle(time.Now()), s.begin, watchTick; idle >= t.silent {
			f.turn.Broadcast()
		}
		f.mu.Unlock()
		switch {
		case idle >= t.stuck:
			return errWaits
		case idle < t.silent:
			continue
		}
		said, err := f.probe(ctx, p.ID, t.silent, func() {})
		switch pause = t.silent; {
		case err != nil && !errors.Is(err, errBehind):
			return errSilent
		case idle >= t.slow && (said.Whole || said.Have > at):
			return errSlow
		}
	}
}

// later has a source wait, longer each time, and reports whether its waits since it last gave bytes sum up to
// times.busy at most. f.mu is held.
func (f *flight) later(p *source) bool {
	wait := min(max(p.waited, busyPause), 8*busyPause)
	p.waited += wait
	p.again = f.in(wait)
	return p.waited <= f.m.times.busy
}

// fail notes that a transfer broke off, and decides whether its source is asked again. A busy peer and an origin that
// breaks off wait for their next turn. Any other peer is out. One that is silent, or waits itself, is met again when the
// next look names it after a while: its waits have the same bound as a busy peer's. f.mu is held.
func (f *flight) fail(p *source, err error) {
	what, behind := "origin", errors.Is(err, errBehind)
	switch {
	case errors.Is(err, errDisk):
		what, f.fatal = "disk", err
	case p.ID == "":
		// while no byte is here, the client may ask again; of another size than peers said the origin's is right
		if errors.As(err, new(*originError)) || errors.Is(err, errSize) || f.there == 0 || !f.later(p) {
			f.fatal = err
		}
		f.wasted = 0 // peers have another chance
	case errors.Is(err, errBusy) && f.later(p):
		return
	default:
		what, p.out = "peer "+p.ID.String(), true
		if !behind && !errors.Is(err, errSilent) || !f.later(p) {
			p.again = time.Now().Add(forEver)
		}
		if errors.Is(err, errSlow) { // it answers, and has given nothing for long: the second time it is asked no more
			f.m.blame(string(p.ID), maxBlame/2)
		}
		// other holders have as much, or too many have failed
		f.alone = f.alone || errors.Is(err, errShare) || len(f.tally.Tried) >= maxFailed
		if behind {
			return
		}
		f.pause, f.wasted = 0, f.wasted+p.idle(time.Now())
		f.m.metrics.failures.WithLabelValues(kind(err).reason).Inc()
	}
	f.tally.Tried = append(f.tally.Tried, what+": "+err.Error())
}

// blame blames the peers that gave a part of the content: those that claimed to have it whole share what makes one be asked
// no more, others may have it of a liar and are blamed little. It blames the content, too: for a while, the origin alone
// is asked for it. No transfer is under way.
func (f *flight) blame(err error) {
	f.m.metrics.failures.WithLabelValues(kind(err).reason).Inc()
	whole := 0
	for _, p := range f.known {
		whole += p.gave / maxBlame
	}
	much := map[string]int{string(f.sum): maxBlame}
	for _, p := range f.known {
		if p.gave > 0 {
			much[string(p.ID)] = max(1, p.gave/max(1, whole))
		}
	}
	for who, more := range much {
		f.m.blame(who, more)
	}
}

// take brings a range from a source.
func (f *flight) take(ctx context.Context, p *source, s *span) (err error) {
	f.mu.Lock()
	want := *s
	f.mu.Unlock()
	var resp *http.Response
	var said state
	if p.ID == "" {
		req := f.want.origin.Clone(ctx)
		if want.begin > 0 || want.end >= 0 {
			req.Header.Set("Range", want.header())
		}
		resp, err = f.m.do(f.m.web.Do, req)
	} else { // from now on, it can be silent
		resp, said, err = f.ask(ctx, p.ID, &want, func() { f.news(func(now time.Time) { p.moved = now }) })
	}
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	size, err := begin(resp, want.begin)
	if err == nil && p.ID != "" && (size < 0 || size > f.m.cfg.Size/peersShare) {
		err = errSize
	}
	if err == nil {
		f.news(func(time.Time) {
			if p.state, p.gave = said, max(p.gave, 1); said.Whole {
				p.gave = maxBlame
			}
			err = f.setSize(size)
		})
	}
	if err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := resp.Body.Read(buf)
		complete, wrote := f.write(p, s, buf[:n])
		switch {
		case wrote != nil || complete:
			return wrote
		case errors.Is(err, io.EOF):
			return f.ends(s)
		case err != nil:
			return err
		case n < trickle:
			time.Sleep(f.m.times.gather) // else each packet is written, read again and sent by itself
		}
	}
}

// begin makes the body of an answer begin at the byte at of the content. It returns the content's size, -1 if it is not
// known. A source may give all instead of a range: then begin skips the bytes before.
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
