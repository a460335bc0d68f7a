package node

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/internal/limits"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// TestManyAnswers: a search for all holders that are found faster than they are sent loses none.
func TestManyAnswers(t *testing.T) {
	n, asker := newNode(t), newNode(t)
	connect(t, asker, n)
	found := make(chan []wire.Record, 1)
	began := make(chan struct{})
	go func() {
		<-began
		var all []wire.Record
		q := wire.Query{Kind: wire.Search, Mode: wire.All, Key: []byte("k"), Origin: "origin", Budget: 10, Hops: 1, Within: time.Minute}
		if err := asker.answersTo(n.ID(), q, func(a wire.Answer, _ int) { all = append(all, a.Records...) }); err != nil {
			t.Error(err)
		}
		found <- all
	}()
	look(t, n, func(l *loop) { // the loop finds them at once, when it goes on
		close(began)
		for late := time.After(time.Minute); ; {
			select {
			case <-late:
				t.Error("no question came")
				return
			case in := <-l.n.in.Requests:
				if q, ok := in.(asked); ok {
					answerAll(l, q.reply)
					return
				}
			}
		}
	})
	if all := <-found; len(all) != routing.MaxNamesAll {
		t.Errorf("%d of %d holders came", len(all), routing.MaxNamesAll)
	}
}

// answerAll gives a search all the answers that there may be.
func answerAll(l *loop, r reply) {
	id := l.expect(r)
	for _, p := range keysOf("p", routing.MaxNamesAll) {
		l.answer(event.Answer{Request: id, Answer: wire.Answer{Records: []wire.Record{{Peer: wire.PeerID(p)}}}})
	}
	l.answer(event.Answer{Request: id, Answer: wire.Answer{Final: true}})
}

// TestRefusalIsNoAnswer: a question for which the asker lacks credit is not answered, for an empty answer would say that
// nobody holds the key, or that there are no peers. With credit, each is.
func TestRefusalIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id       protocol.ID
		question func(i int) wire.Message
	}{
		{QueryID, func(i int) wire.Message {
			return wire.Query{Kind: wire.Search, Nonce: uint64(i), Origin: "origin", Key: []byte("k"), Want: 1, Within: time.Second}
		}},
		{QueryID, func(int) wire.Message {
			return wire.Query{Kind: wire.Candidates, Key: []byte("k"), Want: 1, Within: time.Second}
		}},
		{PeersID, func(int) wire.Message { return wire.Inquiry{Near: true} }},
	} {
		for _, credit := range []float64{1e-6, 1} {
			n := newNode(t, WithLimits(limits.Limits{Core: func(of *core.Config) {
				of.Routing.Limits.Work = credit
				if credit < 1 {
					of.Overlay.Up = 1000 // bit/s
				}
			}}))
			other := newNode(t) // to be named
			add(t, other, []byte("other"))
			connect(t, other, n)
			eventually(t, "there is somebody to name", func() bool { return knows(n, other) })
			r := newRaw(t, n)
			refused := 0
			for i := range 10 {
				if answer, err := r.exchange(n, c.id, frame(c.question(i).Append(nil))); err != nil {
					refused++
				} else if len(answer) == 0 {
					t.Errorf("%s: the end of the stream is no refusal", c.id)
				}
			}
			if (refused > 0) != (credit < 1) {
				t.Errorf("%s %T with credit for %g: %d of 10 are refused", c.id, c.question(0), credit, refused)
			}
		}
	}
}

// TestMalformedHaveAnswer: an answer of have that cannot be read is its sender's fault, as of other questions.
func TestMalformedHaveAnswer(t *testing.T) {
	n := newNode(t)
	r := newRaw(t, n)
	r.h.SetStreamHandler(wire.ProtocolIn("venn", HaveID), func(s network.Stream) {
		_, _ = wire.ReadFrame(s, wire.MaxHave, nil)
		_, _ = s.Write(frame([]byte{0xff, 0xff, 0xff}))
		_ = s.Close()
	})
	_, _, err := n.haveOnce(t.Context(), wire.Record{Peer: wire.PeerID(r.h.ID())}, wire.HaveRequest{Keys: [][]byte{[]byte("k")}}, forQuery)
	if got := refusals(t, n)["/venn/have/1.0.0 answer malformed"]; err == nil || got != 1 {
		t.Errorf("%v; %d refused", err, got)
	}
}

// TestDeadConfirmations: confirmations that wait for a slow peer are not sent once their search is over.
func TestDeadConfirmations(t *testing.T) {
	n, to := newNode(t), newStranger(t)
	look(t, n, func(l *loop) {
		for i := range 1000 {
			q := wire.HaveRequest{Keys: [][]byte{{byte(i), byte(i >> 8), 1}}}
			l.asks[to.id] = append(l.asks[to.id], event.Ask{Search: 1 << 40, To: wire.Record{Peer: wire.PeerID(to.id)}, Question: q})
		}
		l.confirmed(confirmed{peer: to.id})
		if waiting, under := l.asks[to.id]; under {
			t.Errorf("a batch is under way, %d confirmations wait", len(waiting))
		}
	})
}
