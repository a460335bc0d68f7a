// Package planetp gossips whole Bloom filters, as PlanetP does.
package planetp

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/filters"
)

// Strategy gives every peer the whole filters of all peers, by gossip.
//
// A query costs no more than its candidates. Upkeep grows with the number of peers, because each peer holds the
// filters of all.
var Strategy = strategy.Strategy{
	Name: "planetp",
	Source: "Cuenca-Acuna, Peery, Martin, Nguyen, PlanetP: Using Gossiping to Build Content Addressable Peer-to-Peer Information " +
		"Sharing Communities (HPDC 2003)",
	Model: "rumour mongering until two peers in a row know a rumour, with the ten last rumours in every answer. Anti-entropy " +
		"comes every tenth round and when there is no rumour. Records come one by one, with their filters, or as many as fit a " +
		"packet. What is on its way is not asked for again, unless its sender is silent for a minute. Rounds grow from 1 s (30 s there, which no warm-up could wait for) " +
		"to 60 s. Bloom filters have two hash functions in 50 KiB, as there, or Params.BitsPerKey once compressed. They are sent " +
		"at their entropy, and only to peers that lack them. Anti-entropy compares hashes of directories first, which saves bytes. " +
		"A peer that can't be reached is left out until it is heard of again. Params.Upkeep delays rounds and answers. A query " +
		"asks half of Params.Budget peers. Ranking by terms is left out: a key is one term.",
	Parameters: []strategy.Parameter{strategy.Upkeep, strategy.BitsPerKey.By("filters of 50 KiB"), strategy.Budget},
	Static:     true,
	Open:       open,
}

const (
	filterBits = 50 << 13 // 50 KiB
	hashes     = 2
	giveUp     = 2 // a rumour is spread no further after this number of peers in a row that knew it
	entropy    = 10
	recent     = 10
	idle       = 2 // rounds in a row without news after which the time between rounds grows
	base       = time.Second
	slower     = 5 * time.Second
	slowest    = time.Minute

	// silent is the longest time for which a peer that was asked for records may send none: the longest time between
	// rounds.
	silent = slowest

	packet = 1500 // most bytes of records in a message, unless one filter is larger

	header = strategy.Overhead + 3
	name   = 6  // bytes of a rumour or a directory's entry
	record = 48 // bytes of a peer's address, state and version
)

// run has what all peers of a run share: the filters, which are the same wherever they are held.
type run struct {
	world   strategy.World
	params  func(n int) bloom.Params
	boots   []uint16 // number of times that each peer came online: the version of its record
	filters []atomic.Pointer[filter]
}

type filter struct {
	*bloom.Filter
	bytes int // size on the wire
}

func open(w strategy.World) (strategy.Factory, error) {
	r := &run{world: w, boots: make([]uint16, w.Peers), filters: make([]atomic.Pointer[filter], w.Peers)}
	r.params = func(n int) bloom.Params {
		bits := uint64(filterBits)
		if perKey := w.Params.Of(strategy.BitsPerKey); perKey > 0 {
			bits = compressedLength(n, hashes, perKey)
		}
		return bloom.Params{Blocks: 1, BlockBits: bits, Hashes: hashes}
	}
	return r.newPeer, nil
}

