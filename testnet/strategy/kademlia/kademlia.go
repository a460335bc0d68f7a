// Package kademlia is the DHT of IPFS: a record of every provider of every key.
package kademlia

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Strategy keeps a record of every provider of every key at the 20 peers nearest to the key, as the IPFS DHT does.
// It publishes a peer's keys region by region.
//
// A query takes O(log n) hops. Upkeep grows with the number of keys held: each costs 20 records every 22 hours.
var Strategy = strategy.Strategy{
	Name:   "kademlia",
	Source: "Maymounkov, Mazières, Kademlia (IPTPS 2002), with the parameters of go-libp2p-kad-dht v0.42",
	Model: model + " Keys are published in a sweep, region by region. Lookups go on until all peers of a region of at least 20 " +
		"are known. Then each record goes to the 20 nearest.",
	Connects:   true,
	Parameters: []strategy.Parameter{strategy.Upkeep},
	Open:       func(w strategy.World) (strategy.Factory, error) { return open(w, true) },
}

// Classic is Kademlia with a lookup for every key that is published, as IPFS did before the sweep.
var Classic = strategy.Strategy{
	Name:       "kademlia-classic",
	Source:     Strategy.Source,
	Model:      model + " Every key is published by a lookup of its own.",
	Connects:   true,
	Parameters: []strategy.Parameter{strategy.Upkeep},
	Open:       func(w strategy.World) (strategy.Factory, error) { return open(w, false) },
}

const model = "k = 20, 10 requests under way in a lookup, which ends when the 3 nearest have answered and then asks all of the " +
	"20 nearest. A peer that joins fills its table at once from the peers online, in place of bootstrapping, and has connections to " +
	"all in it: it dials them within 9 s, so that few pairs dial each other. It learns others that ask it, forgets those it can't reach, and refreshes every bucket each 10 minutes. A " +
	"second after dialling it publishes all that it holds, and again every 22 hours. Provider records outlive a session, on disk. A peer named as a provider is asked whether it " +
	"holds the key. A key that it takes in later is published at once; the record of one that it drops stays. Left out: expiry " +
	"of records (48 h), signed addresses, values, NAT. Params.Upkeep delays publishing."

const (
	bucketSize = 20
	alpha      = 10
	beta       = 3  // once this many of the nearest have answered, a lookup asks only the bucketSize nearest
	workers    = 16 // largest number of lookups for upkeep at one time
	republish  = 22 * time.Hour
	refresh    = 10 * time.Minute
	// bound of the random time from joining to dialling: two peers that dial each other at once pay twice
	dialWithin  = 9 * time.Second
	never       = time.Duration(math.MaxInt64)
	findBytes   = strategy.Overhead + 6 + strategy.KeyBytes
	peerBytes   = 64 // bytes of a peer's id and one or two addresses
	answerBytes = strategy.Overhead + 6 + strategy.KeyBytes
	recordBytes = strategy.Overhead + 6 + strategy.KeyBytes + peerBytes
)

// run has what all peers of a run share.
type run struct {
	world strategy.World
	sweep bool
	order []strategy.ID // all peers, in the order of their places
	disks []records     // records of each peer, which outlive its sessions
}

// place returns the place of a peer in the space of hashes: 64 bits in place of SHA-256's 256.
func place(p strategy.ID) uint64 { return strategy.Scramble(uint64(p) + 1<<40) }

// target returns the place of a key.
func target(k strategy.Key) uint64 { return strategy.Scramble(uint64(k.Fingerprint) ^ 0x6b6164) }

func open(w strategy.World, sweep bool) (strategy.Factory, error) {
	r := &run{world: w, sweep: sweep, disks: make([]records, w.Peers)}
	for p := range strategy.ID(w.Peers) {
		r.order = append(r.order, p)
	}
	slices.SortFunc(r.order, func(a, b strategy.ID) int { return cmp.Compare(place(a), place(b)) })
	return func(h strategy.Host) strategy.Peer {
		k := &peer{
			run: r, host: h, prober: strategy.NewProber(h), allowance: strategy.Allowance{Rate: w.Params.Of(strategy.Upkeep)},
			lookups: map[uint32]*lookup{}, queries: map[strategy.QueryID]uint32{}, records: &r.disks[h.Self()],
		}
		k.prober.Over = k.probed
		return k
	}, nil
}

