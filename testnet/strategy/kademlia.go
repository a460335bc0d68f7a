package strategy

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// Kademlia keeps a record of every provider of every key with the 20 peers nearest to the key, as the IPFS DHT does, and
// publishes them region by region.
//
// A query takes O(log n) hops; upkeep grows with the number of keys held, each of which costs 20 records every 22 hours.
var Kademlia = Strategy{
	Name:   "kademlia",
	Source: "Maymounkov, Mazières, Kademlia (IPTPS 2002), with the parameters of go-libp2p-kad-dht v0.42",
	Model: kademliaModel + " Keys are published in a sweep, region by region: lookups until all peers of a region of at least 20 are " +
		"known, then each record to the 20 nearest.",
	Connects: true,
	Open:     func(w World) (Factory, error) { return openKademlia(w, true) },
}

// KademliaClassic is Kademlia with a lookup for every key that is published, as before the sweep.
var KademliaClassic = Strategy{
	Name:     "kademlia-classic",
	Source:   Kademlia.Source,
	Model:    kademliaModel + " Every key is published by a lookup of its own.",
	Connects: true,
	Open:     func(w World) (Factory, error) { return openKademlia(w, false) },
}

const kademliaModel = "k = 20, 10 requests under way in a lookup, which ends when the 3 nearest have answered and then asks all of the " +
	"20 nearest. A peer that joins fills its table at once from who is online, in place of bootstrapping, and has connections to " +
	"all in it; it learns others that ask it, forgets those it can't reach, and refreshes every bucket each 10 minutes. From 1 to " +
	"10 s after joining it publishes all that it holds, and again every 22 hours. Who is named as a provider is asked whether it " +
	"holds the key. A key that it takes in later is published at once; the record of one that it drops stays. Left out: expiry of records (48 h), signed addresses, values, NAT. Params.Upkeep delays publishing."

const (
	kadK           = 20
	kadAlpha       = 10
	kadBeta        = 3  // nearest peers that have answered when a lookup has converged
	kadWorkers     = 16 // lookups for upkeep at one time
	kadRepublish   = 22 * time.Hour
	kadRefresh     = 10 * time.Minute
	kadFindBytes   = Overhead + 6 + KeyBytes
	kadPeerBytes   = 64 // a peer's id and an address or two
	kadAnswerBytes = Overhead + 6 + KeyBytes
	kadRecordBytes = Overhead + 6 + KeyBytes + kadPeerBytes
)

// kadRun is what all peers of a run share: where they are in the space of hashes, and the truth that tables begin with.
type kadRun struct {
	world World
	sweep bool
	order []ID // all peers, by their place
}

// kadPlace is where a peer is in the space of hashes: 64 bits stand for SHA-256's 256.
func kadPlace(p ID) uint64 { return scramble(uint64(p) + 1<<40) }

// kadTarget is where a key is.
func kadTarget(k Key) uint64 { return scramble(uint64(k.Fingerprint) ^ 0x6b6164) }

func openKademlia(w World, sweep bool) (Factory, error) {
	if w.Params.Upkeep < 0 {
		return nil, fmt.Errorf("strategy: kademlia: parameters %+v, below 0", w.Params)
	}
	r := &kadRun{world: w, sweep: sweep}
	for p := range ID(w.Peers) {
		r.order = append(r.order, p)
	}
	slices.SortFunc(r.order, func(a, b ID) int { return cmp.Compare(kadPlace(a), kadPlace(b)) })
	return func(h Host) Peer {
		k := &kademlia{
			run: r, host: h, prober: newProber(h), allowance: allowance{rate: w.Params.Upkeep},
			lookups: map[uint32]*kadLookup{}, queries: map[QueryID]uint32{},
		}
		k.over = k.probed
		return k
	}, nil
}

type kademlia struct {
	run  *kadRun
	host Host
	prober
	allowance

	buckets [64][]ID // by bits in common with our own place
	records kadRecords

	lookups map[uint32]*kadLookup
	last    uint32             // number of a lookup
	queries map[QueryID]uint32 // lookups of own queries
	work    []kadWork          // upkeep to be done
	working int                // lookups for it under way

	now                  time.Duration
	publishAt, refreshAt time.Duration
}

// kadLookup looks for the peers nearest to a place, and for providers of a key on the way.
type kadLookup struct {
	number    uint32
	query     Query // ID 0: upkeep
	work      kadWork
	contacts  []kadContact // nearest first
	open      int          // requests without an answer
	providers []ID         // named so far
}

type kadContact struct {
	peer  ID
	far   uint64
	hops  int // over which it got to be known
	state kadState
}

type kadState uint8

const (
	kadNew kadState = iota
	kadAsked
	kadAnswered
	kadFailed
)

