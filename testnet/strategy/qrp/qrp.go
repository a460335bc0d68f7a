// Package qrp is Gnutella's network of two tiers with query routing tables.
package qrp

import (
	"math/bits"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/filters"
)

// Strategy is Gnutella's network of two tiers. Leaves send their ultrapeers tables of their keys. Ultrapeers send
// each other tables of their own keys and their leaves' keys. The last hop of a query goes only where a table
// matches.
var Strategy = strategy.Strategy{
	Name: "qrp",
	Source: "Rohrs, Query Routing for the Gnutella Network (LimeWire 2002); Singla, Rohrs, Ultrapeers (2002); Fisk, Gnutella " +
		"Dynamic Query Protocol (2003)",
	Model: "one peer in ten is an ultrapeer, drawn by its number, which stands for election and host caches. Leaves have three " +
		"ultrapeers, ultrapeers about 32 of their kind and any number of leaves. Tables have 65,536 bits, or Params.BitsPerKey " +
		"times the mean collection, with one hash function. They are sent entropy-coded, and changes at most every 10 s. A dynamic " +
		"query goes to the leaves and ultrapeers whose tables match. Then it goes to one ultrapeer after another with one more " +
		"hop, every 2.4 s, until one holder is found or all have been asked. Holders tell the asker directly. Params.Upkeep delays tables.",
	Parameters: []strategy.Parameter{strategy.Upkeep, strategy.BitsPerKey.By("tables of 65,536 bits")},
	Connects:   true,
	Static:     true,
	Open:       open,
}

const (
	oneIn      = 10 // one peer in ten is an ultrapeer
	ultrapeers = 3  // links of a leaf to ultrapeers
	degree     = 32 // links of an ultrapeer to other ultrapeers
	tableBits  = 1 << 16
	every      = 10 * time.Second // least time between two tables of an ultrapeer
	perHop     = 2400 * time.Millisecond
	header     = strategy.Overhead + 23 + 5
	queryBytes = strategy.Overhead + 23 + 2 + strategy.KeyBytes + 6 // includes the address of the asker
	hitBytes   = strategy.Overhead + 23 + 11 + 16 + 8 + 34
	talkBytes  = strategy.Overhead + 23 + 2
)

type run struct {
	world      strategy.World
	params     bloom.Params
	ultrapeers []strategy.ID
}

// listed reports whether a peer is an ultrapeer.
func (r *run) listed(p strategy.ID) bool {
	_, ok := slices.BinarySearch(r.ultrapeers, p)
	return ok
}

func open(w strategy.World) (strategy.Factory, error) {
	r := &run{world: w, params: bloom.Params{Blocks: 1, BlockBits: tableBits, Hashes: 1}}
	if perKey := w.Params.Of(strategy.BitsPerKey); perKey > 0 {
		r.params.BlockBits = 1 << bits.Len64(uint64(perKey*filters.MeanSize(w)))
	}
	for p := range strategy.ID(w.Peers) {
		if strategy.Scramble(w.Seed^strategy.Scramble(uint64(p)))%oneIn == 0 {
			r.ultrapeers = append(r.ultrapeers, p)
		}
	}
	if len(r.ultrapeers) == 0 {
		r.ultrapeers = []strategy.ID{0}
	}
	return r.newPeer, nil
}

func (r *run) newPeer(h strategy.Host) strategy.Peer {
	own := filters.Empty(r.params)
	filters.Fill(own, r.world.Collection(h.Self()))
	return &peer{
		run: r, host: h, ultra: r.listed(h.Self()), allowance: strategy.Allowance{Rate: r.world.Params.Of(strategy.Upkeep)}, own: own, told: own,
		heard: map[strategy.ID]*bloom.Filter{}, asked: map[strategy.QueryID]*asked{},
	}
}

type peer struct {
	run       *run
	host      strategy.Host
	ultra     bool
	allowance strategy.Allowance

	own   *bloom.Filter
	told  *bloom.Filter                 // the table sent to neighbours last
	heard map[strategy.ID]*bloom.Filter // tables of the neighbours
	due   time.Duration                 // when this peer's table is due to be rebuilt; 0: not due

	seen  strategy.Visits[struct{}]
	asked map[strategy.QueryID]*asked // own queries, if this peer is a leaf
	open  []*search                   // dynamic queries that this ultrapeer runs
}