// compressedLength returns the length in bits of a filter of n keys, with this number of hash functions, that
// compresses to bitsPerKey bits for each key.
func compressedLength(n, hashes int, bitsPerKey float64) uint64 {
	low, high := uint64(1), uint64(n)<<20
	for low < high {
		mid := (low + high + 1) / 2
		p := bloom.Params{Blocks: 1, BlockBits: mid, Hashes: hashes}
		if p.CompressedBits(n) <= bitsPerKey*float64(n) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// filter returns a peer's filter. It makes the filter at the first call.
func (r *run) filter(p strategy.ID) *filter {
	if f := r.filters[p].Load(); f != nil {
		return f
	}
	collection := r.world.Collection(p)
	f, err := bloom.New(r.params(max(1, len(collection))))
	if err != nil {
		panic(err) // cannot be: the parameters are valid
	}
	filters.Fill(f, collection)
	r.filters[p].Store(&filter{f, filters.Compressed(f)})
	return r.filters[p].Load()
}

func (r *run) newPeer(h strategy.Host) strategy.Peer {
	self := h.Self()
	r.boots[self]++
	r.filter(self)
	p := &peer{
		run: r, host: h, prober: strategy.NewProber(h), directory: make([]entry, r.world.Peers), every: base, asked: map[strategy.ID]*asked{},
		allowance: strategy.Allowance{Rate: r.world.Params.Of(strategy.Upkeep)},
	}
	if b := int(r.world.Params.Of(strategy.Budget)); b > 0 {
		p.prober.Most = max(1, b/2) // each peer costs a question and an answer
	}
	p.prober.Gone = func(id strategy.ID) { p.directory[id].away = true }
	p.learn(news{self, r.boots[self], true}, true)
	return p
}

type peer struct {
	run       *run
	host      strategy.Host
	prober    strategy.Prober
	allowance strategy.Allowance

	directory []entry // entry of each peer, by its number
	hot       int     // number of rumours that this peer still spreads
	sum       uint64  // hash of the directory
	recent    []news  // latest rumours learned, the oldest first

	asked map[strategy.ID]*asked // records on the way, by the peer asked for them

	every  time.Duration // time from round to round
	rounds int
	idle   int // rounds in a row without news
}

// entry has what a peer knows of another. It takes 6 bytes, because there is one for each pair of peers.
type entry struct {
	version uint16 // version of the record known; 0: none
	heat    uint8  // further peers in a row that may know the rumour before it is spread no more; 0: not spread
	filter  bool   // this peer has its filter
	away    bool   // the other peer could not be reached
	asked   bool   // its record was asked for and has not arrived
}

// asked has the records that a peer was asked for and has not sent.
type asked struct {
	peers []strategy.ID
	heard time.Duration // time at which the peer was last asked, or last sent a record
}

// news names a version of an entry, in a rumour, a request for a record, or a record. filter tells whether the
// filter is held, wanted, or sent.
type news struct {
	peer    strategy.ID
	version uint16
	filter  bool
}

type (
	rumours struct{ items []news }
	reply   struct { // answers rumours
		told   []news // rumours that this reply answers
		wants  []news
		recent []news
	}
	wanted  struct{ items []news }
	records struct {
		items   []news
		refused []news // records that the sender's allowance does not permit
		rumours bool   // the receiver spreads these records further
	}
	sum  struct{ sum uint64 }   // anti-entropy: asks whether the directories are the same
	list struct{ items []news } // answers sum with the sender's entries; none: the directories are the same
)

// Kind returns the name of a message in published tables.
func (rumours) Kind() string { return "rumours" }
func (reply) Kind() string   { return "reply" }
func (wanted) Kind() string  { return "wanted" }
func (records) Kind() string { return "records" }
func (sum) Kind() string     { return "sum" }
func (list) Kind() string    { return "list" }

func namesOf(n int) int { return header + n*name }

func (p *peer) Step(now time.Duration, in strategy.Input) {
	if p.prober.Step(in) {
		return
	}
	switch in := in.(type) {
	case strategy.Joined:
		p.host.Wake(now + time.Duration(p.host.Rand().Int64N(int64(base))))
	case strategy.Woken:
		p.round(now)
	case strategy.Started:
		p.start(in.Query)
	case strategy.Received:
		p.receive(now, in.From, in.Message.Body)
	case strategy.Failed:
		p.directory[in.To].away = true
		p.unask(in.To)
	}
}

// start asks all peers whose filters match the key, in a random order.
func (p *peer) start(q strategy.Query) {
	var candidates []strategy.ID
	h := filters.Hash(q.Key.Fingerprint)
	for i := range p.directory {
		id := strategy.ID(i)
		if e := &p.directory[i]; e.filter && !e.away && id != p.host.Self() && p.run.filter(id).ContainsHash(h) {
			candidates = append(candidates, id)
		}
	}
	p.host.Covered(q.ID, p.Covers())
	p.host.Rand().Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	p.prober.Start(q, candidates, 1)
}

// Covers implements [strategy.Measured]: the share of the online peers whose filters this peer has.
func (p *peer) Covers() float64 {
	return p.run.world.Share(func(id strategy.ID) bool { return p.directory[id].filter })
}

// DirectoryBytes implements [strategy.Measured]: the records of all known peers, and their filters at the size in
// which they are sent.
func (p *peer) DirectoryBytes() int {
	bytes := 0
	for i, e := range p.directory {
		if e.version == 0 || strategy.ID(i) == p.host.Self() {
			continue
		}
		if bytes += record; e.filter {
			bytes += p.run.filter(strategy.ID(i)).bytes
		}
	}
	return bytes
}

// round gossips with a peer drawn at random, once the allowance permits it.
func (p *peer) round(now time.Duration) {
	if wait := p.allowance.Wait(now); wait > 0 {
		p.host.Wake(now + wait)
		return
	}
	for _, from := range slices.Sorted(maps.Keys(p.asked)) {
		if now-p.asked[from].heard > silent {
			p.unask(from)
		}
	}
	to, ok := p.partner()
	switch {
	case !ok:
	case p.hot == 0 || p.rounds%entropy == 0:
		p.send(to, sum{p.sum}, header+8)
	default:
		hot := p.list(func(e entry) bool { return e.heat > 0 })
		p.send(to, rumours{hot}, namesOf(len(hot)))
	}
	p.rounds++
	p.host.Wake(now + p.every)
}

// partner draws a peer that is known and not noted as away.
func (p *peer) partner() (strategy.ID, bool) {
	return strategy.Partner(p.host, len(p.directory), func(id strategy.ID) bool {
		return p.directory[id].version > 0 && !p.directory[id].away
	})
}

func (p *peer) send(to strategy.ID, body strategy.Kinded, bytes int) {
	p.allowance.Spend(bytes)
	p.host.Send(to, strategy.Message{Body: body, Bytes: bytes})
}

func (p *peer) list(which func(entry) bool) []news {
	var out []news
	for i, e := range p.directory {
		if e.version > 0 && which(e) {
			out = append(out, news{strategy.ID(i), e.version, e.filter})
		}
	}
	return out
}

func (p *peer) receive(now time.Duration, from strategy.ID, body any) {
	p.directory[from].away = false
	switch b := body.(type) {
	case rumours:
		wants := p.wants(now, from, b.items)
		reply := reply{b.items, wants, slices.Clone(p.recent)}
		p.send(from, reply, namesOf(len(wants)+len(p.recent)))
	case reply:
		p.replied(now, from, b)
	case wanted:
		p.serve(now, from, b.items, false)
	case records:
		p.take(now, from, b)
	case sum:
		p.compare(from, b.sum)
	case list:
		p.want(now, from, b.items)
		if len(b.items) == 0 {
			p.quiet()
		}
	}
}

// wants returns the items that are newer than the directory and were not asked for yet. It notes that they are asked
// for from this peer.
func (p *peer) wants(now time.Duration, from strategy.ID, items []news) []news {
	var out []news
	for _, n := range items {
		if e := &p.directory[n.peer]; n.version > e.version && !e.asked {
			e.asked = true
			out = append(out, news{n.peer, n.version, !e.filter})
		}
	}
	if len(out) == 0 {
		return nil
	}
	a := p.asked[from]
	if a == nil {
		a = &asked{}
		p.asked[from] = a
	}
	for _, n := range out {
		a.peers = append(a.peers, n.peer)
	}
	a.heard = now
	return out
}

// unask gives up the records that a peer was asked for and has not sent. They may be asked for again.
func (p *peer) unask(from strategy.ID) {
	if a := p.asked[from]; a != nil {
		for _, id := range a.peers {
			p.directory[id].asked = false
		}
		delete(p.asked, from)
	}
}

// came notes that a peer has sent, or refused to send, records that it was asked for.
func (p *peer) came(now time.Duration, from strategy.ID, items []news) {
	a := p.asked[from]
	if a == nil {
		return
	}
	a.heard = now
	for _, n := range items {
		p.directory[n.peer].asked = false
		if i := slices.Index(a.peers, n.peer); i >= 0 {
			a.peers = slices.Delete(a.peers, i, i+1)
		}
	}
	if len(a.peers) == 0 {
		delete(p.asked, from)
	}
}

// want asks a peer for the items that are newer than the directory.
func (p *peer) want(now time.Duration, from strategy.ID, items []news) {
	if wants := p.wants(now, from, items); len(wants) > 0 {
		p.send(from, wanted{wants}, namesOf(len(wants)))
	}
}

// replied handles an answer to rumours. A rumour that was news to the other peer is spread on. One that it knew
// loses heat, and is not spread once it has none.
func (p *peer) replied(now time.Duration, from strategy.ID, b reply) {
	for _, n := range b.told {
		e := &p.directory[n.peer]
		_, news := slices.BinarySearchFunc(b.wants, n.peer, func(w news, id strategy.ID) int { return int(w.peer - id) })
		switch {
		case e.heat == 0:
		case news:
			e.heat = giveUp
		default:
			if e.heat--; e.heat == 0 {
				p.hot--
			}
		}
	}
	p.serve(now, from, b.wants, true)
	p.want(now, from, b.recent)
}

// serve sends records, as far as the allowance goes. A message has one record, or as many as fit in a packet. The
// last message names the records refused.
func (p *peer) serve(now time.Duration, to strategy.ID, wants []news, rumours bool) {
	first, bytes := 0, header
	for n, want := range wants {
		size := record
		if want.filter {
			size += p.run.filter(want.peer).bytes
		}
		if n > first && bytes+size > packet {
			p.send(to, records{wants[first:n], nil, rumours}, bytes)
			first, bytes = n, header
		}
		if !p.allowance.Ready(now) || n > 0 && !p.allowance.Covers(bytes+size) {
			p.send(to, records{wants[first:n], wants[n:], rumours}, bytes)
			return
		}
		bytes += size
	}
	if first < len(wants) {
		p.send(to, records{wants[first:], nil, rumours}, bytes)
	}
}

// take adds records to the directory. It spreads records that came by a rumour, but not those of anti-entropy.
func (p *peer) take(now time.Duration, from strategy.ID, b records) {
	p.came(now, from, b.items)
	p.came(now, from, b.refused)
	for _, n := range b.items {
		p.learn(n, b.rumours)
	}
	if len(b.items) > 0 {
		p.idle = 0
		if p.every > base {
			p.every = base
			p.host.Wake(now + p.every)
		}
	}
}

// learn takes a record into the directory if it is newer. If the record came by a rumour, the peer spreads it.
func (p *peer) learn(n news, rumour bool) {
	e := &p.directory[n.peer]
	if n.version <= e.version {
		return
	}
	p.sum ^= hashOf(n.peer, e.version) ^ hashOf(n.peer, n.version)
	e.version, e.away, e.filter = n.version, false, e.filter || n.filter
	if !rumour {
		return
	}
	if e.heat == 0 {
		p.hot++
	}
	e.heat = giveUp
	p.recent = append(p.recent, n)
	p.recent = p.recent[max(0, len(p.recent)-recent):]
}

// hashOf returns an entry's share of the directory's hash, which is the exclusive or of all.
func hashOf(p strategy.ID, version uint16) uint64 {
	if version == 0 {
		return 0
	}
	return strategy.Scramble(uint64(p)<<16 | uint64(version))
}

// compare answers a peer that asks whether the directories are the same.
func (p *peer) compare(from strategy.ID, sum uint64) {
	if sum == p.sum {
		p.send(from, list{}, header+1)
		return
	}
	all := p.list(func(entry) bool { return true })
	p.send(from, list{all}, namesOf(len(all)))
}

// quiet counts a round without news. After two of them, it lengthens the time between rounds unless a rumour is spread.
func (p *peer) quiet() {
	if p.idle++; p.idle >= idle && p.hot == 0 {
		p.idle = 0
		p.every = min(slowest, p.every+slower)
	}
}
