package node

import (
	"context"
	"iter"
	"time"
)

// retry calls f until f reports that it is done. It waits between two calls, and gives up when ctx ends or no pause is
// left.
func retry(ctx context.Context, pauses iter.Seq[time.Duration], f func() (done bool)) {
	if f() {
		return
	}
	for d := range pauses {
		if pause(ctx, d); ctx.Err() != nil || f() {
			return
		}
	}
}

// every yields one pause again and again.
func every(d time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for yield(d) {
		}
	}
}

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
