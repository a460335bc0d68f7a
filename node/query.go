package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// QueryOptions set what a query is to find. The zero value: one holder.
type QueryOptions struct {
	All     bool          // every holder
	Want    int           // holders that are enough, if not All; 0 or less: 1
	Others  bool          // look for others even if this node holds the key; else a query for one holder ends at once
	Direct  bool          // nobody forwards the query; it takes a round trip less if nobody has the key
	Private bool          // private keys, too, here and at peers that name this node; only if nobody but its owner sees the answer
	Fresh   time.Duration // greatest age of knowledge that replaces a question; 0: 3 s, negative: always ask
	Budget  int           // most requests and answers; 0 or less: 128, or 640 with All, and 256 more for contacts
	Timeout time.Duration // 0 or less: 10 s; at most the rest of the context's time, and 49 days
}

const queryTime = 10 * time.Second

// Results are the answers to a query, as they come in. They are safe for concurrent use.
type Results struct {
	id    routing.QueryID
	mu    sync.Mutex
	found []peer.AddrInfo
	stats QueryStats
	err   error
	more  chan struct{} // closed, and replaced, when there is more
	done  chan struct{}
	over  bool
	stop  func() bool // ends the watch over the context
}

// Query looks for peers that hold key, which the caller may change afterwards. It returns as soon as the query has begun.
// The query goes on until it is over or ctx ends. Each confirmation is two messages of tens of bytes, with the key. The
// errors: ErrKey, ErrClosed, ctx's, the key store's.
func (n *Node) Query(ctx context.Context, key []byte, o QueryOptions) (*Results, error) {
	if len(key) < 1 || len(key) > wire.MaxKey {
		return nil, fmt.Errorf("%w: has %d", ErrKey, len(key))
	}
	key = bytes.Clone(key) // the query needs it for as long as it runs
	q := routing.Query{Key: key, Mode: wire.Any, Want: max(1, o.Want), Others: o.Others, Direct: o.Direct, Private: o.Private, Fresh: o.Fresh, Budget: max(0, o.Budget)}
	if o.All {
		q.Mode = wire.All
	}
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = queryTime
	}
	if t, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(t))
	}
	q.Deadline = n.now() + min(timeout, wire.MaxWithin)
	holds, err := n.check(key, o.Private)
	if err != nil {
		return nil, err
	}
	r := &Results{more: make(chan struct{}), done: make(chan struct{})}
	if err := n.view(ctx, func(l *loop) { l.start(q, holds, r) }); err != nil {
		return nil, err
	}
	r.watch(context.AfterFunc(ctx, func() { _ = n.view(context.Background(), func(l *loop) { l.cancel(r) }) }))
	return r, nil
}

// Providers yields every holder found, each once, waiting for the next, until the query is over. Each call begins with
// the first. It never yields the node itself: QueryStats.Self says whether the node holds the key.
func (r *Results) Providers() iter.Seq[peer.AddrInfo] {
	return func(yield func(peer.AddrInfo) bool) {
		for i := 0; ; i++ {
			p, ok := r.nth(i)
			if !ok || !yield(p) {
				return
			}
		}
	}
}

// nth waits for holder number i, from 0; false if the query ends with fewer.
func (r *Results) nth(i int) (peer.AddrInfo, bool) {
	for {
		r.mu.Lock()
		if i < len(r.found) {
			defer r.mu.Unlock()
			return r.found[i], true
		}
		over, more := r.over, r.more
		r.mu.Unlock()
		if over {
			return peer.AddrInfo{}, false
		}
		<-more
	}
}

// The values of QueryStats.End. A later version may have more.
const (
	Enough      = "enough"        // the wanted number was found
	Exhausted   = "exhausted"     // everybody worth asking was asked
	OutOfBudget = "out of budget" // more could have been asked with a larger budget
	OutOfTime   = "out of time"   // the deadline came
	Cancelled   = "cancelled"     // the caller ended the query
	Refused     = "refused"       // the query never ran
)

