package strategy

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/venn-p2p/venn/summary/bloom"
)

// PlanetP gives everybody everybody's whole filter, by gossip.
//
// A query costs no more than its candidates; upkeep grows with the number of peers, of which nobody holds less than all.
var PlanetP = Strategy{
	Name: "planetp",
	Source: "Cuenca-Acuna, Peery, Martin, Nguyen, PlanetP: Using Gossiping to Build Content Addressable Peer-to-Peer Information " +
		"Sharing Communities (HPDC 2003)",
	Model: "rumour mongering until two peers in a row know a rumour, anti-entropy every tenth round and when there is no rumour, " +
		"the ten last rumours with every answer, rounds that grow from 1 s (30 s there, which no warm-up could wait for) to 60 s. " +
		"Bloom filters of two hash functions in 50 KiB, as there, or of Params.BitsPerKey once compressed, sent at their entropy " +
		"and only to who lacks them; anti-entropy compares hashes of directories first, which saves bytes. A peer that can't be " +
		"reached is left out until it is heard of again. Params.Upkeep delays rounds and answers, half of Params.Budget is how " +
		"many peers a query asks. Ranking by terms is left out: a key is one term.",
	Static: true,
	Open:   openPlanetP,
}

const (
	planetpFilterBits = 50 << 13 // 50 KiB
	planetpHashes     = 2
	planetpGiveUp     = 2 // peers in a row that know a rumour, after which it isn't spread further
	planetpEntropy    = 10
	planetpRecent     = 10
	planetpIdle       = 2 // rounds without news until they become rarer
	planetpBase       = time.Second
	planetpSlower     = 5 * time.Second
	planetpSlowest    = time.Minute

	planetpHeader = Overhead + 3
	planetpName   = 6  // of a rumour or a directory's entry
	planetpRecord = 48 // address, state and version of a peer
)

// planetpRun is what all peers of a run share: their filters, which are the same wherever they are held.
type planetpRun struct {
	world   World
	params  func(n int) bloom.Params
	boots   []uint16 // times that each peer came online: the version of its record
	filters []atomic.Pointer[planetpFilter]
}

type planetpFilter struct {
	*bloom.Filter
	bytes int // on the wire
}

func openPlanetP(w World) (Factory, error) {
	if w.Params.Upkeep < 0 || w.Params.BitsPerKey < 0 {
		return nil, fmt.Errorf("strategy: planetp: parameters %+v, below 0", w.Params)
	}
	r := &planetpRun{world: w, boots: make([]uint16, w.Peers), filters: make([]atomic.Pointer[planetpFilter], w.Peers)}
	r.params = func(n int) bloom.Params {
		bits := uint64(planetpFilterBits)
		if w.Params.BitsPerKey > 0 {
			bits = compressedLength(n, planetpHashes, w.Params.BitsPerKey)
		}
		return bloom.Params{Blocks: 1, BlockBits: bits, Hashes: planetpHashes}
	}
	return r.newPeer, nil
}

// compressedLength is the length of a filter of n keys and some hash functions that has so many bits a key once compressed.
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

// filter is a peer's filter, made when it is first there.
func (r *planetpRun) filter(p ID) *planetpFilter {
	if f := r.filters[p].Load(); f != nil {
		return f
	}
	collection := r.world.Collection(p)
	f, err := bloom.New(r.params(max(1, len(collection))))
	if err != nil {
		panic(err) // parameters are ours
	}
	fill(f, collection)
	r.filters[p].Store(&planetpFilter{f, compressed(f)})
	return r.filters[p].Load()
}

func (r *planetpRun) newPeer(h Host) Peer {
	self := h.Self()
	r.boots[self]++
	r.filter(self)
	p := &planetp{
		run: r, host: h, prober: newProber(h), directory: make([]planetpEntry, r.world.Peers), every: planetpBase,
		allowance: allowance{rate: r.world.Params.Upkeep},
	}
	if b := r.world.Params.Budget; b > 0 {
		p.most = max(1, b/2) // a question and its answer
	}
	p.gone = func(id ID) { p.directory[id].away = true }
	p.learn(planetpNews{self, r.boots[self], true}, true)
	return p
}

