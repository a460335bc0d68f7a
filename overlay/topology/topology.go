package topology

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Kind says why a peer is a neighbour.
type Kind uint8

const (
	// Random neighbours are drawn from all peers known: they keep the network connected and cannot be chosen by an
	// attacker.
	Random Kind = iota
	// Similar neighbours hold the most of our collection, by estimate.
	Similar
	// Near neighbours have the shortest round trips.
	Near
	// Inbound neighbours chose us.
	Inbound
	// Ranged neighbours are drawn from the own range, where that is not everybody: what is known of it comes from them.
	Ranged
	// Spread neighbours are drawn from all parts of the own range, where that is far wider than those of others.
	Spread

	kinds // how many there are
)

// String returns the name of the kind.
func (k Kind) String() string {
	return [...]string{"random", "overlap", "near", "inbound", "range", "spread"}[k]
}

// Config holds the parameters of a [Topology]: how many neighbours of each kind we choose, and how many there may be in
// all.
type Config struct {
	Overlap, Near, Random int
	MaxLinks              int           // those that chose us included; at least the sum of the above
	Spread                int           // the most spread neighbours; MaxLinks does not count them
	Accept                time.Duration // within which a neighbour must say that it accepts; 0: 30 s
	Rand                  *rand.Rand
	Group                 func(wire.PeerID) string // what a peer's addresses have in common with others'; "" or nil: nothing
}

func (c *Config) slots() int { return c.Overlap + c.Near + c.Random }

// Act is one thing to do: an effect or, if that is nil, a hello to a peer with the fields below.
type Act struct {
	Effect    event.Effect
	To        wire.PeerID
	Neighbour bool // the peer is our neighbour
	Full      bool // we take no further neighbours
}

// Peers is what a choice looks at: the directory.
type Peers interface {
	Others() []*directory.Entry // some are nil
	Entry(index int) *directory.Entry
	Lookup(p wire.PeerID) *directory.Entry
}

// Topology is the machine. Make one with [New]; the zero value is not usable. It is not safe for concurrent use.
type Topology struct {
	cfg        Config
	neighbours map[wire.PeerID]*neighbour
	kinds      [kinds]int    // how many neighbours there are of each
	linked     []wire.PeerID // sorted
	meshed     map[wire.PeerID]bool
	retry      map[int]agenda.Pause // by directory index: not dialled as a neighbour meanwhile
	audits     map[int]agenda.Pause // by directory index: not audited meanwhile
	due        agenda.Agenda
	spreading  spreading
	within     func(*directory.Entry) bool // nil: the own range is everybody
	started    time.Duration
	acts       []Act
}

// dueSwap is when there may be a better neighbour for a slot that is taken.
const dueSwap = 0

// neighbour is a peer that we keep, or are about to keep, a connection with.
type neighbour struct {
	kind     Kind
	since    time.Duration
	accepted bool // it has said that we are its neighbour too
}

// New returns a topology without neighbours.
func New(cfg Config) *Topology {
	cfg.Accept = cmp.Or(cfg.Accept, acceptWithin)
	return &Topology{
		cfg: cfg, neighbours: map[wire.PeerID]*neighbour{}, meshed: map[wire.PeerID]bool{},
		retry: map[int]agenda.Pause{}, audits: map[int]agenda.Pause{}, due: agenda.New(1),
	}
}

// Begin says when the node started.
func (t *Topology) Begin(now time.Duration) { t.started = now }

// Acts returns what is to be done since the last call, in order. It is valid until the next call of any method.
func (t *Topology) Acts() []Act {
	acts := t.acts
	t.acts = t.acts[:0]
	return acts
}

func (t *Topology) do(e event.Effect) { t.acts = append(t.acts, Act{Effect: e}) }

// greet sends a hello to a linked peer that says whether it is our neighbour.
func (t *Topology) greet(p wire.PeerID) {
	t.acts = append(t.acts, Act{To: p, Neighbour: t.IsNeighbour(p), Full: t.Full()})
}

// Open notes that there is a connection to a peer.
func (t *Topology) Open(p wire.PeerID) {
	if at, ok := slices.BinarySearch(t.linked, p); !ok {
		t.linked = slices.Insert(t.linked, at, p)
	}
}

// IsMeshed says whether a peer is in the mesh.
func (t *Topology) IsMeshed(p wire.PeerID) bool { return t.meshed[p] }

// Close notes that there is no connection to a peer any more: it is no neighbour then.
func (t *Topology) Close(p wire.PeerID) {
	if at, ok := slices.BinarySearch(t.linked, p); ok {
		t.linked = slices.Delete(t.linked, at, at+1)
	}
	delete(t.meshed, p)
	t.refused(p) // so does one refuse that has no room for connections
	t.lose(p)
}

func (t *Topology) isLinked(p wire.PeerID) bool {
	_, ok := slices.BinarySearch(t.linked, p)
	return ok
}

// Mesh notes that a peer entered or left the pubsub mesh. Pubsub may say so before the connection is known here.
func (t *Topology) Mesh(p wire.PeerID, in bool) {
	if in {
		t.meshed[p] = true
	} else {
		delete(t.meshed, p)
	}
}