// The values of Question.Why. A later version may have more.
const (
	Matched   = "matched"   // its summary matches the key
	Named     = "named"     // a contact named it
	Returned  = "returned"  // a forwarded query found it
	Forwarded = "forwarded" // the query was forwarded to it
	Linked    = "linked"    // nothing indicated it: all linked peers were asked
	Contact   = "contact"   // it was asked to name peers that may have the key
)

// The values of Question.Result. A later version may have more.
const (
	Pending  = "pending"  // nothing yet, when the query ended
	Holds    = "holds"    // it holds the key
	Lacks    = "lacks"    // it lacks the key
	Failed   = "failed"   // no answer
	Answered = "answered" // it named peers, or answered a forwarded query
)

// QueryStats has the cost and the result of a query.
type QueryStats struct {
	End         string        // why it ended: Enough and the like
	Self        bool          // the node holds the key itself
	Found       int           // holders found, without this node
	Probes      int           // confirmations asked, repeats after a failure included
	FalseProbes int           // confirmations answered with no, by peers whose summary matched or that others named
	Messages    int           // requests and answers, including those that forwarding caused elsewhere
	Elapsed     time.Duration // time from the beginning to the end
	Covered     float64       // share of the network, 0 to 1, by places, that was asked or is known here
	// AsOf is the age, at the end, of the oldest knowledge of a linked peer's keys that replaced a question to it. 0:
	// no question was replaced. Knowledge counts while no holder is found, here or at a peer to which the query was
	// forwarded. There it counts even if others find a holder. Answers of contacts have no age.
	AsOf      time.Duration
	Explain   []Question // questions in the order of asking
	Inquiries int        // number of peers asked for more contacts; they are not in Explain
}

// Question is one question of a query to a peer.
type Question struct {
	Peer        peer.ID
	Why         string        // why it was asked: Matched and the like
	Probability float64       // estimate that the peer has the key, 0 to 1; 0 for contacts and forwarding
	Result      string        // what came back: Pending and the like
	Names       int           // number of peers that a contact or a forwarded query named
	At          time.Duration // time from the query's beginning to the question
	Took        time.Duration // time from the question to the last answer, or until it was given up; 0: pending
	Bytes       int           // size of question and answers, as the host counts them; 0: not known
	Range       string        // range that a contact's answer counts for: first bits of its places, or "all"; "": none
}

// queryStats converts routing's figures of a query.
func queryStats(s routing.Stats) QueryStats {
	out := QueryStats{
		End: s.End.String(), Self: s.Self, Found: s.Found, Probes: s.Probes, FalseProbes: s.FalseProbes, Messages: s.Messages,
		Elapsed: s.Elapsed, Covered: s.Covered, AsOf: s.AsOf, Inquiries: s.Inquiries,
	}
	for _, r := range s.Explain {
		question := Question{peer.ID(r.Peer), r.Why.String(), r.Probability, r.Result.String(), r.Names, r.At, r.Took, r.Bytes, ""}
		if r.Ranged {
			question.Range = r.Range.String()
		}
		out.Explain = append(out.Explain, question)
	}
	return out
}

// Stats waits until the query is over and returns its cost. The error is the reason why it was refused, or ErrClosed.
// It is no error that time or budget ran out: see QueryStats.End.
func (r *Results) Stats() (QueryStats, error) {
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats, r.err
}

func (r *Results) add(p peer.AddrInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = append(r.found, p)
	close(r.more)
	r.more = make(chan struct{})
}

func (r *Results) finish(s QueryStats, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.over, r.stats, r.err = true, s, err
	close(r.more)
	close(r.done)
	if r.stop != nil {
		r.stop()
	}
}

// watch keeps stop, which ends the watch over the query's context, until the query is over.
func (r *Results) watch(stop func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop = stop
	if r.over {
		stop()
	}
}

// queryError returns the fault of a Done as an error; nil if there is none.
func queryError(s string) error {
	if s == "" {
		return nil
	}
	return errors.New("node: query: " + s)
}