type planetp struct {
	run  *planetpRun
	host Host
	prober
	allowance

	directory []planetpEntry // by peer
	hot       int            // rumours that are spread
	sum       uint64         // hash of the directory
	recent    []planetpNews  // rumours learned last, the oldest first

	every  time.Duration // from round to round
	rounds int
	idle   int // rounds in a row without news
}

// planetpEntry is what is known of a peer: 6 bytes, for there are as many as pairs of peers.
type planetpEntry struct {
	version uint16 // of its record; 0: nothing is known
	heat    uint8  // peers in a row that may still know of it before it isn't spread further
	filter  bool   // its filter is here
	away    bool   // it couldn't be reached
	asked   bool   // its record is on the way
}

// planetpNews names an entry: a rumour, or a wish for a record, with the filter or without, or the record itself.
type planetpNews struct {
	peer    ID
	version uint16
	filter  bool
}

type (
	planetpRumours struct{ items []planetpNews }
	planetpReply   struct { // to rumours
		told   []planetpNews // these
		wants  []planetpNews
		recent []planetpNews
	}
	planetpWants   struct{ items []planetpNews }
	planetpRecords struct {
		items   []planetpNews
		refused []planetpNews // beyond the sender's allowance
		rumours bool          // to be spread further
	}
	planetpSum  struct{ sum uint64 }          // anti-entropy: is the directory the same?
	planetpList struct{ items []planetpNews } // no: this is what it holds
)

func namesOf(n int) int { return planetpHeader + n*planetpName }

func (p *planetp) Step(now time.Duration, in Input) {
	if p.step(in) {
		return
	}
	switch in := in.(type) {
	case Joined:
		p.host.Wake(now + time.Duration(p.host.Rand().Int64N(int64(planetpBase))))
	case Woken:
		p.round(now)
	case Started:
		p.start(in.Query)
	case Received:
		p.receive(now, in.From, in.Message.Body)
	case Failed:
		p.directory[in.To].away = true
		switch b := in.Message.Body.(type) {
		case planetpReply:
			p.unask(b.wants)
		case planetpWants:
			p.unask(b.items)
		}
	}
}

// start asks all whose filters say that they hold the key, in an order by chance.
func (p *planetp) start(q Query) {
	var candidates []ID
	h := filterHash(q.Key.Fingerprint)
	for i := range p.directory {
		if e := &p.directory[i]; e.filter && !e.away && ID(i) != p.host.Self() && p.run.filter(ID(i)).ContainsHash(h) {
			candidates = append(candidates, ID(i))
		}
	}
	p.host.Rand().Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	p.prober.start(q, candidates, 1)
}

// round gossips with a peer drawn by chance.
func (p *planetp) round(now time.Duration) {
	if wait := p.wait(now); wait > 0 {
		p.host.Wake(now + wait)
		return
	}
	to, ok := p.partner()
	switch {
	case !ok:
	case p.hot == 0 || p.rounds%planetpEntropy == 0:
		for i := range p.directory {
			p.directory[i].asked = false // what hasn't come by now is asked for again
		}
		p.send(to, planetpSum{p.sum}, planetpHeader+8)
	default:
		hot := p.list(func(e planetpEntry) bool { return e.heat > 0 })
		p.send(to, planetpRumours{hot}, namesOf(len(hot)))
	}
	p.rounds++
	p.host.Wake(now + p.every)
}

// partner draws a peer that is known and may be there.
func (p *planetp) partner() (ID, bool) {
	rng := p.host.Rand()
	for range 32 {
		i := ID(rng.IntN(len(p.directory)))
		if e := p.directory[i]; e.version > 0 && !e.away && i != p.host.Self() {
			return i, true
		}
	}
	links := p.host.Links()
	if len(links) == 0 {
		return 0, false
	}
	return links[rng.IntN(len(links))], true
}

func (p *planetp) send(to ID, body any, bytes int) {
	p.spend(bytes)
	p.host.Send(to, Message{Body: body, Bytes: bytes})
}

func (p *planetp) list(which func(planetpEntry) bool) []planetpNews {
	var out []planetpNews
	for i, e := range p.directory {
		if e.version > 0 && which(e) {
			out = append(out, planetpNews{ID(i), e.version, e.filter})
		}
	}
	return out
}