// Hear acts on what a linked peer's hello says about neighbourhood; e is its entry, nil if it has none. With refuse it is
// not taken for a neighbour that has chosen us, as if there were no room.
func (t *Topology) Hear(now time.Duration, p wire.PeerID, h wire.Hello, e *directory.Entry, refuse bool) {
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
		t.greet(p) // accepted, or full
	case is && h.Neighbour:
		if nb.kind == Spread && !nb.accepted {
			t.spreading.accepted()
		}
		nb.accepted = true
		if e != nil {
			delete(t.retry, e.Index())
		}
	case is && (nb.accepted || h.Full): // it gave us up, or takes nobody
		t.Refused(now, p, e)
	}
}

// makeRoom gives up one of those who chose us for a peer, if a group of addresses has two more of them than the peer's
// own. It says whether it did. Which of the group goes is left to chance.
func (t *Topology) makeRoom(p wire.PeerID) bool {
	of := map[string][]wire.PeerID{}
	var most []wire.PeerID
	for _, q := range t.linked {
		if k, is := t.KindOf(q); is && k == Inbound {
			g := t.group(q)
			if of[g] = append(of[g], q); len(of[g]) > len(most) {
				most = of[g]
			}
		}
	}
	if len(most) < len(of[t.group(p)])+2 {
		return false
	}
	t.giveUp(most[t.cfg.Rand.IntN(len(most))])
	return true
}

// group names a peer's group of addresses: the peer itself if nothing is known of one.
func (t *Topology) group(p wire.PeerID) string {
	if t.cfg.Group != nil {
		if g := t.cfg.Group(p); g != "" {
			return g
		}
	}
	return "peer " + string(p)
}

// Refused notes that a peer takes us neither for a neighbour nor for a link; e is its entry, nil if it has none. It is
// not chosen for a while.
func (t *Topology) Refused(now time.Duration, p wire.PeerID, e *directory.Entry) {
	if t.IsNeighbour(p) {
		t.refused(p)
		t.lose(p)
		t.do(event.Disconnect{Peer: p})
	}
	if e != nil {
		t.rest(now, e)
	}
}

// DialFailed notes that a peer could not be reached; e is its entry, nil if it has none.
func (t *Topology) DialFailed(now time.Duration, p wire.PeerID, e *directory.Entry) {
	if !t.isLinked(p) {
		t.lose(p)
	}
	if e != nil {
		var p agenda.Pause
		p.Begin(now, time.Duration(min(max(e.DialFails(), 1), 6))*redialAfter, redialMost)
		t.retry[e.Index()] = p
	}
}

// rest has a peer that did not take us, or was given up, not chosen for a while: each time for twice as long, until it
// takes us.
func (t *Topology) rest(now time.Duration, e *directory.Entry) {
	p := t.retry[e.Index()]
	p.Begin(now, refusedFor, refusedMost)
	t.retry[e.Index()] = p
}

// Renewed notes that there is a newer epoch of an entry: it may claim something else.
func (t *Topology) Renewed(index int) {
	if p, audited := t.audits[index]; audited {
		p.Shorten(auditEvery)
		t.audits[index] = p
	}
}

// Refuted notes that a peer's claims were shown to be false: its slot is looked at at once.
func (t *Topology) Refuted(now time.Duration) { t.due.By(dueSwap, now) }

// Estimated notes that estimates of overlap have changed.
func (t *Topology) Estimated(now time.Duration) { t.due.By(dueSwap, now+swapEvery) }

// Removed notes that there is no entry at a directory index any more.
func (t *Topology) Removed(index int) {
	delete(t.retry, index)
	delete(t.audits, index)
}

func (t *Topology) add(now time.Duration, p wire.PeerID, nb neighbour) {
	t.neighbours[p] = &nb
	t.kinds[nb.kind]++
	t.due.By(dueSwap, now+keepFor)
}

// lose forgets a neighbour, if it is one.
func (t *Topology) lose(p wire.PeerID) {
	if nb, is := t.neighbours[p]; is {
		t.kinds[nb.kind]--
		delete(t.neighbours, p)
	}
}

// giveUp ends a neighbourhood from our side.
func (t *Topology) giveUp(p wire.PeerID) {
	t.lose(p)
	if t.isLinked(p) {
		t.greet(p)
	}
	t.do(event.Disconnect{Peer: p})
}

// IsNeighbour says whether a peer is a neighbour, or about to be one.
func (t *Topology) IsNeighbour(p wire.PeerID) bool {
	_, is := t.neighbours[p]
	return is
}

// KindOf returns why a peer is a neighbour; ok is false if it is none.
func (t *Topology) KindOf(p wire.PeerID) (k Kind, ok bool) {
	nb, is := t.neighbours[p]
	if !is {
		return 0, false
	}
	return nb.kind, true
}

// Full says whether no more peers may choose us: room for our own choices is kept.
func (t *Topology) Full() bool { return t.count(Inbound) >= t.cfg.MaxLinks-t.cfg.slots() }

func (t *Topology) count(k Kind) int { return t.kinds[k] }
