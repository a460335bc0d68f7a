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
	lookup time.Duration // until the first peer must have said that it has the content; then the origin is asked
	answer time.Duration // of a peer to a question what it has
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
)

// errNobody says that no peer gives the content.
var errNobody = errors.New("mirror: nobody has it")

// attempt is what a flight knows of its tries.
type attempt struct {
	failed  map[peer.ID]bool // of no use: they are asked no more
	found   found            // beside the origin, to be taken from next
	away    map[peer.ID]bool // did not answer in time: they are asked again beside the origin
	alone   bool             // peers are asked no more
	retries int              // times in a row that the origin gave nothing
	waited  time.Duration    // for busy peers
}

// found is the result of a look for holders, the best first.
type found struct {
	whole   []holder // have the content whole
	parents []holder // fetch it, and can be taken from
}

func (f found) nobody() bool { return len(f.whole)+len(f.parents) == 0 }

// fetch tries peers, and then the origin, until the content is there and right.
func (f *flight) fetch() error {
	a := &attempt{failed: make(map[peer.ID]bool), away: make(map[peer.ID]bool)}
	for range maxSteps {
		if f.ctx.Err() != nil {
			return f.ctx.Err()
		}
		err := f.step(a)
		if err != nil && (errors.Is(err, errDisk) || errors.As(err, new(*originError))) {
			return err
		}
		if _, there, size := f.where(); size < 0 || there < size {
			if a.retries > maxRetries {
				return err
			}
			continue
		}
		if err := f.verify(); err == nil || !errors.Is(err, errWrong) {
			return err
		} else if a.alone || !f.hadPeers() {
			return fmt.Errorf("the origin's %w", err)
		}
		a.alone = true
		f.m.metrics.failures.WithLabelValues("wrong content").Inc()
		if err := f.restart(); err != nil {
			return err
		}
	}
	return errNobody
}

// verify checks what has come, and blames those that claimed to have it whole and gave something else.
func (f *flight) verify() error {
	f.mu.Lock()
	file, size, running := f.file, f.size, f.running
	f.mu.Unlock()
	err := f.want.Sum.check(file, size, running)
	if errors.Is(err, errWrong) {
		f.blameAll()
	}
	return err
}

// hadPeers reports whether peers gave any of the bytes.
func (f *flight) hadPeers() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tally[fromPeers] > 0
}

// blameAll blames those that claimed to have the content whole and gave something.
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
	if !a.alone {
		who := a.found
		if a.found = (found{}); who.nobody() {
			who = f.m.holders(f.ctx, f, f.m.times.lookup, f.m.times.answer, a.failed, a.away)
		}
		switch {
		case len(who.whole) > 0:
			return f.fromWhole(a, who.whole)
		case len(who.parents) > 0:
			return f.fromParents(a, who.parents)
		}
	}
	f.descend(-1)
	return f.tryOrigin(a)
}

// tryOrigin takes from the origin, and counts the times in a row that it gave nothing. One that gave nothing at all is
// not asked again: the client may do so.
func (f *flight) tryOrigin(a *attempt) error {
	_, before, _ := f.where()
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
	if errors.Is(err, errSilent) {
		a.away[h.ID] = true
	} else {
		a.failed[h.ID] = true
	}
	f.note("peer "+h.ID.String(), err)
	f.m.metrics.failures.WithLabelValues(reason(err)).Inc()
}

// fromParents takes from the first mirror that has room. All are busy for a moment when many begin at once.
func (f *flight) fromParents(a *attempt, parents []holder) error {
	for _, h := range parents {
		err := f.pull(h, nil)
		if err == nil {
			return nil
		}
		if !errors.Is(err, errBusy) {
			f.fail(a, h, err)
			return err
		}
	}
	if a.waited > f.m.times.busy {
		for _, h := range parents {
			f.fail(a, h, errBusy)
		}
	}
	a.waited += busyPause
	pause(f.ctx, busyPause)
	return errBusy
}