type (
	kadFind struct {
		lookup uint32
		target uint64
		key    Key
		want   bool // providers of the key
	}
	kadNearest struct {
		lookup    uint32
		peers     []ID
		providers []ID
	}
	kadProvide struct{ keys []summary.Fingerprint } // which the sender holds; a message for each
)

func (k *kademlia) Step(now time.Duration, in Input) {
	k.now = now
	if k.step(in) {
		return
	}
	switch in := in.(type) {
	case Joined:
		k.join()
	case Woken:
		k.upkeep()
	case Changed:
		if in.Held {
			k.work = append(k.work, kadWork{target: kadTarget(in.Key), keys: []Key{in.Key}})
			k.upkeep()
		}
	case Started:
		k.look(in.Query, kadWork{target: kadTarget(in.Query.Key)})
	case Received:
		k.receive(in.From, in.Message)
	case Failed:
		k.forget(in.To)
		if b, ok := in.Message.Body.(kadFind); ok {
			k.answered(b.lookup, in.To, kadFailed, kadNearest{})
		}
	}
}

// join fills the table: from each bucket's part of the space so many as it holds, drawn from those online.
func (k *kademlia) join() {
	self := kadPlace(k.host.Self())
	for b := range k.buckets {
		low := (self ^ 1<<(63-b)) &^ (1<<(63-b) - 1)
		from, _ := slices.BinarySearchFunc(k.run.order, low, func(p ID, at uint64) int { return cmp.Compare(kadPlace(p), at) })
		to, found := slices.BinarySearchFunc(k.run.order, low|(1<<(63-b)-1), func(p ID, at uint64) int { return cmp.Compare(kadPlace(p), at) })
		if found {
			to++
		}
		k.buckets[b] = k.draw(k.run.order[from:to])
		for _, p := range k.buckets[b] {
			k.host.Connect(p)
		}
	}
	k.publishAt = k.now + time.Second + time.Duration(k.host.Rand().Int64N(int64(9*time.Second)))
	k.refreshAt = k.now + kadRefresh
	k.host.Wake(k.publishAt)
}

