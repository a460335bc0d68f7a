package exchange

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// A claim is cheap: a peer that claims newer epochs of all origins is asked for them before any honest peer. So each
// link has credit. An ask that brings nothing spends some, and an ask that brings what was claimed gives some back, as
// does time. The claims of a link without credit count only if no link with credit offers anything.
//
// A peer may send what it was asked for, once. An ask adds its parts to what the peer owes of the origin; each message
// pays for its parts. So the line takes no more than was asked for, however late it comes, and whatever was forgotten
// meanwhile.
const (
	fullCredit = bound.Credit
	maxParted  = bound.Few // peers whose links have closed, and whose standing is remembered
)

// standing has a peer's credit, and its matters by origin. It outlives the peer's sessions and links.
type standing struct {
	peer   wire.PeerID
	closed time.Duration      // when its last link closed
	spent  float64            // used-up credit
	last   time.Duration      // when credit was last given back for time
	unkept int                // asks in a row that brought nothing
	useful bool               // an ask of the peer has brought something
	proven int                // other origins that it brought when nothing was held, less the times that it brought nothing then
	about  map[uint64]*matter // matters by tag, of the origins that the peer was asked about lately
}

// matter has a peer's debts of one origin, and the reasons not to ask it about that origin.
type matter struct {
	oldest   summary.Epoch // the oldest epoch that it owes parts of
	owed     int           // parts that it was asked for and has not sent
	shunned  time.Duration // the peer is not asked about this origin before this time
	failures int           // asks in a row about this origin that brought nothing
	noDelta  summary.Epoch // it is asked for parts of this epoch, because a delta to it did not apply
	end      time.Duration // the whole matter is forgotten then
}

// matter returns a peer's matter about an origin, to be changed. It lasts for ten minutes from now on.
func (x *Exchange) matter(l *link, tag uint64) *matter {
	m := l.about[tag]
	if m == nil {
		m = &matter{}
		if l.about == nil {
			l.about = map[uint64]*matter{}
		}
		l.about[tag] = m
	}
	m.end = x.now + agenda.Faded
	return m
}

// over reports whether no field of a matter counts any more.
func (m *matter) over(now time.Duration) bool {
	return now >= m.end || m.owed == 0 && now >= m.shunned && m.failures == 0 && m.noDelta == summary.Epoch{}
}

// owes adds the parts of an ask to the number of parts that a link may send of an origin.
func (x *Exchange) owes(l *link, e *origin, ask wire.Item) {
	m := x.matter(l, e.Tag())
	if m.owed == 0 {
		m.oldest = ask.Group.Epoch()
	}
	m.owed += int(ask.Want - ask.Have)
}

// pays counts a message against what its sender owes, and returns the fault if it owes less.
func (l *link) pays(now time.Duration, in event.PartsReceived) event.Fault {
	first, end := directory.Span(in.Parts)
	parts, m := max(1, end-first), l.about[in.Group.OriginTag()]
	switch {
	case m == nil || m.owed < parts || m.over(now):
		return event.FaultUnasked
	case m.oldest.After(in.Group.Epoch()):
		return event.FaultReplay
	}
	m.owed -= parts
	return ""
}

// shuns reports whether a peer is not to be asked about an origin now.
func (s *standing) shuns(now time.Duration, tag uint64) bool {
	m := s.about[tag]
	return m != nil && now < m.shunned
}

// appliesNo reports whether a delta from the peer to an epoch did not apply.
func (s *standing) appliesNo(tag uint64, epoch summary.Epoch) bool {
	m := s.about[tag]
	return m != nil && m.noDelta == epoch
}

// breaks notes that an ask brought nothing.
func (s *standing) breaks(now time.Duration, full float64) {
	s.regain(now)
	s.spent = min(full, s.spent+1)
	s.unkept++
}

// keeps notes that an ask about an origin brought what was claimed.
func (s *standing) keeps(tag uint64) {
	s.unkept, s.useful, s.spent = 0, true, max(0, s.spent-1)
	if m := s.about[tag]; m != nil {
		m.failures, m.shunned = 0, 0
	}
}

func (s *standing) regain(now time.Duration) {
	s.spent = max(0, s.spent-float64(now-s.last)/float64(agenda.Seldom))
	s.last = now
}

// age gives credit back, and forgets matters that are over.
func (s *standing) age(now time.Duration) {
	s.regain(now)
	for tag, m := range s.about {
		if m.over(now) {
			delete(s.about, tag)
		}
	}
}

// vouches reports whether a link's word is enough for an origin of which nothing is held: the link has brought more such
// origins, itself aside, than it was asked for in vain. While no link has, as at the start, two have to name an origin
// where there are four. No link vouches again for an origin of which it brought nothing when asked.
func (x *Exchange) vouches(l *link, e *directory.Entry) bool {
	if m := l.about[e.Tag()]; m != nil && m.failures > 0 {
		return false
	}
	return l.proves() || !x.directory.Invented(e) && !slices.ContainsFunc(x.links, (*link).proves)
}

// proves reports whether a link has brought more unknown origins than it was asked for in vain.
func (l *link) proves() bool { return l.proven > 0 }

// trusts reports whether a link has credit left, so that its claims compete with those of others.
func (x *Exchange) trusts(l *link) bool { return l.spent <= x.cfg.Limits.Credit-1 }

// part keeps the standing of a peer whose link has closed. It drops the oldest one if there are too many.
func (x *Exchange) part(now time.Duration, s *standing) {
	if s.age(now); len(s.about) == 0 && s.spent == 0 && s.unkept == 0 && s.proven >= 0 {
		return
	}
	s.closed = now
	if x.parted = append(x.parted, s); len(x.parted) > maxParted {
		x.parted = slices.Delete(x.parted, 0, 1)
	}
}

// recall returns the standing of a peer: the remembered one if its last link closed within Limits.Remember, else a new
// one.
func (x *Exchange) recall(now time.Duration, p wire.PeerID) *standing {
	x.parted = slices.DeleteFunc(x.parted, func(s *standing) bool { return now >= s.closed+x.cfg.Limits.Remember })
	i := slices.IndexFunc(x.parted, func(s *standing) bool { return s.peer == p })
	if i < 0 {
		return &standing{peer: p}
	}
	s := x.parted[i]
	x.parted = slices.Delete(x.parted, i, i+1)
	s.age(now)
	return s
}
