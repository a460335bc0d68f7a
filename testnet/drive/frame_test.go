package drive

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// A pipe that its sender has left is there until a slow receiver takes it, and what is in it fails when none does.
func TestPipeLeft(t *testing.T) {
	for name, c := range map[string]struct {
		after  time.Duration // until the receiver takes it
		failed bool
	}{
		"taken":          {after: headTimeout - time.Second},
		"taken too late": {after: headTimeout + time.Second, failed: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := &Network{ctx: t.Context()}
			sender := &member{net: n, inbox: make(chan event, 1)}
			n.peers = []*member{sender, {net: n}}
			number, p := n.pipes.add(0, 1)
			p.frames <- &frame{to: 1, kind: received, message: strategy.Message{Query: 7}}
			var got *pipe
			time.AfterFunc(c.after, func() { got = n.pipes.take(number, 0, 1) })
			n.pipes.leave(n, number, p)
			time.Sleep(2 * headTimeout)
			synctest.Wait()
			if taken := got == p; taken == c.failed || len(sender.inbox) == 1 != c.failed || len(n.pipes.open) > 0 {
				t.Errorf("%s: taken %t, %d failures, %d pipes", name, taken, len(sender.inbox), len(n.pipes.open))
			}
		})
	}
}

// A outbox waits for its pipe to be taken no longer than the run goes on.
func TestPipeLeftAtEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := &Network{ctx: ctx}
	number, p := n.pipes.add(0, 1)
	cancel()
	n.pipes.leave(n, number, p)
}
