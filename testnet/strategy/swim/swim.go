// Package swim has a strategy in which all peers know each other's exact list of keys. Gossip on pings spreads the
// lists' versions, as SWIM spreads its membership.
package swim

import (
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Strategy spreads the versions of lists on pings, and each peer fetches the lists. A query asks only holders.
// Upkeep grows with all keys of the network, and never falls below one ping and its answer a second.
var Strategy = strategy.Strategy{
	Name:   "swim",
	Source: "Das, Gupta, Motivala, SWIM (DSN 2002), with the period and retransmissions of memberlist; lists of keys added",
	Model: "every second each peer pings one drawn by chance. Pings and answers carry news, a packet at most, each 4 log10(n) times: " +
		"a list's version, with the key that changed, or that a peer is dead. Who lacks a list fetches it from who told: 8 bytes a key. " +
		"Every 30 s the hash of all versions is compared with a random peer's. Pings are datagrams there, here they connect " +
		"as all messages do, which tables have in a column of its own. Left out: asking others to ping, suspicion.",
	Open: func(w strategy.World) (strategy.Factory, error) {
		r := &run{world: w, versions: make([]uint32, w.Peers)}
		return r.newPeer, nil
	},
}

const (
	period    = time.Second
	compared  = 30   // periods between two comparisons
	packet    = 1500 // most bytes of a message of news, or of several lists
	header    = strategy.Overhead + 3
	newsBytes = 8 + 6 // bytes of one piece of news: peer and version, then state and part of an address
	keyBytes  = 8
)

type run struct {
	world    strategy.World
	versions []uint32 // version of each peer's list, which outlives its sessions; only that peer writes it
}

// list is a version of the list of a peer's keys. It never changes.
type list struct {
	version uint32
	keys    []summary.Fingerprint // keys of the list, ascending
}

type member struct {
	list    *list // nil: not fetched yet
	version uint32
	dead    bool
	asked   bool
	changed bool // the latest version differs by one key from the one before
	tell    int  // number of further messages that will carry the member's news
}

type peer struct {
	run     *run
	host    strategy.Host
	prober  strategy.Prober
	members []member
	hot     []strategy.ID // members whose news this peer still spreads
	rounds  int
}

// news tells the latest version of a peer's list, or that the peer is dead. change is the new list if one key
// differs: receivers that have the version before need not fetch it.
type news struct {
	peer    strategy.ID
	version uint32
	dead    bool
	change  *list
}

type (
	ping struct {
		news []news
		sum  uint64 // hash of all versions; 0: the versions are not compared
	}
	ack     struct{ news []news }
	members struct {
		news   []news
		answer bool
	}
	wanted struct{ peers []strategy.ID }
	lists  struct {
		peers []strategy.ID
		lists []*list
	}
)

func (ping) Kind() string    { return "ping" }
func (ack) Kind() string     { return "ack" }
func (members) Kind() string { return "members" }
func (wanted) Kind() string  { return "wanted" }
func (lists) Kind() string   { return "lists" }

func (r *run) newPeer(h strategy.Host) strategy.Peer {
	p := &peer{run: r, host: h, prober: strategy.NewProber(h), members: make([]member, r.world.Peers)}
	p.prober.Gone = p.died
	p.renew(false)
	return p
}

// renew makes a new version of this peer's own list. changed tells that one key differs.
func (p *peer) renew(changed bool) {
	self := p.host.Self()
	p.run.versions[self]++
	keys := p.run.world.Collection(self)
	slices.Sort(keys)
	m := &p.members[self]
	m.list, m.changed = &list{p.run.versions[self], keys}, changed
	p.hear(news{peer: self, version: m.list.version})
}

// hear handles news about a member. This peer spreads the news if it did not know it.
func (p *peer) hear(n news) {
	m, self := &p.members[n.peer], n.peer == p.host.Self()
	if self && n.dead && n.version >= m.version { // this peer is not dead
		p.renew(false)
		return
	}
	if n.version < m.version || n.version == m.version && (m.dead || !n.dead) {
		return
	}
	m.version, m.dead, m.asked = n.version, n.dead, false
	if n.change != nil && m.list != nil && m.list.version+1 == n.version {
		m.list, m.changed = n.change, true
	} else if !self {
		m.changed = false
	}
	if m.tell == 0 {
		p.hot = append(p.hot, n.peer)
	}
	m.tell = 4 * int(math.Ceil(math.Log10(float64(len(p.members)+1))))
}

// died notes that a peer could not be reached.
func (p *peer) died(id strategy.ID) {
	if v := p.members[id].version; v > 0 {
		p.hear(news{peer: id, version: v, dead: true})
	}
}

// Step implements [strategy.Peer].
func (p *peer) Step(now time.Duration, in strategy.Input) {
	if p.prober.Step(in) {
		return
	}
	switch in := in.(type) {
	case strategy.Joined:
		p.host.Wake(now + time.Duration(p.host.Rand().Int64N(int64(period))))
	case strategy.LinkOpened:
		if p.rounds == 0 && in.Outbound {
			p.send(in.Peer, ping{sum: 1}, header+8)
		}
	case strategy.Woken:
		p.round()
		p.host.Wake(now + period)
	case strategy.Changed:
		p.renew(true)
	case strategy.Started:
		p.start(in.Query)
	case strategy.Received:
		p.receive(in.From, in.Message.Body)
	case strategy.Failed:
		p.died(in.To)
		if w, is := in.Message.Body.(wanted); is {
			for _, id := range w.peers {
				p.members[id].asked = false
			}
		}
	}
}

func (p *peer) send(to strategy.ID, body any, bytes int) {
	p.host.Send(to, strategy.Message{Body: body, Bytes: bytes})
}

// round pings a random member that is not known to be dead. In one round of 30 the two compare their versions.
func (p *peer) round() {
	to, drawn := strategy.Partner(p.host, len(p.members), func(id strategy.ID) bool {
		return p.members[id].version > 0 && !p.members[id].dead
	})
	if p.rounds++; !drawn {
		return
	}
	var sum uint64
	if p.rounds%compared == 1 {
		sum = p.sum()
	}
	told, bytes := p.news()
	p.send(to, ping{told, sum}, header+8+bytes)
}

// sum returns a hash of the versions of all lists that this peer has, never 0.
func (p *peer) sum() (sum uint64) {
	for id, m := range p.members {
		if m.list != nil && !m.dead {
			sum ^= strategy.Scramble(uint64(id)<<32 | uint64(m.list.version))
		}
	}
	return sum | 1
}

// news returns the news for the next message, up to packet bytes. News that was sent the fewest times comes first.
func (p *peer) news() (out []news, bytes int) {
	slices.SortStableFunc(p.hot, func(a, b strategy.ID) int { return p.members[b].tell - p.members[a].tell })
	for _, id := range p.hot {
		m := &p.members[id]
		n := news{peer: id, version: m.version, dead: m.dead}
		size := newsBytes
		if m.changed && m.list != nil && m.list.version == m.version {
			n.change, size = m.list, newsBytes+keyBytes
		}
		if bytes+size > packet {
			break
		}
		out, bytes = append(out, n), bytes+size
		m.tell--
	}
	p.hot = slices.DeleteFunc(p.hot, func(id strategy.ID) bool { return p.members[id].tell == 0 })
	return out, bytes
}

func (p *peer) receive(from strategy.ID, body any) {
	switch b := body.(type) {
	case ping:
		p.take(from, b.news)
		if b.sum != 0 && b.sum != p.sum() {
			p.all(from, false)
		}
		told, bytes := p.news()
		p.send(from, ack{told}, header+bytes)
	case ack:
		p.take(from, b.news)
	case members:
		p.take(from, b.news)
		if !b.answer {
			p.all(from, true)
		}
	case wanted:
		p.serve(from, b.peers)
	case lists:
		for i, id := range b.peers {
			m := &p.members[id]
			m.asked = false
			if l := b.lists[i]; l != nil && (m.list == nil || l.version > m.list.version) {
				m.list = l
			}
		}
	}
}

// all sends a peer the news of all members.
func (p *peer) all(to strategy.ID, answer bool) {
	var out []news
	for id, m := range p.members {
		if m.version > 0 {
			out = append(out, news{peer: strategy.ID(id), version: m.version, dead: m.dead})
		}
	}
	p.send(to, members{out, answer}, header+len(out)*newsBytes)
}

// take handles the news of a message, and asks its sender for the lists that are missing.
func (p *peer) take(from strategy.ID, told []news) {
	var missing []strategy.ID
	for _, n := range told {
		p.hear(n)
		m := &p.members[n.peer]
		if behind := m.list == nil || m.list.version < m.version; behind && !m.asked && !m.dead {
			m.asked = true
			missing = append(missing, n.peer)
		}
	}
	if len(missing) > 0 {
		p.send(from, wanted{missing}, header+4*len(missing))
	}
}

// serve sends lists, as many in a message as fit in a packet, at least one. nil stands for a list that this peer
// lacks.
func (p *peer) serve(to strategy.ID, peers []strategy.ID) {
	var out lists
	bytes := header
	flush := func() {
		if len(out.peers) > 0 {
			p.send(to, out, bytes)
		}
		out, bytes = lists{}, header
	}
	for _, id := range peers {
		l := p.members[id].list
		size := newsBytes
		if l != nil {
			size += len(l.keys) * keyBytes
		}
		if bytes+size > packet {
			flush()
		}
		out.peers, out.lists, bytes = append(out.peers, id), append(out.lists, l), bytes+size
	}
	flush()
}

// start asks all known holders of the key, in a random order.
func (p *peer) start(q strategy.Query) {
	var holders []strategy.ID
	for id, m := range p.members {
		if m.list == nil || m.dead || strategy.ID(id) == p.host.Self() {
			continue
		}
		if _, holds := slices.BinarySearch(m.list.keys, q.Key.Fingerprint); holds {
			holders = append(holders, strategy.ID(id))
		}
	}
	p.host.Rand().Shuffle(len(holders), func(i, j int) { holders[i], holders[j] = holders[j], holders[i] })
	p.host.Covered(q.ID, p.Covers())
	p.prober.Start(q, holders, 1)
}

// DirectoryBytes implements [strategy.Measured].
func (p *peer) DirectoryBytes() (bytes int) {
	for _, m := range p.members {
		if m.list != nil {
			bytes += newsBytes + len(m.list.keys)*keyBytes
		}
	}
	return bytes
}

// Covers implements [strategy.Measured].
func (p *peer) Covers() float64 {
	return p.run.world.Share(func(id strategy.ID) bool { return p.members[id].list != nil })
}
