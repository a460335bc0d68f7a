package testnet

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

const (
	// changeEvery is the time between two small changes of a collection. Peers begin at different times.
	changeEvery = 5 * time.Second
	// changeGrace is the time that a change may take to be known everywhere: a summary is published at most every 20 s,
	// and has to travel. A holder counts once it has held the key for changeGrace.
	changeGrace = 30 * time.Second
)

// Churn is the result of a run while collections changed.
type Churn struct {
	Share        float64        `json:"share_per_minute"`
	Minutes      float64        `json:"minutes"`
	Removed      int            `json:"keys_removed"`
	Added        int            `json:"keys_added"`
	GraceSeconds float64        `json:"grace_seconds"` // seconds for which a holder must have held a key to count
	SummaryBytes uint64         `json:"summary_bytes"` // bytes that all peers sent of summaries meanwhile
	PartsBytes   uint64         `json:"parts_bytes"`   // bytes of the parts that deltas replaced meanwhile
	ShareOfParts float64        `json:"share_of_parts"`
	Recall       []MinuteRecall `json:"recall_by_minute"`
}

// MinuteRecall is the recall of the queries begun in one minute.
type MinuteRecall struct {
	FindOne *float64 `json:"find_one"`
	FindAll *float64 `json:"find_all"`
}

// churn changes the collections of a run, as its plan says: every peer drops a number of keys a minute, and adds the
// same number of keys that others hold.
type churn struct {
	r       *run
	length  time.Duration
	changes []sim.Change
	began   time.Time
	ended   time.Duration // time since began

	removed, added int
	before         traffic
	after          traffic
}

// traffic counts the bytes of summaries that all peers have sent up to a time, and of the parts that deltas replaced.
type traffic struct{ summaries, spared uint64 }

func newChurn(r *run) *churn {
	c := &churn{r: r, length: r.cfg.length(), changes: slices.Clone(r.plan.Script.Changes)}
	for i := range c.changes { // each change is delayed to the peer's next turn
		own := time.Duration(strategy.Scramble(uint64(c.changes[i].Peer)) % uint64(changeEvery))
		turns := (c.changes[i].At - own + changeEvery - 1) / changeEvery
		c.changes[i].At = own + max(0, turns)*changeEvery
	}
	slices.SortStableFunc(c.changes, func(a, b sim.Change) int { return cmp.Compare(a.At, b.At) })
	return c
}

// start begins to change the collections. stop waits until length has passed or ctx has ended, and for the last change.
func (c *churn) start(ctx context.Context) (stop func()) {
	c.before = c.traffic(ctx)
	c.began = time.Now()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, change := range c.changes {
			if sleep(ctx, change.At-time.Since(c.began)) != nil || time.Since(c.began) >= c.length {
				return
			}
			c.change(ctx, change)
		}
	}()
	return func() {
		_ = sleep(ctx, c.length-time.Since(c.began))
		cancel()
		<-done
		c.ended = time.Since(c.began)
		c.after = c.traffic(context.WithoutCancel(ctx))
	}
}

// change changes a collection: in the truth, and with the node.
func (c *churn) change(ctx context.Context, x sim.Change) {
	c.r.judge.Note(time.Since(c.began), x.Peer, x.Key, x.Held)
	c.r.cast.change(ctx, x)
	if x.Held {
		c.added++
	} else {
		c.removed++
	}
}

// traffic returns the bytes so far: of summaries from the meters, of replaced parts from the nodes.
func (c *churn) traffic(ctx context.Context) traffic {
	t := traffic{summaries: c.r.summaryBytes()}
	for _, s := range c.r.poll(ctx) {
		t.spared += uint64(s.SparedBytes)
	}
	return t
}

// report returns the changes and bytes meanwhile, and the recall by minute.
func (c *churn) report() *Churn {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	out := &Churn{
		Share: c.r.cfg.Churn, Minutes: c.ended.Minutes(), Removed: c.removed, Added: c.added, GraceSeconds: changeGrace.Seconds(),
		SummaryBytes: c.after.summaries - c.before.summaries, PartsBytes: c.after.spared - c.before.spared,
	}
	if out.PartsBytes > 0 {
		out.ShareOfParts = float64(out.SummaryBytes) / float64(out.PartsBytes)
	}
	var minutes [][]asked
	for _, q := range slices.Concat(c.r.asked...) {
		minute := max(0, int(q.At/60))
		for len(minutes) <= minute {
			minutes = append(minutes, nil)
		}
		minutes[minute] = append(minutes[minute], q)
	}
	for _, m := range minutes {
		out.Recall = append(out.Recall, MinuteRecall{FindOne: of(m, forOne).recall(), FindAll: of(m, forAll).recall()})
	}
	return out
}
