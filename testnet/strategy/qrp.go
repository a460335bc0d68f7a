package strategy

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary/bloom"
)

// QRP is Gnutella's network of two tiers: leaves give their ultrapeers tables of what they hold, ultrapeers each other tables of
// themselves and their leaves, and the last hop of a query goes only where a table matches.
var QRP = Strategy{
	Name: "qrp",
	Source: "Rohrs, Query Routing for the Gnutella Network (LimeWire 2002); Singla, Rohrs, Ultrapeers (2002); Fisk, Gnutella " +
		"Dynamic Query Protocol (2003)",
	Model: "one peer in ten is an ultrapeer, drawn by its number, which stands for election and host caches; leaves have three " +
		"ultrapeers, ultrapeers about 32 of their kind and any number of leaves. Tables of 65,536 bits, or of Params.BitsPerKey " +
		"times the mean collection, with one hash function, sent entropy-coded, and what changed at most every 10 s. A dynamic query: " +
		"the leaves and ultrapeers whose tables match, then one ultrapeer after another with one more hop, every 2.4 s until one " +
		"holder is found, or all have been asked. Holders tell the asker directly. Params.Upkeep delays tables.",
	Connects: true,
	Static:   true,
	Open:     openQRP,
}

const (
	qrpOneIn      = 10 // peers is an ultrapeer
	qrpUltrapeers = 3  // of a leaf
	qrpDegree     = 32 // of an ultrapeer
	qrpTableBits  = 1 << 16
	qrpEvery      = 10 * time.Second // at most, an ultrapeer's table is made anew
	qrpPerHop     = 2400 * time.Millisecond
	qrpHeader     = Overhead + 23 + 5
	qrpQueryBytes = Overhead + 23 + 2 + KeyBytes + 6 // with the address of the asker
	qrpHitBytes   = Overhead + 23 + 11 + 16 + 8 + 34
	qrpTalkBytes  = Overhead + 23 + 2
)

type qrpRun struct {
	world      World
	params     bloom.Params
	ultrapeers []ID
}

// listed says whether a peer is an ultrapeer.
func (r *qrpRun) listed(p ID) bool {
	_, ok := slices.BinarySearch(r.ultrapeers, p)
	return ok
}

func openQRP(w World) (Factory, error) {
	if w.Params.Upkeep < 0 || w.Params.BitsPerKey < 0 {
		return nil, fmt.Errorf("strategy: qrp: parameters %+v, below 0", w.Params)
	}
	r := &qrpRun{world: w, params: bloom.Params{Blocks: 1, BlockBits: qrpTableBits, Hashes: 1}}
	if w.Params.BitsPerKey > 0 {
		r.params.BlockBits = 1 << bits.Len64(uint64(w.Params.BitsPerKey*meanSize(w)))
	}
	for p := range ID(w.Peers) {
		if scramble(w.Seed^scramble(uint64(p)))%qrpOneIn == 0 {
			r.ultrapeers = append(r.ultrapeers, p)
		}
	}
	if len(r.ultrapeers) == 0 {
		r.ultrapeers = []ID{0}
	}
	return r.newPeer, nil
}

func (r *qrpRun) newPeer(h Host) Peer {
	own := must(bloom.New(r.params))
	fill(own, r.world.Collection(h.Self()))
	return &qrp{
		run: r, host: h, ultra: r.listed(h.Self()), allowance: allowance{rate: r.world.Params.Upkeep}, own: own, told: own,
		heard: map[ID]*bloom.Filter{}, asked: map[QueryID]*qrpAsked{},
	}
}

type qrp struct {
	run   *qrpRun
	host  Host
	ultra bool
	allowance

	own   *bloom.Filter
	told  *bloom.Filter        // the table that neighbours have
	heard map[ID]*bloom.Filter // theirs
	due   time.Duration        // when ours is made anew; 0: it needn't be

	seen  visits[struct{}]
	asked map[QueryID]*qrpAsked // own queries of a leaf
	open  []*qrpQuery           // that this ultrapeer runs
}

// qrpAsked is a leaf's own query.
type qrpAsked struct {
	query Query
	rest  []ID // ultrapeers to be asked yet
}

// qrpQuery is a dynamic query, which an ultrapeer runs for a leaf or itself.
type qrpQuery struct {
	query Query
	asker ID
	rest  []ID          // ultrapeers to be asked for one more hop
	at    time.Duration // when the next one is
}

type (
	qrpTable   struct{ *bloom.Filter }
	qrpRequest struct{ query Query } // of a leaf, to run a query
	qrpEnd     struct{}              // nothing more is to be found
	qrpEnough  struct{}              // the asker has what it wants
	qrpAsk     struct {
		query Query
		asker ID
		ttl   int // further hops
		hops  int // so far
	}
	qrpHit struct{ hops int }
)

func (q *qrp) Step(now time.Duration, in Input) {
	switch in := in.(type) {
	case Joined:
		q.link()
	case LinkOpened:
		if q.run.listed(in.Peer) {
			q.sendTable(in.Peer, compressed(q.told))
		}
	case LinkClosed:
		q.change(now, in.Peer)
		delete(q.heard, in.Peer)
		q.link()
	case Started:
		q.start(now, in.Query)
	case Received:
		q.receive(now, in.From, in.Message)
	case Failed:
		q.failed(now, in)
	}
	q.work(now)
}

// ultras are the neighbours that are ultrapeers.
func (q *qrp) ultras() []ID {
	return slices.DeleteFunc(slices.Clone(q.host.Links()), func(p ID) bool { return !q.run.listed(p) })
}

