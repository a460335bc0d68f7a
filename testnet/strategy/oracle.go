package strategy

import (
	"time"
)

// Oracle asks a peer that is known to hold the key. No strategy finds with fewer messages than this question and its answer. Some are
// faster: they have a connection where the oracle needs a new one, or ask several holders of which the quickest counts.
var Oracle = Strategy{
	Name:   "oracle",
	Source: "none: the truth, looked up",
	Model:  "the nearest holder that is online is asked; for find-all, every holder. No upkeep.",
	Open: func(w World) (Factory, error) {
		return func(h Host) Peer { return &oracle{host: h, world: &w, open: map[QueryID]int{}} }, nil
	},
}

type oracle struct {
	host  Host
	world *World
	open  map[QueryID]int // answers to come
}

func (o *oracle) Step(_ time.Duration, in Input) {
	switch in := in.(type) {
	case Started:
		o.start(in.Query)
	case Received:
		o.receive(in.From, in.Message)
	case Failed:
		o.close(in.Message.Query)
	}
}

func (o *oracle) start(q Query) {
	to := o.holders(q)
	for _, p := range to {
		o.host.Send(p, Message{Body: haveAsk{q.Key}, Bytes: haveAskBytes, Query: q.ID})
	}
	o.open[q.ID] = len(to)
	if len(to) == 0 {
		o.close(q.ID)
	}
}

// holders are the peers to ask.
func (o *oracle) holders(q Query) []ID {
	var out []ID
	self := o.host.Self()
	for _, p := range o.world.Holders(q.Key) {
		switch {
		case p == self || !o.world.Online(p):
		case q.All || len(out) == 0:
			out = append(out, p)
		case o.world.Latency(self, p) < o.world.Latency(self, out[0]):
			out[0] = p
		}
	}
	return out
}

func (o *oracle) receive(from ID, m Message) {
	switch b := m.Body.(type) {
	case haveAsk:
		has := o.host.Look(m.Query, b.key)
		o.host.Send(from, Message{Body: haveAnswer{has}, Bytes: haveAnswerBytes, Query: m.Query})
	case haveAnswer:
		if b.has {
			o.host.Found(m.Query, from, 1)
		}
		o.close(m.Query)
	}
}

// close counts an answer, or none to come.
func (o *oracle) close(q QueryID) {
	if o.open[q]--; o.open[q] <= 0 {
		delete(o.open, q)
		o.host.Done(q)
	}
}
