// Package tracker has a strategy in which one peer knows all collections: an engineer's first choice.
package tracker

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Strategy tells peer 0, the tracker, all keys, and asks it for holders. A query costs a question to the tracker and
// one to a holder. The tracker's line and memory grow with the network, and without the tracker nothing is found.
var Strategy = strategy.Strategy{
	Name:   "tracker",
	Source: "none: one process that knows all, as trackers and indexers do",
	Model: "peer 0 is the tracker, with the line and the sessions of any other peer. Each peer tells it its keys when it comes, 34 " +
		"bytes each, every change of them, and that it leaves. The tracker names up to 20 holders by chance, or all, which are asked. " +
		"What it knows outlives its sessions. Who can't reach it tells it again after 10 s. Left out: replicas, signatures.",
	Open: func(w strategy.World) (strategy.Factory, error) {
		r := &run{world: w, holders: map[summary.Fingerprint][]strategy.ID{}, keys: make([][]summary.Fingerprint, w.Peers)}
		return func(h strategy.Host) strategy.Peer {
			p := &peer{run: r, host: h, prober: strategy.NewProber(h)}
			return p
		}, nil
	},
}

const (
	server    = strategy.ID(0)
	named     = 20 // most holders in an answer, unless all are wanted
	peerBytes = 64 // bytes of a peer's name and address
	askBytes  = strategy.Overhead + strategy.KeyBytes + 2
	again     = 10 * time.Second // time from a failed announcement to the next, which is of all keys
)

// run has the tracker's knowledge. Only peer 0 uses holders and keys.
type run struct {
	world   strategy.World
	holders map[summary.Fingerprint][]strategy.ID // holders of each key, ascending
	keys    [][]summary.Fingerprint               // keys that each peer announced since it last announced all of them; it may have dropped some
}

type peer struct {
	run    *run
	host   strategy.Host
	prober strategy.Prober
}

type (
	all    struct{ keys []summary.Fingerprint } // all keys that the sender holds; none: it leaves
	change struct {
		key  summary.Fingerprint
		held bool
	}
	question struct{ query strategy.Query }
	answer   struct {
		query   strategy.Query
		holders []strategy.ID
	}
)

func (all) Kind() string    { return "all" }
func (change) Kind() string { return "change" }

// Step implements [strategy.Peer].
func (p *peer) Step(now time.Duration, in strategy.Input) {
	if p.prober.Step(in) {
		return
	}
	switch in := in.(type) {
	case strategy.Joined, strategy.Woken:
		p.tell(all{p.run.world.Collection(p.host.Self())})
	case strategy.Leaving:
		p.tell(all{})
	case strategy.Changed:
		p.tell(change{in.Key.Fingerprint, in.Held})
	case strategy.Started:
		if p.host.Self() == server {
			p.prober.Start(in.Query, p.name(server, in.Query), 1)
			return
		}
		p.host.Send(server, strategy.Message{Body: question{in.Query}, Bytes: askBytes, Query: in.Query.ID})
	case strategy.Received:
		p.receive(in.From, in.Message)
	case strategy.Failed:
		switch b := in.Message.Body.(type) {
		case question:
			p.host.Done(b.query.ID)
		case all, change:
			p.host.Wake(now + again)
		}
	}
}

// tell sends the tracker a collection or a change.
func (p *peer) tell(body any) {
	if p.host.Self() == server {
		p.note(server, body)
		return
	}
	bytes := strategy.Overhead + 2
	switch b := body.(type) {
	case all:
		bytes += len(b.keys) * strategy.KeyBytes
	case change:
		bytes += strategy.KeyBytes
	}
	p.host.Send(server, strategy.Message{Body: body, Bytes: bytes})
}

func (p *peer) receive(from strategy.ID, m strategy.Message) {
	switch b := m.Body.(type) {
	case all, change:
		p.note(from, b)
	case question:
		holders := p.name(from, b.query)
		p.host.Send(from, strategy.Message{Body: answer{b.query, holders}, Bytes: askBytes + len(holders)*peerBytes, Query: m.Query})
	case answer:
		p.prober.Start(b.query, b.holders, 2)
	}
}

// note notes a peer's collection, or a change of it.
func (p *peer) note(of strategy.ID, body any) {
	r := p.run
	switch b := body.(type) {
	case change:
		if r.set(of, b.key, b.held); b.held {
			r.keys[of] = append(slices.Clip(r.keys[of]), b.key)
		}
	case all:
		for _, k := range r.keys[of] {
			r.set(of, k, false)
		}
		for _, k := range b.keys {
			r.set(of, k, true)
		}
		r.keys[of] = b.keys
	}
}

func (r *run) set(of strategy.ID, key summary.Fingerprint, held bool) {
	at, there := slices.BinarySearch(r.holders[key], of)
	switch {
	case held && !there:
		r.holders[key] = slices.Insert(r.holders[key], at, of)
	case !held && there:
		r.holders[key] = slices.Delete(r.holders[key], at, at+1)
	}
}

// name returns holders of a query's key besides the asker, in random order: all, or up to named.
func (p *peer) name(asker strategy.ID, q strategy.Query) []strategy.ID {
	out := slices.DeleteFunc(slices.Clone(p.run.holders[q.Key.Fingerprint]), func(h strategy.ID) bool { return h == asker })
	p.host.Rand().Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	if !q.All {
		out = out[:min(named, len(out))]
	}
	return out
}

// DirectoryBytes implements [strategy.Measured]: the tracker's knowledge, and 0 for other peers.
func (p *peer) DirectoryBytes() (bytes int) {
	if p.host.Self() == server {
		for _, h := range p.run.holders {
			bytes += strategy.KeyBytes + len(h)*peerBytes
		}
	}
	return bytes
}

// Covers implements [strategy.Measured]. It is below 0, because no peer but the tracker knows a collection.
func (p *peer) Covers() float64 { return -1 }