type peer struct {
	run       *run
	host      strategy.Host
	prober    strategy.Prober
	allowance strategy.Allowance

	buckets [64][]strategy.ID // peers of the table, by the number of bits that their places share with our own
	records *records

	lookups map[uint32]*lookup
	last    uint32                      // number of the latest lookup
	queries map[strategy.QueryID]uint32 // lookups of this peer's own queries
	work    []work                      // lookups for upkeep that wait
	working int                         // lookups for upkeep under way

	now                          time.Duration
	dialAt, publishAt, refreshAt time.Duration
}

// lookup looks for the peers nearest to a place, and for providers of a key on the way.
type lookup struct {
	number    uint32
	query     strategy.Query // query that the lookup serves; ID 0: upkeep
	work      work
	contacts  []contact     // peers known to the lookup, nearest first
	open      int           // requests whose answer is awaited
	providers []strategy.ID // providers named so far
}

type contact struct {
	peer  strategy.ID
	far   uint64
	hops  int // hops over which the lookup learned of the peer
	state state
}

type state uint8

const (
	unasked state = iota
	asked
	answered
	failed
)

type (
	find struct {
		lookup uint32
		target uint64
		key    strategy.Key
		want   bool // the answer should name providers of the key
	}
	nearest struct {
		lookup    uint32
		peers     []strategy.ID
		providers []strategy.ID
	}
	provide struct{ keys []summary.Fingerprint } // keys that the sender holds; counted as a message for each
)

// Kind returns the name of a message in published tables.
func (find) Kind() string    { return "find" }
func (nearest) Kind() string { return "nearest" }
func (provide) Kind() string { return "provide" }

func (k *peer) Step(now time.Duration, in strategy.Input) {
	k.now = now
	if k.prober.Step(in) {
		return
	}
	switch in := in.(type) {
	case strategy.Joined:
		k.join()
	case strategy.Woken:
		k.upkeep()
	case strategy.Changed:
		if in.Held {
			k.work = append(k.work, work{target: target(in.Key), keys: []strategy.Key{in.Key}})
			k.upkeep()
		}
	case strategy.Started:
		k.look(in.Query, work{target: target(in.Query.Key)})
	case strategy.Received:
		k.receive(in.From, in.Message)
	case strategy.Failed:
		k.forget(in.To)
		if b, ok := in.Message.Body.(find); ok {
			k.answered(b.lookup, in.To, failed, nearest{})
		}
	}
}

// DirectoryBytes implements [strategy.Measured]: the table, and the provider records kept for others.
func (k *peer) DirectoryBytes() int {
	k.records.sort()
	bytes := len(k.records.list) * (strategy.KeyBytes + peerBytes)
	for _, b := range k.buckets {
		bytes += len(b) * peerBytes
	}
	return bytes
}

// Covers implements [strategy.Measured]: a peer knows holders of some keys, but no collection.
func (k *peer) Covers() float64 { return -1 }

// join fills the table. Each bucket gets peers drawn from those online in its part of the space, up to bucketSize.
func (k *peer) join() {
	self := place(k.host.Self())
	for b := range k.buckets {
		low := (self ^ 1<<(63-b)) &^ (1<<(63-b) - 1)
		from, _ := slices.BinarySearchFunc(k.run.order, low, func(p strategy.ID, at uint64) int { return cmp.Compare(place(p), at) })
		to, found := slices.BinarySearchFunc(k.run.order, low|(1<<(63-b)-1), func(p strategy.ID, at uint64) int { return cmp.Compare(place(p), at) })
		if found {
			to++
		}
		k.buckets[b] = k.draw(k.run.order[from:to])
	}
	k.dialAt = k.now + time.Duration(k.host.Rand().Int64N(int64(dialWithin)))
	k.publishAt, k.refreshAt = k.dialAt+time.Second, k.now+refresh
	k.host.Wake(k.dialAt)
}

