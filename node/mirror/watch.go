package mirror

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

var (
	errSilent  = errors.New("mirror: the peer does not answer any more")
	errStalled = errors.New("mirror: the peer has more, and does not send it")
	errSlow    = errors.New("mirror: the peer sends too slowly")
	errWaits   = errors.New("mirror: nothing comes any more")
)

// watchTick is the time between two looks at a transfer.
const watchTick = 50 * time.Millisecond

// progress is how far a transfer was, and when it last moved.
type progress struct {
	at    int64
	moved time.Time
	// The begin of a time in which a rate is measured.
	from  int64
	since time.Time
}

func newProgress(at int64) progress {
	now := time.Now()
	return progress{at, now, at, now}
}

// idle takes in how far a transfer is, and returns for how long nothing came.
func (p *progress) idle(at int64) time.Duration {
	if at != p.at {
		p.at, p.moved = at, time.Now()
	}
	return time.Since(p.moved)
}

// slow reports, once every d, whether less came than at a rate.
func (p *progress) slow(rate int64, d time.Duration) bool {
	if time.Since(p.since) < d {
		return false
	}
	slow := p.at-p.from < rate*int64(d)/int64(time.Second)
	p.from, p.since = p.at, time.Now()
	return slow
}

// watch cancels a transfer from a peer that has died, stalls or is slow. A peer that waits itself is waited for.
func (m *Mirror) watch(ctx context.Context, cancel context.CancelCauseFunc, h holder, f *flight, at *atomic.Int64) {
	p := newProgress(at.Load())
	asked := time.Time{}
	for {
		pause(ctx, watchTick)
		if ctx.Err() != nil {
			return
		}
		idle := p.idle(at.Load())
		slow := p.slow(slowRate, m.times.slow)
		if !slow && (idle < m.times.silent || time.Since(asked) < m.times.silent) {
			continue
		}
		asked = time.Now()
		if err := m.judge(ctx, h, f, p.at, idle, slow); err != nil {
			cancel(err)
			return
		}
	}
}

// judge asks a peer from which nothing comes, or little, whether it has more than the bytes before at.
func (m *Mirror) judge(ctx context.Context, h holder, f *flight, at int64, idle time.Duration, slow bool) error {
	said, err := m.probe(ctx, h.ID, f, m.times.answer)
	more := err == nil && (said.whole || said.have > at)
	switch {
	case err != nil:
		return errSilent
	case more && idle > m.times.slow:
		return errStalled
	case more && slow:
		return errSlow
	case idle > m.times.origin:
		return errWaits
	}
	return nil
}

// watchOrigin cancels a transfer from the origin in which nothing comes.
func (m *Mirror) watchOrigin(ctx context.Context, cancel context.CancelCauseFunc, at *atomic.Int64) {
	p := newProgress(at.Load())
	for ctx.Err() == nil {
		pause(ctx, watchTick)
		if p.idle(at.Load()) > m.times.origin {
			cancel(errWaits)
			return
		}
	}
}

// reason is the kind of an error, for metrics.
func reason(err error) string {
	for _, of := range []struct {
		err  error
		name string
	}{
		{errSilent, "silent"},
		{errStalled, "stalled"},
		{errSlow, "slow"},
		{errWaits, "stalled"},
		{errBusy, "busy"},
		{errRange, "wrong range"},
		{errSize, "wrong size"},
		{errLong, "too long"},
		{errWrong, "wrong content"},
		{errRestarted, "restarted"},
	} {
		if errors.Is(err, of.err) {
			return of.name
		}
	}
	return "broken off"
}
