package node

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/defence"
	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

const (
	candidatesTime = 5 * time.Second  // for a peer to name candidates
	maxWithin      = 60 * time.Second // for a query of others, whatever they say
)

// reply is where a stream waits for the core's answers. The loop closes answers behind the last one.
type reply struct {
	answers chan any
	gone    context.Context // ends when the stream no longer waits
}

func (r reply) gave() bool { return r.gone.Err() != nil }

// asked is a query that a peer asks us to name candidates for, or to forward.
type asked struct {
	from  peer.ID
	query wire.Query
	held  keyCheck
	reply reply
}

// keyCheck is the key store's answer for a key. It is asked before the loop is, which must not wait for a disk.
type keyCheck struct {
	key []byte
	has bool
}

func (n *Node) check(key []byte, private bool) (keyCheck, error) {
	has, err := n.has(key, private)
	return keyCheck{key, has}, err
}

// hasChecked reports whether the node holds the key that the core is being asked for, by the check made before.
func (n *Node) hasChecked(key []byte) bool {
	if n.checked != nil && bytes.Equal(n.checked.key, key) && !n.cfg.off.Has(defence.StoreOutside) {
		return n.checked.has
	}
	has, _ := n.has(key, false)
	return has
}

func (n *Node) serveQuery(s *streams.Stream) error {
	b, err := s.Receive(wire.MaxQuery, streams.IOTime)
	if err != nil {
		return err
	}
	q, err := wire.ParseQuery(b)
	if err != nil {
		return err
	}
	if err := s.Pay(searchWork); err != nil {
		return err
	}
	q.Within = min(q.Within, maxWithin)
	holds, err := n.check(q.Key, false)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(n.ctx, q.Within+time.Second)
	defer cancel()
	r := reply{make(chan any, maxAnswers), ctx}
	if !n.in.OfferRequest(s.Peer, asked{s.Peer, q, holds, r}) {
		return streams.ErrBusy
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case a, ok := <-r.answers:
			if !ok {
				return nil
			}
			if err := sendAnswer(s, a.(wire.Answer)); err != nil {
				return err
			}
		}
	}
}

// sendAnswer sends an answer in as many messages as its records need.
func sendAnswer(s *streams.Stream, a wire.Answer) error {
	for len(a.Records) > wire.MaxAnswerRecords {
		first := wire.Answer{Records: a.Records[:wire.MaxAnswerRecords], Messages: a.Messages}
		a.Records = a.Records[wire.MaxAnswerRecords:]
		if err := s.Send(first.Append(nil)); err != nil {
			return err
		}
	}
	return s.Send(a.Append(nil))
}

// askCandidates asks a linked peer who probably holds a key.
func (n *Node) askCandidates(e routing.AskCandidates) {
	all := routing.CandidatesReceived{ID: e.ID, From: e.To}
	if err := n.reachContact(e); err != nil {
		n.askFailed(e.ID, e.To, err)
		return
	}
	q := wire.Query{Kind: wire.Candidates, Mode: e.Mode, Key: e.Key, Origin: wire.PeerID(n.host.ID()), Within: candidatesTime}
	err := n.query(peer.ID(e.To), q, func(a wire.Answer, size int) {
		all.Bytes += size
		all.Records = append(all.Records, a.Records...)
		all.Messages, all.Depth = a.Messages, a.Depth
	})
	if err != nil {
		n.askFailed(e.ID, e.To, err)
		return
	}
	n.in.Result(n.ctx, all)
}

// reachContact connects to a peer that is asked for candidates, if there is no link.
func (n *Node) reachContact(e routing.AskCandidates) error {
	if len(e.Envelope) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(n.ctx, candidatesTime)
	defer cancel()
	return n.reach(ctx, wire.Record{Peer: e.To, Envelope: e.Envelope}, errandOf(e.ID))
}

// forward hands a query on to a linked peer.
func (n *Node) forward(e routing.Forward, within time.Duration) {
	q := wire.Query{
		Kind: wire.Search, Mode: e.Mode, Nonce: e.Nonce, Origin: e.Origin, Key: e.Key,
		Want: e.Want, Budget: e.Budget, Within: within, Hops: e.Hops, Visited: e.Visited, Fresh: e.Fresh,
	}
	err := n.query(peer.ID(e.To), q, func(a wire.Answer, size int) {
		n.in.Result(n.ctx, routing.ForwardReturned{
			ID: e.ID, From: e.To, Providers: a.Records, Messages: a.Messages, AsOf: a.AsOf, Final: a.Final, Bytes: size,
		})
	})
	if err != nil {
		n.askFailed(e.ID, e.To, err)
	}
}

func (n *Node) askFailed(id routing.QueryID, to wire.PeerID, err error) {
	n.log.Debug("query failed", "peer", peer.ID(to), "err", err)
	n.in.Result(n.ctx, routing.AskFailed{ID: id, Peer: to})
}

// maxAnswers is the most messages of one answer: one for each holder, and the last.
const maxAnswers = routing.MaxNamesAll + 1

// query sends a query and reads answers until the final one. Size is the bytes of an answer, with those of the question
// at the first.
func (n *Node) query(p peer.ID, q wire.Query, take func(a wire.Answer, size int)) (err error) {
	ctx, cancel := context.WithTimeout(n.ctx, q.Within)
	defer cancel()
	s, err := n.streams.Open(ctx, p, QueryID)
	if err != nil {
		return err
	}
	defer func() { s.End(err) }()
	question := q.Append(nil)
	if err = s.Send(question); err != nil {
		return err
	}
	sent := len(question)
	until := time.Now().Add(q.Within)
	for range maxAnswers {
		b, err := s.Receive(wire.MaxAnswer, time.Until(until))
		if err != nil {
			return err
		}
		a, err := wire.ParseAnswer(b)
		if err != nil {
			n.refuse(p, string(QueryID)+" answer", err)
			return err
		}
		take(a, sent+len(b))
		sent = 0
		if a.Final {
			return nil
		}
	}
	return fmt.Errorf("node: more than %d answers", maxAnswers)
}
