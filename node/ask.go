package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// maxWithin is the longest time for which this node works on another peer's query, even if the query allows more.
const maxWithin = 60 * time.Second

// reply is the queue of the core's answers for a waiting stream. The loop closes the channel after the last answer. A
// nil answer refuses the question.
type reply struct {
	answers chan wire.Message
	gone    context.Context // ends when the stream no longer waits
}

func (r reply) gave() bool { return r.gone.Err() != nil }

// asked is a question of a peer that the core answers.
type asked struct {
	from     peer.ID
	group    string // address group of the peer
	question wire.Message
	held     keyCheck // whether the key store holds the key of a query
	reply    reply
}

// keyCheck tells whether the key store holds a key. It is made outside the loop, which must not wait for a disk.
type keyCheck struct {
	key []byte
	has bool
}

func (n *Node) check(key []byte, private bool) (keyCheck, error) {
	has, err := n.has(key, private)
	return keyCheck{key, has}, err
}

// hasChecked reports whether the node holds a key, for the core: by the check made before, else by the key store.
func (l *loop) hasChecked(key []byte) bool {
	if l.checked != nil && bytes.Equal(l.checked.key, key) {
		return l.checked.has
	}
	has, _ := l.n.has(key, false)
	return has
}

// serve returns the handler of a protocol of questions. The handler reads and parses a question of at most limit bytes,
// charges the peer its price, and then answers it.
func serve[Q any](limit int, parse func([]byte) (Q, error), price func(Q) time.Duration, answer func(*streams.Stream, Q) error) func(*streams.Stream) error {
	return func(s *streams.Stream) error {
		b, err := s.Receive(limit, streams.IOTime)
		if err != nil {
			return err
		}
		q, err := parse(b)
		if err != nil {
			return err
		}
		if err := s.Pay(price(q)); err != nil {
			return err
		}
		return answer(s, q)
	}
}

// priced returns a price that is the same for all questions.
func priced[Q any](price time.Duration) func(Q) time.Duration {
	return func(Q) time.Duration { return price }
}

// put sends a question to a connected peer on a new stream of a protocol. Then the function answers reads the stream.
// ctx limits only the time to open the stream.
func (n *Node) put(ctx context.Context, p peer.ID, id protocol.ID, question wire.Message, answers func(*streams.Stream) error) (err error) {
	s, err := n.streams.Open(ctx, p, id)
	if err != nil {
		return err
	}
	defer func() { s.End(err) }()
	if err = s.Send(question.Append(nil)); err != nil {
		return err
	}
	return answers(s)
}

// answerOn receives an answer of at most limit bytes on a stream of a protocol, and returns it with its size in bytes.
// A malformed answer is counted as the peer's fault.
func answerOn[A any](n *Node, s *streams.Stream, id protocol.ID, limit int, within time.Duration, parse func([]byte) (A, error)) (a A, size int, err error) {
	b, err := s.Receive(limit, within)
	if err != nil {
		return a, 0, err
	}
	a, err = parse(b)
	n.unread(s.Peer, id, err)
	return a, len(b), err
}

func (n *Node) serveQuery(s *streams.Stream, q wire.Query) error {
	q.Within = min(q.Within, maxWithin)
	holds, err := n.check(q.Key, false)
	if err != nil {
		return err
	}
	return n.relay(s, asked{question: q, held: holds}, maxAnswers, q.Within+time.Second)
}

// relay hands a peer's question to the loop, and sends the core's answers on the stream until the last one. It gives up
// after the time within. answers is the number of answers that may wait to be sent.
func (n *Node) relay(s *streams.Stream, q asked, answers int, within time.Duration) error {
	ctx, cancel := context.WithTimeout(s.Context(), within)
	defer cancel()
	q.from, q.group, q.reply = s.Peer, s.Who().Group, reply{make(chan wire.Message, answers), ctx}
	if err := n.in.Request(ctx, q); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m, ok := <-q.reply.answers:
			if !ok {
				return nil
			}
			if m == nil {
				return streams.ErrBusy
			}
			var err error
			if a, search := m.(wire.Answer); search {
				err = sendAnswer(s, a)
			} else {
				err = s.SendWithin(m.Append(nil), streams.TransferTime)
			}
			if err != nil {
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

// ask has a question of the core's sent to a peer. Confirmations for one peer are sent in batches.
func (l *loop) ask(e event.Ask) {
	if _, confirms := e.Question.(wire.HaveRequest); confirms {
		l.confirm(e)
		return
	}
	l.n.tasks.Run(func() { l.n.ask(e) })
}

// ask sends a question to a peer, and hands the answer, or the lack of one, to the loop.
func (n *Node) ask(e event.Ask) {
	a := event.Answered{Ask: e}
	var err error
	switch q := e.Question.(type) {
	case wire.PartsRequest:
		a.Answer, a.Bytes, err = n.fetch(e.To, q)
	case wire.Inquiry:
		a.Answer, err = n.inquire(e.To, q)
	case wire.Query:
		a.Answer, a.Bytes, err = n.query(e, q)
	}
	if err != nil {
		n.log.Debug("no answer", "peer", peer.ID(e.To.Peer), "to", fmt.Sprintf("%T", e.Question), "err", err)
		a = event.Answered{Ask: e, Here: errors.Is(err, errFull)}
	}
	n.in.Result(n.ctx, a)
}

// query sends a query to a peer and returns the last answer, with its size in bytes. Earlier answers of a search go to
// the loop at once. The messages of an answer that names candidates are joined into one.
func (n *Node) query(e event.Ask, q wire.Query) (all wire.Answer, size int, err error) {
	if err := n.reachContact(e.To, q.Within, errandOf(e)); err != nil {
		return all, 0, err
	}
	err = n.answersTo(peer.ID(e.To.Peer), q, func(a wire.Answer, bytes int) {
		if q.Kind == wire.Search && !a.Final {
			n.in.Result(n.ctx, event.Answered{Ask: e, Answer: a, Bytes: bytes})
			return
		}
		a.Records = append(all.Records, a.Records...)
		all, size = a, size+bytes
	})
	return all, size, err
}

// reachContact connects to the peer of a record. Without an envelope it does nothing: there must be a connection.
func (n *Node) reachContact(to wire.Record, within time.Duration, e errand) error {
	if len(to.Envelope) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(n.ctx, within)
	defer cancel()
	return n.reach(ctx, to, e)
}

// maxAnswers is the largest number of messages that answer one query: one for each holder, and the final one.
const maxAnswers = routing.MaxNamesAll + 1

// answersTo sends a query and calls take with each answer, up to the final one. size is the answer's size in bytes; the
// first size includes the question.
func (n *Node) answersTo(p peer.ID, q wire.Query, take func(a wire.Answer, size int)) error {
	ctx, cancel := context.WithTimeout(n.ctx, q.Within)
	defer cancel()
	return n.put(ctx, p, QueryID, q, func(s *streams.Stream) error {
		sent, until := q.Size(), time.Now().Add(q.Within)
		for range maxAnswers {
			a, size, err := answerOn(n, s, QueryID, wire.MaxAnswer, time.Until(until), wire.ParseAnswer)
			if err != nil {
				return err
			}
			take(a, sent+size)
			sent = 0
			if a.Final {
				return nil
			}
		}
		return fmt.Errorf("node: more than %d answers", maxAnswers)
	})
}