// fromWhole takes ranges from the holders, each the next when it has given one. Small content comes from the nearest
// alone. A range that was broken off goes to another.
func (f *flight) fromWhole(a *attempt, whole []holder) error {
	_, there, _ := f.where()
	size := whole[0].size
	whole = slices.DeleteFunc(whole, func(h holder) bool { return h.size != size })
	if size-there < 2*segment || len(whole) == 1 {
		err := f.pull(whole[0], &span{there, size})
		if err != nil {
			f.fail(a, whole[0], err)
		}
		return err
	}
	if err := f.setSize(size); err != nil {
		f.fail(a, whole[0], err)
		return err
	}
	work := newWork(there, size)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, h := range whole[:min(len(whole), maxSources)] {
		wg.Go(func() {
			for s, ok := work.take(); ok; s, ok = work.take() {
				if err := f.pull(h, s); err != nil {
					work.giveBack(*s)
					mu.Lock()
					defer mu.Unlock()
					f.fail(a, h, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if work.left() {
		f.forget()
		return errNobody
	}
	return nil
}

// forget drops ranges that lie apart: what is left is taken from the bytes there on.
func (f *flight) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.apart)
}

// span is a range of bytes from begin up to end. A pull moves begin.
type span struct{ begin, end int64 }

// work is the ranges that are left to take.
type work struct {
	mu    sync.Mutex
	spans []span
}

func newWork(begin, end int64) *work {
	w := new(work)
	for ; begin < end; begin += segment {
		w.spans = append(w.spans, span{begin, min(begin+segment, end)})
	}
	return w
}

func (w *work) take() (*span, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.spans) == 0 {
		return nil, false
	}
	s := w.spans[0]
	w.spans = w.spans[1:]
	return &s, true
}

// giveBack puts the rest of a range first: those who read wait for it.
func (w *work) giveBack(s span) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.begin < s.end {
		w.spans = append([]span{s}, w.spans...)
	}
}

func (w *work) left() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.spans) > 0
}

// pull takes a range from a peer; of nil, all from the bytes there on, whoever has it whole or not.
func (f *flight) pull(h holder, s *span) error {
	round, there, _ := f.where()
	if s == nil {
		s = &span{there, -1}
	}
	var at atomic.Int64
	at.Store(s.begin)
	ctx, stop := f.watched(func(ctx context.Context, cancel context.CancelCauseFunc) { f.m.watch(ctx, cancel, h, f, &at) })
	defer stop()
	resp, err := f.m.ask(ctx, http.MethodGet, h.ID, f.want.Sum, f.depth(), s)
	if err != nil {
		return causeOf(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := f.accept(h, resp, s); err != nil {
		return err
	}
	err = f.pour(round, fromPeers, resp.Body, s, &at)
	return causeOf(ctx, err)
}

// watched returns a context that watch may cancel, until stop.
func (f *flight) watched(watch func(context.Context, context.CancelCauseFunc)) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(f.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		watch(ctx, cancel)
	}()
	return ctx, func() { cancel(nil); <-done }
}

// causeOf returns why ctx was cancelled, if it was; else err.
func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (f *flight) depth() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rank.depth
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
	said := parseState(resp.Header)
	if !said.whole {
		f.descend(said.depth)
		return nil
	}
	f.descend(0)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gave[h.ID] = true
	return nil
}

// pour writes a body into the flight, and moves the span's begin. The error is nil if all of the span has come.
func (f *flight) pour(round int, from source, body io.Reader, s *span, at *atomic.Int64) error {
	buf := make([]byte, 64<<10)
	for {
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
		case s.begin == s.end:
			return nil
		case errors.Is(err, io.EOF):
			if s.end < 0 {
				return nil
			}
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
}

// fromOrigin takes all from the bytes there on from the origin.
func (f *flight) fromOrigin(a *attempt) error {
	f.forget()
	round, there, _ := f.where()
	s := &span{there, -1}
	var at atomic.Int64
	at.Store(there)
	ctx, stop := f.watched(func(ctx context.Context, cancel context.CancelCauseFunc) {
		var wg sync.WaitGroup
		defer wg.Wait()
		if !a.alone {
			wg.Go(func() { f.lookOn(ctx, cancel, a) })
		}
		f.m.watchOrigin(ctx, cancel, &at)
	})
	defer stop()
	resp, err := f.m.askOrigin(ctx, f.want, there)
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

// errFound ends a transfer from the origin: a peer has the content, or fetches it.
var errFound = errors.New("mirror: a peer was found")

// Looks for holders while the origin gives content already.
const (
	lateLooks = 3
	littleToo = 1 << 20 // bytes left at which it goes on alone
)

// lookOn goes on looking for holders beside the origin, on lines and machines that are too busy to answer at once. Of
// mirrors that all ask the origin, those of higher ranks leave it.
func (f *flight) lookOn(ctx context.Context, cancel context.CancelCauseFunc, a *attempt) {
	for range lateLooks {
		who := f.m.holders(ctx, f, f.m.times.late, f.m.times.late, a.failed)
		_, there, size := f.where()
		switch {
		case ctx.Err() != nil || size >= 0 && size-there < littleToo:
			return
		case !who.nobody():
			a.found = who
			clear(a.away)
			cancel(errFound)
			return
		}
		pause(ctx, f.m.times.late/4)
	}
}

// corrected begins again when the origin says another size than peers did: the origin is right.
func (f *flight) corrected(err error) error {
	f.blameAll()
	return errors.Join(err, f.restart())
}

// originSize returns the whole size that an answer of the origin tells, -1 if it does not, and skips what is there
// already if the origin sends all again.
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