// asked is a leaf's own query.
type asked struct {
	query strategy.Query
	rest  []strategy.ID // ultrapeers that were not asked yet
}

// search is a dynamic query that an ultrapeer runs, for a leaf or for itself.
type search struct {
	query strategy.Query
	asker strategy.ID
	rest  []strategy.ID // ultrapeers that may still be asked, each for one more hop
	at    time.Duration // when the next ultrapeer is asked
}

type (
	table   struct{ *bloom.Filter }
	request struct{ query strategy.Query } // a leaf asks an ultrapeer to run its query
	end     struct{}                       // the ultrapeer has finished the leaf's query
	enough  struct{}                       // the leaf has found enough
	ask     struct {
		query strategy.Query
		asker strategy.ID
		ttl   int // hops that are left
		hops  int // hops until now
	}
	hit struct{ hops int }
)

// Kind returns the name of the message in published tables. The other messages belong to queries.
func (table) Kind() string { return "table" }

func (q *peer) Step(now time.Duration, in strategy.Input) {
	switch in := in.(type) {
	case strategy.Joined:
		q.link()
	case strategy.LinkOpened:
		if q.run.listed(in.Peer) {
			q.sendTable(in.Peer, filters.Compressed(q.told))
		}
	case strategy.LinkClosed:
		q.change(now, in.Peer)
		delete(q.heard, in.Peer)
		q.link()
	case strategy.Started:
		q.start(now, in.Query)
	case strategy.Received:
		q.receive(now, in.From, in.Message)
	case strategy.Failed:
		q.failed(in)
	}
	q.work(now)
}

// ultras returns the linked peers that are ultrapeers.
func (q *peer) ultras() []strategy.ID {
	return slices.DeleteFunc(slices.Clone(q.host.Links()), func(p strategy.ID) bool { return !q.run.listed(p) })
}

// link opens links to ultrapeers drawn at random, until there are enough. An ultrapeer opens half of its links
// itself; others open the rest.
func (q *peer) link() {
	want, all := ultrapeers, q.run.ultrapeers
	if q.ultra {
		want = degree / 2
	}
	have := q.ultras()
	for range 4 * want {
		if len(have) >= min(want, len(all)-1) && len(have) > 0 {
			return
		}
		if p := all[q.host.Rand().IntN(len(all))]; p != q.host.Self() && !slices.Contains(have, p) {
			have = append(have, p)
			q.host.Connect(p)
		}
	}
}

// change plans a new table of this ultrapeer, if the neighbour whose table changed is a leaf.
func (q *peer) change(now time.Duration, of strategy.ID) {
	if q.ultra && q.due == 0 && !q.run.listed(of) {
		q.due = now + every
	}
}

// work does the work that is due, and asks to be woken for the next.
func (q *peer) work(now time.Duration) {
	if q.due > 0 && now >= q.due {
		q.due = 0
		if wait := q.allowance.Wait(now); wait > 0 {
			q.due = now + wait
		} else {
			q.table()
		}
	}
	for _, o := range slices.Clone(q.open) {
		if now >= o.at {
			q.widen(now, o)
		}
	}
	next := q.due
	for _, o := range q.open {
		if next == 0 || o.at < next {
			next = o.at
		}
	}
	if next > 0 {
		q.host.Wake(next)
	}
}

// table rebuilds an ultrapeer's table and sends the difference to the linked ultrapeers.
func (q *peer) table() {
	t := q.own.Clone()
	for p, f := range q.heard { // the union does not depend on the order
		if !q.run.listed(p) {
			filters.Merge(t, f)
		}
	}
	if t.Equal(q.told) {
		return
	}
	bytes := filters.Changed(t, q.told)
	q.told = t
	for _, p := range q.ultras() {
		q.sendTable(p, bytes)
	}
}

func (q *peer) sendTable(to strategy.ID, bytes int) {
	q.allowance.Spend(header + bytes)
	q.host.Send(to, strategy.Message{Body: table{q.told}, Bytes: header + bytes})
}

func (q *peer) start(now time.Duration, query strategy.Query) {
	if q.ultra {
		q.dynamic(now, query, q.host.Self())
		return
	}
	q.asked[query.ID] = &asked{query, q.ultras()}
	q.request(query.ID)
}

