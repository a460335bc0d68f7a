package topology

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Kind is the reason why a peer is a neighbour.
type Kind string

// The kinds of neighbours.
const (
	// Random neighbours are drawn from all peers known: they keep the network connected and cannot be chosen by an
	// attacker.
	Random Kind = "random"
	// Similar neighbours hold the most of our collection, by estimate.
	Similar Kind = "overlap"
	// Near neighbours have the shortest round trips.
	Near Kind = "near"
	// Inbound neighbours chose us.
	Inbound Kind = "inbound"
	// Ranged neighbours are drawn from our range, if it is not the whole network: they bring news of the range.
	Ranged Kind = "range"
	// Spread neighbours are drawn from all parts of our range, where it is far wider than those of other peers.
	Spread Kind = "spread"
)

// Config holds the parameters of a [Topology]: the number of neighbours of each kind that we choose, and the most in
// all.
type Config struct {
	Overlap, Near, Random int
	MaxLinks              int           // most neighbours, inbound ones included; at least the sum of the above
	Spread                int           // the most spread neighbours; MaxLinks does not count them
	Accept                time.Duration // time within which a neighbour must accept; 0: 30 s
	Rand                  *rand.Rand
}

func (c *Config) slots() int { return c.Overlap + c.Near + c.Random }

// Act is one thing to do: an effect or, if Effect is nil, a hello to a peer with the fields below.
type Act struct {
	Effect    event.Effect
	To        wire.PeerID
	Neighbour bool // the peer is our neighbour
	Full      bool // we take no further neighbours
}

// Topology is the machine. Make one with [New]; the zero value is not usable. It is not safe for concurrent use.
type Topology struct {
	cfg        Config
	directory  *directory.Directory // only read
	neighbours map[wire.PeerID]*neighbour
	retry      map[int]agenda.Pause // by directory index: pauses in which a peer is not chosen
	audits     map[int]agenda.Pause // by directory index: pauses in which a peer is not audited
	due        agenda.Agenda
	spreading  spreading
	within     func(*directory.Entry) bool // reports whether an entry is in our range; nil: the range is everybody
	started    time.Duration
	acts       []Act
}

// The tasks that are done only when due.
const (
	dueSwap  = iota // a better neighbour by overlap is looked for
	dueTasks        // number of tasks
)

// neighbour is a peer that we keep, or are about to keep, a connection with.
type neighbour struct {
	kind     Kind
	since    time.Duration
	accepted bool // it has said that we are its neighbour too
}

// New returns a topology without neighbours, beside a directory.
func New(cfg Config, d *directory.Directory) *Topology {
	cfg.Accept = cmp.Or(cfg.Accept, agenda.Lately)
	return &Topology{
		cfg: cfg, directory: d, neighbours: map[wire.PeerID]*neighbour{},
		retry: map[int]agenda.Pause{}, audits: map[int]agenda.Pause{}, due: agenda.New(dueTasks),
	}
}

// Begin sets the time at which the node started.
func (t *Topology) Begin(now time.Duration) { t.started = now }

// Acts returns the acts since the last call, in order. It is valid until the next call of any method.
func (t *Topology) Acts() []Act {
	acts := t.acts
	t.acts = t.acts[:0]
	return acts
}

func (t *Topology) do(e event.Effect) { t.acts = append(t.acts, Act{Effect: e}) }

// greet sends a linked peer a hello that tells it whether it is our neighbour.
func (t *Topology) greet(p wire.PeerID) {
	t.acts = append(t.acts, Act{To: p, Neighbour: t.IsNeighbour(p), Full: t.Full()})
}

// Close notes that there is no connection to a peer any more: it is no neighbour then.
func (t *Topology) Close(p wire.PeerID) {
	t.refused(p) // a peer without room may close the connection in place of a refusal
	t.lose(p)
}

// Hear acts on the neighbourhood that a linked peer's hello declares. If refuse is set, a peer that chooses us is
// turned away, as if there were no room.
func (t *Topology) Hear(now time.Duration, p wire.PeerID, h wire.Hello, refuse bool) {
	nb, is := t.neighbours[p]
	switch {
	case !is && h.Neighbour:
		if refuse {
			t.acts = append(t.acts, Act{To: p, Full: true})
			return
		}
		if !t.Full() || t.makeRoom(p) {
			t.add(now, p, neighbour{kind: Inbound, since: now, accepted: true})
			t.do(event.Protect{Peer: p})
		}
		t.greet(p) // the hello says that we accept, or are full
	case is && h.Neighbour:
		if nb.kind == Spread && !nb.accepted {
			t.spreading.accepted()
		}
		nb.accepted = true
		if e := t.directory.Lookup(p); e != nil {
			delete(t.retry, e.Index())
		}
	case is && (nb.accepted || h.Full): // it gave us up, or takes nobody
		t.Refused(now, p)
	}
}