func (p *planetp) receive(now time.Duration, from ID, body any) {
	p.directory[from].away = false
	switch b := body.(type) {
	case planetpRumours:
		wants := p.wants(b.items)
		reply := planetpReply{b.items, wants, slices.Clone(p.recent)}
		p.send(from, reply, namesOf(len(wants)+len(p.recent)))
	case planetpReply:
		p.replied(now, from, b)
	case planetpWants:
		p.serve(now, from, b.items, false)
	case planetpRecords:
		p.take(now, b)
	case planetpSum:
		p.compare(from, b.sum)
	case planetpList:
		p.want(from, b.items)
		if len(b.items) == 0 {
			p.quiet()
		}
	}
}

// wants are the entries that aren't known yet, and not on the way.
func (p *planetp) wants(items []planetpNews) []planetpNews {
	var out []planetpNews
	for _, n := range items {
		if e := &p.directory[n.peer]; n.version > e.version && !e.asked {
			e.asked = true
			out = append(out, planetpNews{n.peer, n.version, !e.filter})
		}
	}
	return out
}

func (p *planetp) unask(items []planetpNews) {
	for _, n := range items {
		p.directory[n.peer].asked = false
	}
}

// want asks for what isn't known of a directory.
func (p *planetp) want(from ID, items []planetpNews) {
	if wants := p.wants(items); len(wants) > 0 {
		p.send(from, planetpWants{wants}, namesOf(len(wants)))
	}
}

// replied hears which rumours were news to a peer: those stay hot, the others cool.
func (p *planetp) replied(now time.Duration, from ID, b planetpReply) {
	for _, n := range b.told {
		e := &p.directory[n.peer]
		_, news := slices.BinarySearchFunc(b.wants, n.peer, func(w planetpNews, id ID) int { return int(w.peer - id) })
		switch {
		case e.heat == 0:
		case news:
			e.heat = planetpGiveUp
		default:
			if e.heat--; e.heat == 0 {
				p.hot--
			}
		}
	}
	p.serve(now, from, b.wants, true)
	p.want(from, b.recent)
}

// serve sends records, as far as the allowance goes.
func (p *planetp) serve(now time.Duration, to ID, wants []planetpNews, rumours bool) {
	if len(wants) == 0 {
		return
	}
	bytes, n := planetpHeader, 0
	for p.ready(now) && n < len(wants) && (n == 0 || p.rate == 0 || float64(bytes) < p.saved) {
		bytes += planetpRecord
		if wants[n].filter {
			bytes += p.run.filter(wants[n].peer).bytes
		}
		n++
	}
	p.send(to, planetpRecords{wants[:n], wants[n:], rumours}, bytes)
}

// take takes records in. Rumours are spread further; what anti-entropy brings is not.
func (p *planetp) take(now time.Duration, b planetpRecords) {
	for _, n := range b.items {
		p.learn(n, b.rumours)
	}
	p.unask(b.refused)
	if len(b.items) > 0 {
		p.idle = 0
		if p.every > planetpBase {
			p.every = planetpBase
			p.host.Wake(now + p.every)
		}
	}
}

func (p *planetp) learn(n planetpNews, rumour bool) {
	e := &p.directory[n.peer]
	e.asked = false
	if n.version <= e.version {
		return
	}
	p.sum ^= planetpHash(n.peer, e.version) ^ planetpHash(n.peer, n.version)
	e.version, e.away, e.filter = n.version, false, e.filter || n.filter
	if !rumour {
		return
	}
	if e.heat == 0 {
		p.hot++
	}
	e.heat = planetpGiveUp
	p.recent = append(p.recent, n)
	p.recent = p.recent[max(0, len(p.recent)-planetpRecent):]
}

// planetpHash is the part of an entry in a directory's hash.
func planetpHash(p ID, version uint16) uint64 {
	if version == 0 {
		return 0
	}
	return scramble(uint64(p)<<16 | uint64(version))
}

// compare answers a peer that wants to know whether the directories are the same.
func (p *planetp) compare(from ID, sum uint64) {
	if sum == p.sum {
		p.send(from, planetpList{}, planetpHeader+1)
		return
	}
	all := p.list(func(planetpEntry) bool { return true })
	p.send(from, planetpList{all}, namesOf(len(all)))
}

// quiet makes rounds rarer when there is nothing new.
func (p *planetp) quiet() {
	if p.idle++; p.idle >= planetpIdle && p.hot == 0 {
		p.idle = 0
		p.every = min(planetpSlowest, p.every+planetpSlower)
	}
}