// request asks the next ultrapeer to run a leaf's query, or ends the query if there is none.
func (q *peer) request(id strategy.QueryID) {
	a, open := q.asked[id]
	switch {
	case !open:
	case len(a.rest) == 0:
		delete(q.asked, id)
		q.host.Done(id)
	default:
		q.host.Send(a.rest[0], strategy.Message{Body: request{a.query}, Bytes: queryBytes, Query: id})
		a.rest = a.rest[1:]
	}
}

func (q *peer) receive(now time.Duration, from strategy.ID, m strategy.Message) {
	switch b := m.Body.(type) {
	case table:
		q.heard[from] = b.Filter
		q.change(now, from)
	case request:
		q.dynamic(now, b.query, from)
	case ask:
		q.pass(now, b, from)
	case hit:
		q.hit(from, m.Query, b)
	case enough:
		q.close(m.Query)
	case end:
		q.request(m.Query)
	}
}

func (q *peer) failed(in strategy.Failed) {
	switch in.Message.Body.(type) {
	case nil:
		q.link()
	case request:
		q.request(in.Message.Query)
	}
}

// dynamic begins a dynamic query. It first asks the neighbours whose tables match.
func (q *peer) dynamic(now time.Duration, query strategy.Query, asker strategy.ID) {
	rest := slices.DeleteFunc(q.ultras(), func(p strategy.ID) bool { return p == asker })
	q.host.Rand().Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	q.open = append(q.open, &search{query, asker, rest, now + perHop})
	q.pass(now, ask{query: query, asker: asker, ttl: 1}, asker)
}

// widen asks one more ultrapeer, which also passes the query to its neighbours. If none is left or the deadline has
// passed, it ends the query.
func (q *peer) widen(now time.Duration, o *search) {
	if len(o.rest) > 0 && now < o.query.Deadline {
		q.send(o.rest[0], ask{query: o.query, asker: o.asker, ttl: 1, hops: 1})
		o.rest, o.at = o.rest[1:], now+perHop
		return
	}
	q.close(o.query.ID)
	if o.asker == q.host.Self() {
		q.host.Done(o.query.ID)
	} else {
		q.host.Send(o.asker, strategy.Message{Body: end{}, Bytes: talkBytes, Query: o.query.ID})
	}
}

func (q *peer) close(id strategy.QueryID) {
	q.open = slices.DeleteFunc(q.open, func(o *search) bool { return o.query.ID == id })
}

// pass looks for the key in this peer's collection, and passes a query on where tables match: to leaves, and to
// ultrapeers if ttl is above 0. A query that comes again goes to no leaf again.
func (q *peer) pass(now time.Duration, a ask, from strategy.ID) {
	h := filters.Hash(a.query.Key.Fingerprint)
	_, seen := q.seen.Get(a.query.ID)
	q.seen.Put(now, a.query.ID, struct{}{})
	if !seen && a.asker != q.host.Self() && q.own.ContainsHash(h) && q.host.Look(a.query.ID, a.query.Key) {
		q.host.Send(a.asker, strategy.Message{Body: hit{max(1, a.hops)}, Bytes: hitBytes, Query: a.query.ID})
	}
	if !q.ultra {
		return
	}
	a.hops++
	ttl := a.ttl
	a.ttl = 0
	for _, p := range q.host.Links() {
		if f := q.heard[p]; f == nil || p == from || p == a.asker || !f.ContainsHash(h) {
			continue
		}
		if q.run.listed(p) && ttl > 0 || !q.run.listed(p) && !seen {
			q.send(p, a)
		}
	}
}

func (q *peer) send(to strategy.ID, a ask) {
	q.host.Send(to, strategy.Message{Body: a, Bytes: queryBytes, Query: a.query.ID})
}

// hit handles an answer to an own query. If one holder is wanted, it makes the ultrapeers that it had asked stop.
func (q *peer) hit(from strategy.ID, id strategy.QueryID, b hit) {
	q.host.Found(id, from, b.hops)
	if a, open := q.asked[id]; open && !a.query.All {
		delete(q.asked, id)
		for _, p := range q.ultras() {
			if !slices.Contains(a.rest, p) {
				q.host.Send(p, strategy.Message{Body: enough{}, Bytes: talkBytes, Query: id})
			}
		}
	}
	q.open = slices.DeleteFunc(q.open, func(o *search) bool {
		return o.query.ID == id && !o.query.All && o.asker == q.host.Self()
	})
}
