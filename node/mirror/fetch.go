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
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// times are the times of a fetch. Tests shorten them.
type times struct {
	lookup time.Duration // until the first peer must be named, while questions are open; then the origin is asked
	answer time.Duration // of a peer to a probe
	late   time.Duration // of both, while the origin gives it already
	silent time.Duration // without a byte; then a peer is asked whether it is there
	slow   time.Duration // without a byte of a peer that has more, or below slowRate
	origin time.Duration // without a byte of the origin, or of a peer that waits itself
	busy   time.Duration // in all that peers are waited for that have no room for another
}

var defaultTimes = times{
	lookup: 80 * time.Millisecond, answer: 400 * time.Millisecond, silent: 400 * time.Millisecond, slow: 5 * time.Second,
	late: 2 * time.Second, origin: 30 * time.Second, busy: 3 * time.Second,
}

const (
	slowRate   = 16 << 10 // bytes a second of a peer that has more: below, it is left
	segment    = 4 << 20  // bytes of a range that one of several holders is asked for
	maxSources = 4        // holders that give ranges at once
	maxSteps   = 64       // sources tried in turn
	maxRetries = 3        // times that the origin breaks off
	busyPause  = 30 * time.Millisecond
	littleToo  = 1 << 20 // bytes left at which the origin goes on alone
)

// attempt is the state of a flight's tries.
type attempt struct {
	skip    map[peer.ID]bool // peers that are not asked; false: they were silent, and are asked again beside the origin
	look    *look            // the last
	found   []holder         // beside the origin, to be taken from next
	alone   bool             // peers are no longer asked
	retries int              // times in a row that the origin gave nothing
	waited  time.Duration    // for busy peers
}

// fetch tries peers, and then the origin, until the content is there and right.
func (f *flight) fetch() error {
	a := &attempt{skip: make(map[peer.ID]bool)}
	for range maxSteps {
		if f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		err := f.step(a)
		if errors.Is(err, errDisk) || errors.As(err, new(*originError)) {
			return err
		}
		if _, there, size := f.where(); size < 0 || there < size {
			if a.retries > maxRetries {
				return err
			}
			continue
		}
		if err := f.want.Sum.check(f.file.f, f.size, f.running); !errors.Is(err, errWrong) {
			return err
		} else if f.blameAll(); a.alone || f.tally[fromPeers] == 0 {
			return fmt.Errorf("the origin's %w", err)
		}
		a.alone = true
		f.m.metrics.failures.WithLabelValues(errWrong.reason).Inc()
		if err := f.restart(); err != nil {
			return err
		}
	}
	return errNobody
}

// blameAll blames the peers that claimed to have the content whole and gave a part of it.
func (f *flight) blameAll() {
	f.mu.Lock()
	gave := slices.Collect(maps.Keys(f.gave))
	clear(f.gave)
	f.mu.Unlock()
	for _, p := range gave {
		f.m.blame(p, maxBlame/len(gave))
	}
}

// step takes what it can from one place.
func (f *flight) step(a *attempt) error {
	who := a.found
	if a.found = nil; len(who) == 0 && !a.alone {
		f.lookAgain(a)
		who = a.look.wait(f.ctx, f.patience(a), f.m.times.answer)
	}
	if len(who) > 0 && !a.alone {
		return f.fromPeers(a, who)
	}
	return f.tryOrigin(a)
}

// patience returns the time to wait until the first peer is named. It is longer if the client has bytes already, or if
// a peer has the content and no room.
func (f *flight) patience(a *attempt) time.Duration {
	if _, there, _ := f.where(); there > 0 || a.waited > 0 {
		return f.m.times.answer
	}
	return f.m.times.lookup
}

