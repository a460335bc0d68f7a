package node

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// confirmed is the result of a batch of confirmations.
type confirmed struct {
	peer  peer.ID
	begun time.Duration // when the batch was sent
	asked []event.Ask
	has   []bool
	rtt   time.Duration
	bytes int // size of question and answer together, divided by the number of keys
	err   error
}

// confirm asks a peer whether it holds a key: at once, or in the next batch while one is under way to the peer.
func (l *loop) confirm(c event.Ask) {
	p := peer.ID(c.To.Peer)
	next, under := l.asks[p]
	if under {
		l.asks[p] = append(next, c)
		return
	}
	l.asks[p] = nil
	l.confirmAll(p, []event.Ask{c})
}

// asksPrivate reports whether a confirmation asks for private keys, too.
func asksPrivate(c event.Ask) bool { return c.Question.(wire.HaveRequest).Private }

// together returns the questions of confirmations as one. All ask for private keys, or none does.
func together(batch []event.Ask) wire.HaveRequest {
	q := wire.HaveRequest{Keys: make([][]byte, len(batch)), Private: asksPrivate(batch[0])}
	for i, c := range batch {
		q.Keys[i] = c.Question.(wire.HaveRequest).Keys[0]
	}
	return q
}

// confirmAll sends a peer one batch of confirmations: all ask for private keys, or none does. The loop gets the result.
func (l *loop) confirmAll(p peer.ID, batch []event.Ask) {
	q, e, begun := together(batch), errandOf(batch[0]), l.n.now()
	l.n.tasks.Run(func() {
		ctx, cancel := context.WithTimeout(l.n.ctx, queryTime)
		defer cancel()
		has, rtt, err := l.n.have(ctx, batch[0].To, q, e)
		if slices.Contains(has, true) {
			l.n.verifyOutside(batch[0].To) // the loop opens a holder's record
		}
		l.n.in.Result(l.n.ctx, confirmed{p, begun, batch, has, rtt, haveBytes(q), err})
	})
}

// confirmed gives the core the results of a batch. Then it sends the next batch, without the queries that are over.
func (l *loop) confirmed(r confirmed) {
	if r.err == nil {
		l.n.host.Peerstore().RecordLatency(r.peer, r.rtt)
	}
	// If the peer was linked since the question, the peer has not failed, only the connection of that time.
	here := errors.Is(r.err, errFull) || errors.Is(r.err, errUnrecorded) || l.linked(r.peer).since > r.begun
	for i, c := range r.asked {
		a := event.Answered{Ask: c, Here: here}
		if r.err == nil {
			a = event.Answered{Ask: c, Answer: wire.HaveAnswer{r.has[i]}, Bytes: r.bytes}
		}
		l.step(a)
	}
	if r.err != nil {
		l.n.log.Debug("confirm failed", "peer", r.peer, "err", r.err)
	}
	over := func(c event.Ask) bool { return !l.core.Routing.Open(routing.QueryID(c.Search)) }
	next := slices.DeleteFunc(l.asks[r.peer], over)
	if len(next) == 0 {
		delete(l.asks, r.peer)
		return
	}
	// The one that has waited for longest decides whether the batch asks for private keys.
	var batch, rest []event.Ask
	for _, c := range next {
		if asksPrivate(c) == asksPrivate(next[0]) {
			batch = append(batch, c)
		} else {
			rest = append(rest, c)
		}
	}
	k := wire.HaveFits(together(batch).Keys)
	l.asks[r.peer] = append(rest, batch[k:]...)
	l.confirmAll(r.peer, batch[:k])
}

// haveBytes returns the bytes of a question and its answer, divided by the number of keys and rounded up.
func haveBytes(q wire.HaveRequest) int {
	both := q.Size() + wire.HaveAnswer(make([]bool, len(q.Keys))).Size()
	return (both + len(q.Keys) - 1) / len(q.Keys)
}

// haveAgain are the pauses before a confirmation that failed on a connection is tried again: the other end may just
// have closed it. After a failed dial, it is not tried again.
var haveAgain = []time.Duration{20 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond}

// have asks the peer of a record which of the keys it holds, in as many messages as the keys need. After an error, has
// is about the first keys only. rtt is that of the last message.
func (n *Node) have(ctx context.Context, to wire.Record, q wire.HaveRequest, e errand) (has []bool, rtt time.Duration, err error) {
	for len(has) < len(q.Keys) && err == nil {
		batch := wire.HaveRequest{Keys: q.Keys[len(has):], Private: q.Private}
		batch.Keys = batch.Keys[:wire.HaveFits(batch.Keys)]
		var some []bool
		tries := 0
		retry(ctx, slices.Values(haveAgain), func() bool {
			some, rtt, err = n.haveOnce(ctx, to, batch, e)
			tries++
			return err == nil || errors.Is(err, errDial) && tries >= n.cfg.limits.Dials
		})
		has = append(has, some...)
	}
	return has, rtt, err
}

// haveOnce connects to the peer if need be, and asks it once. rtt is the time from the question to the answer.
func (n *Node) haveOnce(ctx context.Context, to wire.Record, q wire.HaveRequest, e errand) (has []bool, rtt time.Duration, err error) {
	opening, cancel := context.WithTimeout(ctx, streams.OpenTime)
	defer cancel()
	if err := n.reach(opening, to, e); err != nil {
		return nil, 0, err
	}
	err = n.put(opening, peer.ID(to.Peer), HaveID, q, func(s *streams.Stream) error {
		defer context.AfterFunc(ctx, func() { _ = s.Reset() })()
		begun := time.Now()
		parse := func(b []byte) (wire.HaveAnswer, error) { return wire.ParseHaveAnswer(b, len(q.Keys)) }
		has, _, err = answerOn(n, s, HaveID, wire.MaxHaveAnswer, streams.IOTime, parse)
		rtt = time.Since(begun)
		return err
	})
	return has, rtt, err
}

// havePrice returns the price of a question for keys.
func havePrice(q wire.HaveRequest) time.Duration { return time.Duration(len(q.Keys)) * admit.Key }

func (n *Node) serveHave(s *streams.Stream, q wire.HaveRequest) (err error) {
	has, private := make([]bool, len(q.Keys)), q.Private && n.mayAskPrivate(s.Peer)
	for i, k := range q.Keys {
		if has[i], err = n.has(k, private); err != nil {
			return err // rather than a false no
		}
	}
	return s.Send(wire.HaveAnswer(has).Append(nil))
}
