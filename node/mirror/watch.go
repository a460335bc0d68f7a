package mirror

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// watchTick is the time between two looks at a transfer.
const watchTick = 50 * time.Millisecond

// judge returns the fault of a transfer, if any: at is the number of bytes so far, idle the time in which nothing came,
// and slow whether less than slowRate came in the time before. It is called at every tick.
type judge func(ctx context.Context, at int64, idle time.Duration, slow bool) error

// watched returns a context that ends when a transfer is found wrong, with the reason as its cause. It needs stop.
func (m *Mirror) watched(ctx context.Context, at *atomic.Int64, find judge) (watched context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		begun := time.Now()
		was, moved, from, since := at.Load(), begun, at.Load(), begun
		for pause(ctx, watchTick); ctx.Err() == nil; pause(ctx, watchTick) {
			now, is, slow := time.Now(), at.Load(), false
			if is != was {
				was, moved = is, now
			}
			if now.Sub(since) >= m.times.slow {
				slow = is-from < slowRate*int64(m.times.slow)/int64(time.Second)
				from, since = is, now
			}
			if err := find(ctx, is, now.Sub(moved), slow); err != nil {
				cancel(err)
			}
		}
	}()
	return ctx, func() { cancel(nil); <-done }
}

// judge finds a peer that has died, stalls or is slow: it is asked whether it has more. One that waits itself is waited
// for.
func (f *flight) judge(h holder) judge {
	var asked time.Time
	return func(ctx context.Context, at int64, idle time.Duration, slow bool) error {
		if !slow && (idle < f.m.times.silent || time.Since(asked) < f.m.times.silent) {
			return nil
		}
		asked = time.Now()
		said, err := f.probe(ctx, h.ID, f.m.times.answer)
		more := err == nil && (said.Whole || said.Have > at)
		switch {
		case err != nil && !errors.Is(err, errBehind):
			return errSilent
		case more && idle > f.m.times.slow:
			return errStalled
		case more && slow:
			return errSlow
		case idle > f.m.times.origin:
			return errWaits
		}
		return nil
	}
}

// judgeOrigin returns an error for an origin of which nothing comes.
func (m *Mirror) judgeOrigin(_ context.Context, _ int64, idle time.Duration, _ bool) error {
	if idle > m.times.origin {
		return errWaits
	}
	return nil
}
