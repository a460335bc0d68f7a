// Package oracle asks peers that are known to hold the key.
package oracle

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/probe"
)

// Strategy asks a peer that is known to hold the key. No strategy finds with fewer messages than this question and its
// answer. Some are faster: they have a connection where the oracle needs a new one, or ask several holders and take the
// quickest answer.
var Strategy = strategy.Strategy{
	Name:   "oracle",
	Source: "none: the truth, looked up",
	Model:  "the nearest holder that is online is asked; for find-all, every holder. No upkeep.",
	Open: func(w strategy.World) (strategy.Factory, error) {
		return func(h strategy.Host) strategy.Peer {
			return &peer{host: h, world: &w, open: map[strategy.QueryID]int{}}
		}, nil
	},
}

type peer struct {
	host  strategy.Host
	world *strategy.World
	open  map[strategy.QueryID]int // answers to come
}

func (o *peer) Step(_ time.Duration, in strategy.Input) {
	switch in := in.(type) {
	case strategy.Started:
		o.start(in.Query)
	case strategy.Received:
		o.receive(in.From, in.Message)
	case strategy.Failed:
		o.close(in.Message.Query)
	}
}

func (o *peer) start(q strategy.Query) {
	to := o.holders(q)
	for _, p := range to {
		o.host.Send(p, strategy.Message{Body: probe.Ask{Key: q.Key}, Bytes: probe.AskBytes, Query: q.ID})
	}
	o.open[q.ID] = len(to)
	if len(to) == 0 {
		o.close(q.ID)
	}
}

// holders returns the peers to ask.
func (o *peer) holders(q strategy.Query) []strategy.ID {
	var out []strategy.ID
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

func (o *peer) receive(from strategy.ID, m strategy.Message) {
	switch b := m.Body.(type) {
	case probe.Ask:
		has := o.host.Look(m.Query, b.Key)
		o.host.Send(from, strategy.Message{Body: probe.Answer{Has: has}, Bytes: probe.AnswerBytes, Query: m.Query})
	case probe.Answer:
		if b.Has {
			o.host.Found(m.Query, from, 1)
		}
		o.close(m.Query)
	}
}

// close counts an answer, or none to come.
func (o *peer) close(q strategy.QueryID) {
	if o.open[q]--; o.open[q] <= 0 {
		delete(o.open, q)
		o.host.Done(q)
	}
}
