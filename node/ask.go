package node

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// maxWithin bounds the time for a query of others, whatever they say.
const maxWithin = 60 * time.Second

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
	if n.checked != nil && bytes.Equal(n.checked.key, key) {
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

// askQuery puts a query to a peer, and hands its answers to the loop. That to who may hold the key is one, however many
// messages it takes.
func (n *Node) askQuery(e routing.Ask) {
	all := routing.AnswerReceived{ID: e.ID, From: e.To.Peer, Kind: e.Kind}
	err := n.reachContact(e)
	if err == nil {
		err = n.query(peer.ID(e.To.Peer), e.Query, func(a wire.Answer, size int) {
			if e.Kind == wire.Search {
				n.in.Result(n.ctx, routing.AnswerReceived{ID: e.ID, From: e.To.Peer, Kind: e.Kind, Answer: a, Bytes: size})
				return
			}
			a.Records = append(all.Records, a.Records...)
			all.Answer, all.Bytes = a, all.Bytes+size
		})
	}
	switch {
	case err != nil:
		n.log.Debug("query failed", "peer", peer.ID(e.To.Peer), "err", err)
		n.in.Result(n.ctx, routing.AskFailed{ID: e.ID, Peer: e.To.Peer})
	case e.Kind == wire.Candidates:
		n.in.Result(n.ctx, all)
	}
}

// reachContact connects to a peer that is asked for candidates, if there is no link.
func (n *Node) reachContact(e routing.Ask) error {
	if len(e.To.Envelope) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(n.ctx, e.Within)
	defer cancel()
	return n.reach(ctx, e.To, errandOf(e.ID))
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
			n.unread(p, QueryID, err)
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