// draw draws peers that are online, at most a bucket of them.
func (k *kademlia) draw(from []ID) []ID {
	var out []ID
	if len(from) <= 4*kadK {
		out = slices.DeleteFunc(slices.Clone(from), func(p ID) bool { return !k.run.world.Online(p) })
		k.host.Rand().Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out[:min(kadK, len(out))]
	}
	for tries := 0; len(out) < kadK && tries < 8*kadK; tries++ {
		p := from[k.host.Rand().IntN(len(from))]
		if k.run.world.Online(p) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

func (k *kademlia) bucket(p ID) *[]ID {
	return &k.buckets[min(63, bits.LeadingZeros64(kadPlace(p)^kadPlace(k.host.Self())))]
}

// meet notes a peer if its bucket has room.
func (k *kademlia) meet(p ID) {
	if b := k.bucket(p); len(*b) < kadK && !slices.Contains(*b, p) {
		*b = append(*b, p)
	}
}

func (k *kademlia) forget(p ID) {
	b := k.bucket(p)
	*b = slices.DeleteFunc(*b, func(o ID) bool { return o == p })
}

// nearest are the peers of the table that are nearest to a place, nearest first.
func (k *kademlia) nearest(target uint64) []ID {
	common := min(63, bits.LeadingZeros64(target^kadPlace(k.host.Self())))
	out := append(make([]ID, 0, 4*kadK), k.buckets[common]...)
	byFar := func(part []ID) {
		slices.SortFunc(part, func(a, b ID) int { return cmp.Compare(kadPlace(a)^target, kadPlace(b)^target) })
	}
	byFar(out)
	if n := len(out); n < kadK { // all whose first differing bit is later are as far as ourselves
		for _, b := range k.buckets[common+1:] {
			out = append(out, b...)
		}
		byFar(out[n:])
	}
	for b := common - 1; b >= 0 && len(out) < kadK; b-- {
		n := len(out)
		out = append(out, k.buckets[b]...)
		byFar(out[n:])
	}
	return out[:min(kadK, len(out))]
}

// upkeep plans what is due and does what may be done now.
func (k *kademlia) upkeep() {
	now := k.now
	if now >= k.publishAt {
		k.publishAt = now + kadRepublish
		k.publish()
	}
	if now >= k.refreshAt {
		k.refreshAt = now + kadRefresh
		for b, peers := range k.buckets {
			if len(peers) > 0 {
				far := uint64(1)<<(63-b) | k.host.Rand().Uint64N(1<<(63-b))
				k.work = append(k.work, kadWork{target: kadPlace(k.host.Self()) ^ far})
			}
		}
	}
	next := min(k.publishAt, k.refreshAt)
	for len(k.work) > 0 && k.working < kadWorkers {
		if wait := k.wait(now); wait > 0 {
			next = now + wait
			break
		}
		w := k.work[0]
		k.work = k.work[1:]
		k.working++
		k.look(Query{}, w)
	}
	k.host.Wake(next)
}

// look starts a lookup.
func (k *kademlia) look(q Query, w kadWork) {
	k.last++
	l := &kadLookup{number: k.last, query: q, work: w}
	k.lookups[l.number] = l
	k.hear(l, k.nearest(w.target), 1)
	if q.ID != 0 {
		k.queries[q.ID] = l.number
		k.name(l, k.records.providers(q.Key.Fingerprint), 1)
	}
	k.advance(l)
}

// hear takes in names of peers.
func (k *kademlia) hear(l *kadLookup, peers []ID, hops int) {
	for _, p := range peers {
		far := kadPlace(p) ^ l.work.target
		at, known := slices.BinarySearchFunc(l.contacts, far, func(c kadContact, far uint64) int { return cmp.Compare(c.far, far) })
		if !known && p != k.host.Self() {
			l.contacts = slices.Insert(l.contacts, at, kadContact{peer: p, far: far, hops: hops})
		}
	}
}

// name takes in providers, which are then asked.
func (k *kademlia) name(l *kadLookup, providers []ID, hops int) {
	var candidates []ID
	for _, p := range providers {
		if p != k.host.Self() && !slices.Contains(l.providers, p) {
			l.providers = append(l.providers, p)
			candidates = append(candidates, p)
		}
	}
	if len(candidates) > 0 && !k.more(l.query.ID, candidates, hops) {
		k.start(l.query, candidates, hops)
	}
}

// advance asks whom there is to be asked, and ends a lookup that has heard all it wanted to. While one holder is wanted and
// a provider is being asked, it waits for that.
func (k *kademlia) advance(l *kadLookup) {
	if _, asking := k.open[l.query.ID]; asking && !l.query.All {
		return
	}
	for l.open < kadAlpha {
		c := l.next()
		if c == nil {
			break
		}
		c.state = kadAsked
		l.open++
		m := Message{Body: kadFind{l.number, l.work.target, l.query.Key, l.query.ID != 0}, Bytes: kadFindBytes, Query: l.query.ID}
		k.send(c.peer, m)
	}
	if l.open == 0 {
		k.finish(l)
	}
}

func (k *kademlia) send(to ID, m Message) {
	if m.Query == 0 {
		k.spend(m.Bytes)
	}
	k.host.Send(to, m)
}

// next is whom to ask next: the nearest, and when the three nearest have answered only from among the 20 nearest.
func (l *kadLookup) next() *kadContact {
	there, converged := 0, true // so far: contacts that haven't failed; the first three of them have answered
	for i := range l.contacts {
		c := &l.contacts[i]
		if c.state == kadFailed {
			continue
		}
		there++
		switch {
		case there > kadK && converged:
			return nil
		case c.state == kadNew:
			return c
		case there <= kadBeta && c.state == kadAsked:
			converged = false
		}
	}
	return nil
}

func (k *kademlia) receive(from ID, m Message) {
	k.meet(from)
	switch b := m.Body.(type) {
	case kadFind:
		answer := kadNearest{lookup: b.lookup, peers: k.nearest(b.target)}
		if b.want {
			answer.providers = k.records.providers(b.key.Fingerprint)
		}
		bytes := kadAnswerBytes + kadPeerBytes*(len(answer.peers)+len(answer.providers))
		k.send(from, Message{Body: answer, Bytes: bytes, Query: m.Query})
	case kadNearest:
		k.answered(b.lookup, from, kadAnswered, b)
	case kadProvide:
		for _, f := range b.keys {
			k.records.add(f, from)
		}
	}
}

// answered takes in what a peer answered, or that it can't.
func (k *kademlia) answered(lookup uint32, from ID, state kadState, b kadNearest) {
	l, open := k.lookups[lookup]
	if !open {
		return
	}
	l.open--
	i := slices.IndexFunc(l.contacts, func(c kadContact) bool { return c.peer == from })
	l.contacts[i].state = state
	hops := l.contacts[i].hops + 1
	k.hear(l, b.peers, hops)
	k.name(l, b.providers, hops)
	k.advance(l)
}

// probed hears that all providers named so far have been asked.
func (k *kademlia) probed(q Query, found bool) {
	l, running := k.lookups[k.queries[q.ID]]
	enough := found && !q.All
	if !running || enough {
		delete(k.lookups, k.queries[q.ID])
		k.host.Done(q.ID)
		return
	}
	if !q.All {
		k.advance(l)
	}
}

// finish ends a lookup: a query waits for providers still, upkeep publishes.
func (k *kademlia) finish(l *kadLookup) {
	delete(k.lookups, l.number)
	if l.query.ID != 0 {
		if _, asking := k.open[l.query.ID]; !asking {
			k.host.Done(l.query.ID)
		}
		return
	}
	k.working--
	if len(l.work.keys) > 0 || l.work.region != nil {
		k.gather(l)
	}
	k.upkeep()
}
