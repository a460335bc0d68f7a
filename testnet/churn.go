package testnet

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// changeEvery is the time between two small changes of a collection. Peers begin at different times.
	changeEvery = 5 * time.Second
	changeTick  = 100 * time.Millisecond
	// changeGrace is the time that a change may take to be known everywhere: a summary is published at most every 20 s,
	// and has to travel. A holder counts once it has held the key for that time.
	changeGrace = 30 * time.Second
)

// Churn is the result of a run while collections changed.
type Churn struct {
	Share        float64        `json:"share_per_minute"`
	Minutes      float64        `json:"minutes"`
	Removed      int            `json:"keys_removed"`
	Added        int            `json:"keys_added"`
	GraceSeconds float64        `json:"grace_seconds"` // a holder counts that has held the key for as long
	SummaryBytes uint64         `json:"summary_bytes"` // sent meanwhile by all, for whatever reason
	PartsBytes   uint64         `json:"parts_bytes"`   // of the parts that the deltas taken meanwhile came in place of
	ShareOfParts float64        `json:"share_of_parts"`
	Recall       []MinuteRecall `json:"recall_by_minute"`
}

// MinuteRecall is the recall of the queries begun in one minute.
type MinuteRecall struct {
	FindOne *float64 `json:"find_one"`
	FindAll *float64 `json:"find_all"`
}

// churn changes the collections of a run. Every peer removes a number of keys a minute, and adds the same number of
// keys that others hold.
type churn struct {
	r      *run
	rng    *rand.Rand
	length time.Duration
	began  time.Time
	ended  time.Duration // since began
	peers  []changer

	removed, added int
	before         traffic
	after          traffic
}

// changer is the time of a peer's next change, and the fraction of a key carried over to it.
type changer struct {
	next  time.Duration
	carry float64
}

// traffic counts the bytes sent by some time.
type traffic struct{ summaries, spared uint64 }

func newChurn(r *run) *churn {
	c := &churn{
		r: r, rng: r.cfg.random(changing), length: time.Duration(r.cfg.Minutes * float64(time.Minute)),
		peers: make([]changer, len(r.data.Peers())),
	}
	for i := range c.peers {
		c.peers[i].next = time.Duration(c.rng.Int64N(int64(4 * changeEvery)))
	}
	return c
}

// start begins to change the collections; stop ends it and waits for the end.
func (c *churn) start(ctx context.Context) (stop func()) {
	c.before = c.traffic(ctx)
	c.began = time.Now()
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for time.Since(c.began) < c.length && sleep(ctx, changeTick) == nil {
			c.change(ctx, time.Since(c.began))
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

// change changes the collections whose time has come.
func (c *churn) change(ctx context.Context, now time.Duration) {
	for i := range c.peers {
		p := &c.peers[i]
		for now >= p.next && ctx.Err() == nil {
			p.next += changeEvery
			p.carry += c.r.cfg.Churn * float64(c.r.members[i].keys.count()) * changeEvery.Minutes()
			for ; p.carry >= 1; p.carry-- {
				c.exchange(ctx, i)
			}
		}
	}
}

// exchange removes a key of a peer and adds one that another peer holds: in the truth, and with the node.
func (c *churn) exchange(ctx context.Context, peer int) {
	m := c.r.members[peer]
	if key, ok := m.keys.any(c.rng); ok {
		c.r.judge.Note(time.Since(c.began), m.keys.of, key, false)
		c.r.change(ctx, m.keys.of, key, false)
		c.removed++
	}
	const tries = 50 // a peer that holds nearly all keys adds fewer
	for range tries {
		other := c.r.members[c.rng.IntN(len(c.r.members))]
		key, ok := other.keys.any(c.rng)
		if !ok || c.r.holds(m.keys.of, key) {
			continue
		}
		c.r.judge.Note(time.Since(c.began), m.keys.of, key, true)
		c.r.change(ctx, m.keys.of, key, true)
		c.added++
		return
	}
}

// traffic asks all nodes for the bytes sent so far.
func (c *churn) traffic(ctx context.Context) traffic {
	t := traffic{summaries: c.r.summaryBytes()}
	for _, s := range c.r.poll(ctx) {
		t.spared += uint64(s.SparedBytes)
	}
	return t
}

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