// link sees to it that there are links to enough ultrapeers. One of them opens half of its links itself.
func (q *qrp) link() {
	want, all := qrpUltrapeers, q.run.ultrapeers
	if q.ultra {
		want = qrpDegree / 2
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

// change notes that the table of a neighbour has changed: an ultrapeer's is of its leaves too.
func (q *qrp) change(now time.Duration, of ID) {
	if q.ultra && q.due == 0 && !q.run.listed(of) {
		q.due = now + qrpEvery
	}
}

// work does what is due, and asks to be woken for what is next.
func (q *qrp) work(now time.Duration) {
	if q.due > 0 && now >= q.due {
		q.due = 0
		if wait := q.wait(now); wait > 0 {
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

// table makes an ultrapeer's table anew and sends what differs.
func (q *qrp) table() {
	t := q.own.Clone()
	for p, f := range q.heard { // a union, in whatever order
		if !q.run.listed(p) {
			must(0, t.Merge(f))
		}
	}
	if t.Equal(q.told) {
		return
	}
	bytes := changed(t, q.told)
	q.told = t
	for _, p := range q.ultras() {
		q.sendTable(p, bytes)
	}
}

func (q *qrp) sendTable(to ID, bytes int) {
	q.spend(qrpHeader + bytes)
	q.host.Send(to, Message{Body: qrpTable{q.told}, Bytes: qrpHeader + bytes})
}

func (q *qrp) start(now time.Duration, query Query) {
	if q.ultra {
		q.dynamic(now, query, q.host.Self())
		return
	}
	q.asked[query.ID] = &qrpAsked{query, q.ultras()}
	q.request(query.ID)
}

// request has the next ultrapeer run a leaf's query.
func (q *qrp) request(id QueryID) {
	a, open := q.asked[id]
	switch {
	case !open:
	case len(a.rest) == 0:
		delete(q.asked, id)
		q.host.Done(id)
	default:
		q.host.Send(a.rest[0], Message{Body: qrpRequest{a.query}, Bytes: qrpQueryBytes, Query: id})
		a.rest = a.rest[1:]
	}
}

func (q *qrp) receive(now time.Duration, from ID, m Message) {
	switch b := m.Body.(type) {
	case qrpTable:
		q.heard[from] = b.Filter
		q.change(now, from)
	case qrpRequest:
		q.dynamic(now, b.query, from)
	case qrpAsk:
		q.pass(now, b, from)
	case qrpHit:
		q.hit(from, m.Query, b)
	case qrpEnough:
		q.close(m.Query)
	case qrpEnd:
		q.request(m.Query)
	}
}

func (q *qrp) failed(now time.Duration, in Failed) {
	switch in.Message.Body.(type) {
	case nil:
		q.link()
	case qrpRequest:
		q.request(in.Message.Query)
	}
}

// dynamic begins to run a query: as far as tables reach.
func (q *qrp) dynamic(now time.Duration, query Query, asker ID) {
	rest := slices.DeleteFunc(q.ultras(), func(p ID) bool { return p == asker })
	q.host.Rand().Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	q.open = append(q.open, &qrpQuery{query, asker, rest, now + qrpPerHop})
	q.pass(now, qrpAsk{query: query, asker: asker, ttl: 1}, asker)
}

// widen asks one more ultrapeer, to whose neighbours the query goes too, or ends the query.
func (q *qrp) widen(now time.Duration, o *qrpQuery) {
	if len(o.rest) > 0 && now < o.query.Deadline {
		q.send(o.rest[0], qrpAsk{query: o.query, asker: o.asker, ttl: 1, hops: 1})
		o.rest, o.at = o.rest[1:], now+qrpPerHop
		return
	}
	q.close(o.query.ID)
	if o.asker == q.host.Self() {
		q.host.Done(o.query.ID)
	} else {
		q.host.Send(o.asker, Message{Body: qrpEnd{}, Bytes: qrpTalkBytes, Query: o.query.ID})
	}
}

func (q *qrp) close(id QueryID) {
	q.open = slices.DeleteFunc(q.open, func(o *qrpQuery) bool { return o.query.ID == id })
}

// pass looks into the own collection, and passes a query on where tables match: to leaves always, to ultrapeers while it
// may go further. One that comes a second time, over more hops, goes only where it hasn't been.
func (q *qrp) pass(now time.Duration, a qrpAsk, from ID) {
	h := filterHash(a.query.Key.Fingerprint)
	_, seen := q.seen.at(now, a.query.ID)
	if !seen && a.asker != q.host.Self() && q.own.ContainsHash(h) && q.host.Look(a.query.ID, a.query.Key) {
		q.host.Send(a.asker, Message{Body: qrpHit{max(1, a.hops)}, Bytes: qrpHitBytes, Query: a.query.ID})
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

func (q *qrp) send(to ID, a qrpAsk) {
	q.host.Send(to, Message{Body: a, Bytes: qrpQueryBytes, Query: a.query.ID})
}

// hit takes an answer to an own query, and lets the ultrapeer know if that is enough.
func (q *qrp) hit(from ID, id QueryID, b qrpHit) {
	q.host.Found(id, from, b.hops)
	if a, open := q.asked[id]; open && !a.query.All {
		delete(q.asked, id)
		for _, p := range q.ultras() {
			if !slices.Contains(a.rest, p) {
				q.host.Send(p, Message{Body: qrpEnough{}, Bytes: qrpTalkBytes, Query: id})
			}
		}
	}
	q.open = slices.DeleteFunc(q.open, func(o *qrpQuery) bool {
		return o.query.ID == id && !o.query.All && o.asker == q.host.Self()
	})
}
