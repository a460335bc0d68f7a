package core

import (
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/summary"
)

// Changed reports the number of keys added to or removed from the peer's collection since the driver began the last
// tail or epoch. At first it is the number of all keys. The driver remembers which keys these are.
type Changed struct {
	Waiting int
	Many    bool // there are more than the driver remembers, so that only an epoch can carry them
}

// Moved reports that the peer's addresses have changed. The next epoch carries them.
type Moved struct{}

// Slept reports for how long the clock has stood still. Other peers may have dropped our summary as too old by then.
type Slept struct{ Time time.Duration }

// NotPublished reports that the epoch under a seed could not be made. The core asks for it again.
type NotPublished struct{ Seed summary.SeedTag }

func (Changed) For() event.Machines      { return event.Core }
func (Moved) For() event.Machines        { return event.Core }
func (Slept) For() event.Machines        { return event.Core }
func (NotPublished) For() event.Machines { return event.Core }

// MakeTail asks for a tails.Changed with all changes that the driver remembers. The driver then forgets them. It may
// answer later; until then the core asks for no other tail, and for no epoch under the present seed.
type MakeTail struct{}

// MakeEpoch asks for a summary of the collection under a seed. The driver answers with event.Published or with
// NotPublished, and may do so later. If the seed is the network's present one, the driver forgets which keys have
// changed before it reads the collection.
type MakeEpoch struct {
	Seed     summary.SeedTag
	Lifetime time.Duration
}

const (
	// leastTail is the least time between two tails.
	leastTail = 100 * time.Millisecond
	// ownEpochs is the share of the line's budget that the peer's own epochs may take. allEpochs is the share for the
	// epochs of all origins, if all change as fast as the peer. An epoch takes about epochBytes for each receiver, and
	// changeBytes for each change in it.
	ownEpochs   = 1.0 / 4
	allEpochs   = 1.0 / 2
	epochBytes  = 400
	changeBytes = 2
)

// announcer decides when a peer announces changes in its collection, and how: by a tail, or by an epoch if tails
// cannot carry them. While a network rotates its seed, epochs under the previous seed follow a schedule of their own.
type announcer struct {
	waiting  int           // changes that no tail or epoch has carried yet
	many     bool          // the waiting changes are more than the driver remembers
	building bool          // an epoch under the present seed is being made
	tailing  bool          // a tail is being made
	told     time.Duration // when the last tail was asked for
	tailed   bool          // a tail was asked for before
	epochs   schedule

	previous      schedule
	previousBuild bool // an epoch under the previous seed is being made
}

// changed records the number of waiting changes of the collection.
func (m *Machine) changed(in Changed) {
	a := &m.announcer
	if more := in.Waiting - a.waiting; more > 0 && m.rotating() {
		a.previous.wait(m.now, a.previous.changes+more, false)
	}
	a.waiting, a.many = in.Waiting, in.Many
}

// rotating reports whether epochs are also published under the previous seed.
func (m *Machine) rotating() bool { return m.now < m.previousUntil }

// announce asks for a tail or for epochs that are due.
func (m *Machine) announce() {
	a := &m.announcer
	if a.waiting > 0 && (a.many || !a.building && !m.bears()) {
		a.epochs.spacing = m.spacing(a.waiting)
		a.epochs.wait(m.now, a.waiting, true)
	}
	if at, ok := m.tailDue(); ok && at <= m.now {
		a.waiting, a.told, a.tailed, a.tailing = 0, m.now, true, true
		a.epochs.tail(m.now)
		m.effects = append(m.effects, MakeTail{})
	}
	if !a.building && !a.tailing && a.epochs.due() <= m.now {
		a.waiting, a.many, a.building = 0, false, true
		m.effects = append(m.effects, MakeEpoch{m.seed, a.epochs.begin(m.now)})
	}
	if m.rotating() && !a.previousBuild && a.previous.due() <= m.now {
		a.previousBuild = true
		m.effects = append(m.effects, MakeEpoch{m.previousSeed, a.previous.begin(m.now)})
	}
}

// announceDue returns the next time at which announce has something to do.
func (m *Machine) announceDue() wake {
	at := never
	if t, ok := m.tailDue(); ok {
		at = t
	}
	if !m.announcer.building && !m.announcer.tailing {
		at = min(at, m.announcer.epochs.due())
	}
	if m.rotating() && !m.announcer.previousBuild {
		at = min(at, m.announcer.previous.due())
	}
	return wake{at, at != never}
}

// bears reports whether a tail can carry the waiting changes.
func (m *Machine) bears() bool {
	return m.Tails != nil && !m.announcer.many && m.Tails.Bears(m.announcer.waiting)
}

// tailDue returns when the next tail is due; false if none is. While an epoch is being made, no tail is due, because
// tails continue from the epoch that was published last.
func (m *Machine) tailDue() (time.Duration, bool) {
	a := &m.announcer
	if a.waiting == 0 || a.building || a.tailing || !m.bears() {
		return 0, false
	}
	if !a.tailed {
		return m.now, true
	}
	o := m.Overlay
	return a.told + max(leastTail, tails.Pause(o.LineOut(), o.Links(), o.Origins()), m.Tails.Pace()), true
}

// spacing returns the least time between epochs with this number of changes. It assumes that the peer has to carry as
// much of others' epochs as others carry of its own.
func (m *Machine) spacing(changes int) time.Duration {
	o := m.Overlay
	times := max(float64(o.Links())/ownEpochs, float64(o.Origins())/allEpochs)
	seconds := (epochBytes + changeBytes*float64(changes)) * times / o.LineOut()
	return min(max(time.Duration(seconds*float64(time.Second)), LeastSpacing, m.leastSpacing), MostSpacing)
}

// noteMade notes that an epoch or a tail was made, before the machines get it and send it to others.
func (m *Machine) noteMade(in event.Input) {
	switch in := in.(type) {
	case event.Published:
		m.published(in.Stream.Header())
	case tails.Changed:
		m.announcer.tailing = false
	}
}

// published notes that an epoch was made, and its number of keys. Under the previous seed, it sets the next pause.
func (m *Machine) published(h summary.Header) {
	a := &m.announcer
	if h.Seed == m.seed {
		a.building, a.epochs.keys = false, h.N
		return
	}
	a.previousBuild, a.previous.keys = false, h.N
	a.previous.spacing = max(MostSpacing, restAfter*(m.now-a.previous.last))
}

// notPublished records that an epoch could not be made. It makes all keys count as waiting changes, so that the next
// epoch is due soon.
func (m *Machine) notPublished(in NotPublished) {
	a := &m.announcer
	if in.Seed == m.seed {
		a.building = false
		a.epochs.wait(m.now, max(a.epochs.changes, 1)+a.epochs.keys, false)
		return
	}
	a.previousBuild = false
	a.previous.wait(m.now, max(a.previous.changes, 1)+a.previous.keys, false)
}

// slept adds the time for which the clock stood still to the age of the published epochs.
func (m *Machine) slept(d time.Duration) {
	m.announcer.epochs.last -= d
	m.announcer.previous.last -= d
}

// untold reports whether there are changes that neither a tail nor an epoch has carried yet.
func (a *announcer) untold() bool { return a.building || a.tailing || a.waiting > 0 }