// makeRoom gives up an inbound neighbour in favour of p, if a network has at least two more inbound neighbours than
// p's: see [admission.Crowd]. It reports whether it did. The neighbour is drawn at random from that network.
func (t *Topology) makeRoom(p wire.PeerID) bool {
	path := func(p wire.PeerID) []string {
		return admission.Principal{Peer: string(p), Group: t.directory.GroupOf(p)}.Path()
	}
	var inbound []wire.PeerID
	places := admission.Census{}
	for q := range t.linkedOf(Inbound) {
		inbound = append(inbound, q)
		places.Count(path(q), 1)
	}
	crowd := admission.Crowd(places, inbound, path, path(p), 2)
	if len(crowd) == 0 {
		return false
	}
	t.giveUp(crowd[t.cfg.Rand.IntN(len(crowd))])
	return true
}

// Refused notes that a peer has refused us as a neighbour, or a link with us. The peer is not chosen for a while.
func (t *Topology) Refused(now time.Duration, p wire.PeerID) {
	if t.IsNeighbour(p) {
		t.refused(p)
		t.lose(p)
		t.do(event.Disconnect{Peer: p})
	}
	t.rest(now, p)
}

// DialFailed notes that a peer could not be reached.
func (t *Topology) DialFailed(now time.Duration, p wire.PeerID) {
	if !t.directory.IsLinked(p) {
		t.lose(p)
	}
	t.pause(now, p, agenda.Attempt, agenda.Seldom)
}

// rest keeps a peer that did not take us, or was given up, from being chosen for a while. The time doubles until it
// takes us.
func (t *Topology) rest(now time.Duration, p wire.PeerID) {
	t.pause(now, p, agenda.Seldom, agenda.Longest)
}

// pause begins the next pause in which a peer with an entry is not chosen: least, or twice the one before, but no more
// than most.
func (t *Topology) pause(now time.Duration, of wire.PeerID, least, most time.Duration) {
	if e := t.directory.Lookup(of); e != nil {
		p := t.retry[e.Index()]
		p.Begin(now, least, most)
		t.retry[e.Index()] = p
	}
}

// Renewed shortens the pause before the next audit of an entry to auditEvery: a newer epoch may make other claims.
func (t *Topology) Renewed(index int) {
	if p, audited := t.audits[index]; audited {
		p.Shorten(agenda.Faded)
		t.audits[index] = p
	}
}

// Refuted notes that some peer's claims were shown to be false; the directory knows whose. The next choice drops it as a
// neighbour by overlap.
func (t *Topology) Refuted(now time.Duration) { t.due.By(dueSwap, now) }

// Estimated notes that estimates of overlap have changed.
func (t *Topology) Estimated(now time.Duration) { t.due.By(dueSwap, now+agenda.Patience) }

// Removed notes that the entry at a directory index is gone.
func (t *Topology) Removed(index int) {
	delete(t.retry, index)
	delete(t.audits, index)
}

func (t *Topology) add(now time.Duration, p wire.PeerID, nb neighbour) {
	t.neighbours[p] = &nb
	t.due.By(dueSwap, now+agenda.Attempt)
}

// lose removes a peer from the neighbours, if it is one.
func (t *Topology) lose(p wire.PeerID) { delete(t.neighbours, p) }

// giveUp ends a neighbourhood from our side.
func (t *Topology) giveUp(p wire.PeerID) {
	t.lose(p)
	if t.directory.IsLinked(p) {
		t.greet(p)
	}
	t.do(event.Disconnect{Peer: p})
}

// IsNeighbour reports whether a peer is a neighbour, or about to be one.
func (t *Topology) IsNeighbour(p wire.PeerID) bool {
	_, is := t.neighbours[p]
	return is
}

// KindOf returns the kind of a neighbour; ok is false if the peer is none.
func (t *Topology) KindOf(p wire.PeerID) (k Kind, ok bool) {
	nb, is := t.neighbours[p]
	if !is {
		return "", false
	}
	return nb.kind, true
}

// Full reports whether no more peers may choose us. Room for our own choices is kept.
func (t *Topology) Full() bool { return t.count(Inbound) >= t.cfg.MaxLinks-t.cfg.slots() }

// count returns the number of neighbours of a kind.
func (t *Topology) count(k Kind) (n int) {
	for _, nb := range t.neighbours {
		if nb.kind == k {
			n++
		}
	}
	return n
}

// linkedOf yields the linked neighbours of a kind, in the order of peers. The caller may give them up meanwhile.
func (t *Topology) linkedOf(k Kind) iter.Seq2[wire.PeerID, *neighbour] {
	return func(yield func(wire.PeerID, *neighbour) bool) {
		for _, l := range t.directory.Links() {
			if nb, is := t.neighbours[l.Peer]; is && nb.kind == k && !yield(l.Peer, nb) {
				return
			}
		}
	}
}