// tryOrigin takes from the origin, and counts the times in a row that it gave nothing. One that gave nothing at all is
// not asked again: the client may do so.
func (f *flight) tryOrigin(a *attempt) error {
	_, before, _ := f.where()
	f.set(&f.origin, true)
	err := f.fromOrigin(a)
	if err == nil || errors.Is(err, errFound) {
		return nil
	}
	f.note("origin", err)
	switch _, there, _ := f.where(); {
	case there > before:
		a.retries = 0
	case errors.Is(err, errSize):
		a.alone = true
	case there == 0:
		a.retries = maxRetries + 1
	default:
		a.retries++
		pause(f.ctx, time.Duration(a.retries)*200*time.Millisecond)
	}
	return err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// fail notes that a holder is of no use for this content.
func (f *flight) fail(a *attempt, h holder, err error) {
	if f.ctx.Err() != nil {
		return
	}
	a.skip[h.ID] = !errors.Is(err, errSilent)
	a.alone = a.alone || errors.Is(err, errShare)
	f.note("peer "+h.ID.String(), err)
	f.m.metrics.failures.WithLabelValues(reason(err)).Inc()
}

// fromPeers takes from the first holder that has room, or ranges from several. All are busy for a moment when many
// mirrors begin at once.
func (f *flight) fromPeers(a *attempt, who []holder) error {
	if several := f.several(who); len(several) > 1 {
		return f.fromSeveral(a, several)
	}
	for _, h := range who {
		err := f.pull(h, nil)
		if err == nil {
			return nil
		}
		if !errors.Is(err, errBusy) && !errors.Is(err, errBehind) {
			f.fail(a, h, err)
			return err
		}
	}
	if a.waited > f.m.times.busy {
		for _, h := range who {
			f.fail(a, h, errBusy)
		}
	}
	wait := min(max(a.waited, busyPause), 8*busyPause)
	a.waited += wait
	pause(f.ctx, wait)
	return errBusy
}

// several returns the holders that give ranges at once: the whole ones, unless little of the content is left.
func (f *flight) several(who []holder) (out []holder) {
	_, there, _ := f.where()
	for _, h := range who {
		if h.Whole && h.Size == who[0].Size && h.Size-there >= 2*segment && len(out) < maxSources {
			out = append(out, h)
		}
	}
	return out
}

// fromSeveral takes ranges from holders, each the next when it has given one. A range that was broken off goes to
// another.
func (f *flight) fromSeveral(a *attempt, whole []holder) error {
	size := whole[0].Size
	if err := f.setSize(size); err != nil {
		f.fail(a, whole[0], err)
		return err
	}
	var mu sync.Mutex
	var left []span
	_, begin, _ := f.where()
	for ; begin < size; begin += segment {
		left = append(left, span{begin, min(begin+segment, size)})
	}
	next := func() (s span, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if len(left) == 0 {
			return s, false
		}
		s, left = left[0], left[1:]
		return s, true
	}
	var wg sync.WaitGroup
	for _, h := range whole {
		wg.Go(func() {
			for s, ok := next(); ok; s, ok = next() {
				if err := f.pull(h, &s); err != nil {
					mu.Lock()
					defer mu.Unlock()
					if s.begin < s.end {
						left = append([]span{s}, left...) // first: readers wait for it
					}
					f.fail(a, h, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if len(left) > 0 {
		f.forget()
		return errNobody
	}
	return nil
}

// forget drops ranges that lie apart: the rest is taken from the bytes there on.
func (f *flight) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.apart)
}

// span is a range of bytes from begin up to end; -1: not known. A pull moves begin.
type span struct{ begin, end int64 }

// pull takes a range from a peer, whole or not; with nil, all from the bytes there on.
func (f *flight) pull(h holder, s *span) error {
	round, there, _ := f.where()
	if s == nil {
		s = &span{there, -1}
	}
	var at atomic.Int64
	at.Store(s.begin)
	ctx, stop := f.m.watched(f.ctx, &at, f.judge(h))
	defer stop()
	resp, err := f.ask(ctx, http.MethodGet, h.ID, s)
	if err != nil {
		return causeOf(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	defer f.set(&f.takes, false)
	if err := f.accept(h, resp, s); err != nil {
		return err
	}
	return causeOf(ctx, f.pour(round, fromPeers, resp.Body, s, &at))
}

// causeOf returns why ctx was cancelled, if it was; else err.
func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// accept checks the head of a peer's answer. It sets the end of a span that had none.
func (f *flight) accept(h holder, resp *http.Response, s *span) error {
	got, size, err := contentRange(resp)
	if err != nil {
		return err
	}
	if got.begin != s.begin || s.end >= 0 && got.end != s.end {
		return fmt.Errorf("%w: bytes %d up to %d", errRange, got.begin, got.end)
	}
	s.end = got.end
	if size > f.m.cfg.Size {
		f.m.blame(h.ID, maxBlame)
		return fmt.Errorf("%w: %d is more than the cache takes", errSize, size)
	}
	if err := f.setSize(size); err != nil {
		return err
	}
	said, err := parseState(resp.Header)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.takes = !said.Whole; said.Whole {
		f.gave[h.ID] = true
	}
	return nil
}

// pour writes a body into the flight, and moves the span's begin. The error is nil if all of the span has come.
func (f *flight) pour(round int, from flow, body io.Reader, s *span, at *atomic.Int64) error {
	buf := make([]byte, 64<<10)
	for s.begin != s.end {
		n, err := body.Read(buf)
		if s.end >= 0 && int64(n) > s.end-s.begin {
			return errLong
		}
		if n > 0 {
			if err := f.write(round, from, buf[:n], s.begin); err != nil {
				return err
			}
			s.begin += int64(n)
			at.Store(s.begin)
		}
		switch {
		case err == nil || s.begin == s.end:
		case errors.Is(err, io.EOF) && s.end < 0:
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
	return nil
}

// fromOrigin takes all from the bytes there on from the origin.
func (f *flight) fromOrigin(a *attempt) error {
	f.forget()
	round, there, _ := f.where()
	s := &span{there, -1}
	var at atomic.Int64
	at.Store(there)
	ctx, stop := f.m.watched(f.ctx, &at, f.m.judgeOrigin)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	var looking sync.WaitGroup
	defer looking.Wait()
	defer cancel(nil)
	if !a.alone {
		looking.Go(func() { f.lookOn(ctx, cancel, a) })
	}
	resp, err := f.m.askOrigin(ctx, f.want, there)
	if e := (*originError)(nil); errors.As(err, &e) && e.status == http.StatusRequestedRangeNotSatisfiable && there > 0 {
		return f.corrected(errSize) // peers gave more than it has
	}
	if err != nil {
		return causeOf(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	size, err := originSize(resp, there)
	if err != nil {
		return err
	}
	if size >= 0 {
		if err := f.setSize(size); err != nil {
			return f.corrected(err)
		}
		s.end = size
	}
	if err := f.pour(round, fromOrigin, resp.Body, s, &at); err != nil {
		return causeOf(ctx, err)
	}
	return f.setSize(s.begin)
}

// corrected begins again when the origin's size differs from the peers': the origin is right.
func (f *flight) corrected(err error) error {
	f.blameAll()
	return errors.Join(err, f.restart())
}

// lookOn goes on looking for holders beside the origin, on lines and machines that are too busy to answer at once. If
// several mirrors ask the origin, all but the one that has the most bytes leave it.
func (f *flight) lookOn(ctx context.Context, cancel context.CancelCauseFunc, a *attempt) {
	maps.DeleteFunc(a.skip, func(_ peer.ID, forGood bool) bool { return !forGood })
	for wait := busyPause; ; wait *= 2 { // little content is there before the second look
		who := a.look.wait(ctx, f.m.times.late, f.m.times.late)
		_, there, size := f.where()
		who = slices.DeleteFunc(who, func(h holder) bool { return !h.Whole && h.Have < there }) // bytes came since the question
		switch {
		case ctx.Err() != nil || size >= 0 && size-there < littleToo:
			return
		case len(who) > 0:
			a.found = who
			cancel(errFound)
			return
		}
		if pause(ctx, wait); ctx.Err() != nil {
			return
		}
		f.lookAgain(a)
	}
}

// lookAgain begins a look in place of the last.
func (f *flight) lookAgain(a *attempt) {
	if a.look != nil {
		a.look.cancel()
	}
	a.look = f.look(a.skip)
}

// originSize returns the whole size by an answer of the origin, -1 if it does not tell. If the origin sends all again,
// it skips bytes that are there already.
func originSize(resp *http.Response, there int64) (int64, error) {
	if resp.StatusCode == http.StatusPartialContent {
		got, size, err := contentRange(resp)
		if err == nil && (got.begin != there || got.end != size) {
			err = errRange
		}
		return size, err
	}
	if _, err := io.CopyN(io.Discard, resp.Body, there); err != nil {
		return 0, fmt.Errorf("skipping what is there: %w", err)
	}
	return resp.ContentLength, nil
}