// draw draws up to bucketSize of the peers that are online.
func (k *peer) draw(from []strategy.ID) []strategy.ID {
	var out []strategy.ID
	if len(from) <= 4*bucketSize {
		out = slices.DeleteFunc(slices.Clone(from), func(p strategy.ID) bool { return !k.run.world.Online(p) })
		k.host.Rand().Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		return out[:min(bucketSize, len(out))]
	}
	for tries := 0; len(out) < bucketSize && tries < 8*bucketSize; tries++ {
		p := from[k.host.Rand().IntN(len(from))]
		if k.run.world.Online(p) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

func (k *peer) bucket(p strategy.ID) *[]strategy.ID {
	return &k.buckets[min(63, bits.LeadingZeros64(place(p)^place(k.host.Self())))]
}

// meet adds a peer to its bucket if that has room.
func (k *peer) meet(p strategy.ID) {
	if b := k.bucket(p); len(*b) < bucketSize && !slices.Contains(*b, p) {
		*b = append(*b, p)
	}
}

func (k *peer) forget(p strategy.ID) {
	b := k.bucket(p)
	*b = slices.DeleteFunc(*b, func(o strategy.ID) bool { return o == p })
}

// nearest returns the bucketSize peers of the table that are nearest to a place, nearest first.
func (k *peer) nearest(target uint64) []strategy.ID {
	common := min(63, bits.LeadingZeros64(target^place(k.host.Self())))
	out := append(make([]strategy.ID, 0, 4*bucketSize), k.buckets[common]...)
	byFar := func(part []strategy.ID) {
		slices.SortFunc(part, func(a, b strategy.ID) int { return cmp.Compare(place(a)^target, place(b)^target) })
	}
	byFar(out)
	// peers that share more bits with us are nearly as far from the target as we are
	if n := len(out); n < bucketSize {
		for _, b := range k.buckets[common+1:] {
			out = append(out, b...)
		}
		byFar(out[n:])
	}
	for b := common - 1; b >= 0 && len(out) < bucketSize; b-- {
		n := len(out)
		out = append(out, k.buckets[b]...)
		byFar(out[n:])
	}
	return out[:min(bucketSize, len(out))]
}

// upkeep does the upkeep that is due, and asks to be woken for the next.
func (k *peer) upkeep() {
	now := k.now
	if now >= k.dialAt {
		k.dialAt = never
		for _, b := range k.buckets {
			for _, p := range b {
				k.host.Connect(p)
			}
		}
	}
	if now >= k.publishAt {
		k.publishAt = now + republish
		k.publish()
	}
	if now >= k.refreshAt {
		k.refreshAt = now + refresh
		for b, peers := range k.buckets {
			if len(peers) > 0 {
				far := uint64(1)<<(63-b) | k.host.Rand().Uint64N(1<<(63-b))
				k.work = append(k.work, work{target: place(k.host.Self()) ^ far})
			}
		}
	}
	next := min(k.dialAt, k.publishAt, k.refreshAt)
	for len(k.work) > 0 && k.working < workers {
		if wait := k.allowance.Wait(now); wait > 0 {
			next = now + wait
			break
		}
		w := k.work[0]
		k.work = k.work[1:]
		k.working++
		k.look(strategy.Query{}, w)
	}
	k.host.Wake(next)
}

// look starts a lookup for a query, or for upkeep.
func (k *peer) look(q strategy.Query, w work) {
	k.last++
	l := &lookup{number: k.last, query: q, work: w}
	k.lookups[l.number] = l
	k.hear(l, k.nearest(w.target), 1)
	if q.ID != 0 {
		k.queries[q.ID] = l.number
		k.name(l, k.records.providers(q.Key.Fingerprint), 1)
	}
	k.advance(l)
}

// hear adds peers to the contacts of a lookup.
func (k *peer) hear(l *lookup, peers []strategy.ID, hops int) {
	for _, p := range peers {
		far := place(p) ^ l.work.target
		at, known := slices.BinarySearchFunc(l.contacts, far, func(c contact, far uint64) int { return cmp.Compare(c.far, far) })
		if !known && p != k.host.Self() {
			l.contacts = slices.Insert(l.contacts, at, contact{peer: p, far: far, hops: hops})
		}
	}
}

// name adds providers to a lookup, and has the new ones asked for the key.
func (k *peer) name(l *lookup, providers []strategy.ID, hops int) {
	var candidates []strategy.ID
	for _, p := range providers {
		if p != k.host.Self() && !slices.Contains(l.providers, p) {
			l.providers = append(l.providers, p)
			candidates = append(candidates, p)
		}
	}
	if len(candidates) > 0 && !k.prober.More(l.query.ID, candidates, hops) {
		k.prober.Start(l.query, candidates, hops)
	}
}

// advance sends a lookup's next requests, or ends it if none is open. If one holder is wanted and a provider is
// being asked, it waits for the provider's answer.
func (k *peer) advance(l *lookup) {
	if k.prober.Asking(l.query.ID) && !l.query.All {
		return
	}
	for l.open < alpha {
		c := l.next()
		if c == nil {
			break
		}
		c.state = asked
		l.open++
		m := strategy.Message{Body: find{l.number, l.work.target, l.query.Key, l.query.ID != 0}, Bytes: findBytes, Query: l.query.ID}
		k.send(c.peer, m)
	}
	if l.open == 0 {
		k.finish(l)
	}
}

func (k *peer) send(to strategy.ID, m strategy.Message) {
	if m.Query == 0 {
		k.allowance.Spend(m.Bytes)
	}
	k.host.Send(to, m)
}

// next returns the nearest peer that was not asked. Once the three nearest have answered, it returns only peers of
// the 20 nearest; nil: there is none.
func (l *lookup) next() *contact {
	// there counts the contacts passed that have not failed. converged is false once one of the first beta of these
	// still owes its answer.
	there, converged := 0, true
	for i := range l.contacts {
		c := &l.contacts[i]
		if c.state == failed {
			continue
		}
		there++
		switch {
		case there > bucketSize && converged:
			return nil
		case c.state == unasked:
			return c
		case there <= beta && c.state == asked:
			converged = false
		}
	}
	return nil
}

func (k *peer) receive(from strategy.ID, m strategy.Message) {
	k.meet(from)
	switch b := m.Body.(type) {
	case find:
		answer := nearest{lookup: b.lookup, peers: k.nearest(b.target)}
		if b.want {
			answer.providers = k.records.providers(b.key.Fingerprint)
		}
		bytes := answerBytes + peerBytes*(len(answer.peers)+len(answer.providers))
		k.send(from, strategy.Message{Body: answer, Bytes: bytes, Query: m.Query})
	case nearest:
		k.answered(b.lookup, from, answered, b)
	case provide:
		for _, f := range b.keys {
			k.records.add(f, from)
		}
	}
}

// answered handles the first answer of a peer to a lookup, or the failure to reach it.
func (k *peer) answered(lookup uint32, from strategy.ID, state state, b nearest) {
	l, open := k.lookups[lookup]
	if !open {
		return
	}
	i := slices.IndexFunc(l.contacts, func(c contact) bool { return c.peer == from })
	if l.contacts[i].state != asked {
		return
	}
	l.open--
	l.contacts[i].state = state
	hops := l.contacts[i].hops + 1
	k.hear(l, b.peers, hops)
	k.name(l, b.providers, hops)
	k.advance(l)
}

// probed is called when all providers of a query named so far have answered.
func (k *peer) probed(q strategy.Query, found bool) {
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

// finish ends a lookup. A query goes on while providers are being asked. A lookup for upkeep publishes its keys.
func (k *peer) finish(l *lookup) {
	delete(k.lookups, l.number)
	if l.query.ID != 0 {
		if !k.prober.Asking(l.query.ID) {
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
