package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Fact is something that is true or false at any time, and that operations of daemons change.
type Fact struct {
	What What
	A, B int    // of peers: who holds; the two that reach each other, in any order; who says that it is linked with whom
	Key  string // that is held
}

// What a fact is about.
type What uint8

const (
	// Holds says that peer A holds the key.
	Holds What = iota
	// Reaches says that peers A and B run, and that messages pass between them.
	Reaches
	// Links says that peer A is linked with peer B, by what A knows.
	Links
)

// Never is the end of an operation of which nobody knows whether it was carried out.
const Never = time.Duration(1<<63 - 1)

// Find is a question that a peer was asked, and its answer. Times are since any one instant.
type Find struct {
	Asker    int
	Key      string
	All      bool  // every holder was wanted, not one
	Named    []int // peers; the asker itself may be among them
	From, To time.Duration
	End      []byte // what the daemon said of the search, as JSON
}

// Late is an answer that what had happened before makes wrong.
type Late struct {
	Find
	Peer   int           // that was named, or missed
	Named  bool          // it did not hold the key, or could not be reached
	By     time.Duration // for so long it had been wrong to answer so when the question was asked
	Linked time.Duration // the part of that, up to the question, in which both said that they were linked with each other
	Says   [2]bool       // whether the asker, and the peer, said so then
}

func (l Late) String() string {
	what := "missed"
	if l.Named {
		what = "named"
	}
	return fmt.Sprintf("peer %d, asked for %s at %.3f s, %s peer %d: wrong for %.3f s, linked %.3f s of that (they say: %v)",
		l.Asker, l.Key, l.From.Seconds(), what, l.Peer, l.By.Seconds(), l.Linked.Seconds(), l.Says)
}

// span is an operation that made a fact true or false at some time between its call and its return.
type span struct {
	call, ret time.Duration
	to        bool
}

// History judges answers against operations that overlap with each other and with the questions. Facts begin as false,
// before all times. Nobody can know of an operation under way what it has done: neither value is wrong then. Write all
// operations first, those of one fact in the order of their calls; then judge.
type History struct {
	peers  int
	log    map[Fact][]span
	looked map[Fact]time.Duration // when it was last looked at
}

// NewHistory returns the history of a number of peers before anything has happened.
func NewHistory(peers int) *History {
	return &History{peers, make(map[Fact][]span), make(map[Fact]time.Duration)}
}

func (f Fact) canonical() Fact {
	if f.What == Reaches && f.A > f.B {
		f.A, f.B = f.B, f.A
	}
	return f
}

// Write writes down an operation. It returned at ret, or nobody knows what it has done: [Never]. The next operation
// on the fact ends that doubt.
func (h *History) Write(f Fact, to bool, call, ret time.Duration) {
	f = f.canonical()
	log := h.log[f]
	if n := len(log); n > 0 && log[n-1].ret == Never {
		log[n-1].ret = ret
	}
	h.log[f] = append(log, span{call, ret, to})
}

// Saw writes down what a look at a fact has shown, that lasted from call to ret. What differs from before has changed at
// some time since the look before.
func (h *History) Saw(f Fact, is bool, call, ret time.Duration) {
	f = f.canonical()
	since, was := h.looked[f], false
	if log := h.log[f]; len(log) > 0 {
		last := log[len(log)-1]
		since, was = max(since, last.ret), last.to
	}
	if is != was {
		h.Write(f, is, min(since, call), ret)
	}
	h.looked[f] = call
}

// state returns what a fact surely is throughout a time, and since when. sure is false where an operation may have
// changed it in that time.
func (h *History) state(f Fact, from, to time.Duration) (value bool, since time.Duration, sure bool) {
	since = -1 << 62
	for _, s := range h.log[f.canonical()] {
		switch {
		case s.call > to:
		case s.ret >= from:
			return false, 0, false
		case s.to != value:
			value, since = s.to, s.ret
		}
	}
	return value, since, true
}

// Judge returns all peers that an answer names or misses wrongly, however short a time ago that became so. Of a find for
// one holder that found one nobody is missed. Peers that the asker cannot reach are not missed.
func (h *History) Judge(f Find) (late []Late) {
	named := make(map[int]bool)
	for _, p := range f.Named {
		named[p] = true
	}
	for p := range h.peers {
		if p == f.Asker || !f.All && len(f.Named) > 0 && !named[p] {
			continue
		}
		right, since, sure := h.truth(f, p)
		if !sure || right == named[p] {
			continue
		}
		l := Late{Find: f, Peer: p, Named: named[p], By: f.From - since}
		at := since
		for i, link := range []Fact{{What: Links, A: f.Asker, B: p}, {What: Links, A: p, B: f.Asker}} {
			var from time.Duration
			l.Says[i], from, _ = h.state(link, f.From, f.To)
			at = max(at, from)
		}
		if l.Says[0] && l.Says[1] {
			l.Linked = f.From - at
		}
		late = append(late, l)
	}
	return late
}

// truth returns whether a peer surely should be named, or surely should not, and since when the asker can know.
func (h *History) truth(f Find, p int) (right bool, since time.Duration, sure bool) {
	reach, reachSince, sureReach := h.state(Fact{What: Reaches, A: f.Asker, B: p}, f.From, f.To)
	holds, holdsSince, sureHolds := h.state(Fact{What: Holds, A: p, Key: f.Key}, f.From, f.To)
	switch {
	case sureReach && !reach:
		return false, reachSince, true
	case !sureReach || !sureHolds:
		return false, 0, false
	}
	return holds, max(holdsSince, reachSince), true
}

// Bounds are how long after a change answers may still be wrong.
type Bounds struct {
	Linked, All time.Duration // of peers while they are linked with the asker, and of all
}

// Verdict counts what is wrong with many answers.
type Verdict struct {
	Bounds
	Finds             int
	One, OneFound     int    // finds for one where somebody could be found for longer than the bounds, and those that found one
	Wanted, AllFound  int    // the same of holders, in finds for all
	Violations        []Late // later than the bounds, the latest first
	NamedBy, MissedBy Bounds // the latest of all
}

// Verdict judges all answers.
func (h *History) Verdict(b Bounds, finds []Find) Verdict {
	v := Verdict{Bounds: b, Finds: len(finds)}
	for _, f := range finds {
		v.recall(h, f)
		for _, l := range h.Judge(f) {
			v.take(l)
		}
	}
	slices.SortStableFunc(v.Violations, func(a, b Late) int { return cmp.Compare(b.By, a.By) })
	return v
}

func (v *Verdict) take(l Late) {
	most := &v.MissedBy
	if l.Named {
		most = &v.NamedBy
	}
	most.Linked, most.All = max(most.Linked, l.Linked), max(most.All, l.By)
	if l.By > v.All || l.Linked > v.Linked {
		v.Violations = append(v.Violations, l)
	}
}

// recall counts what was found of what could be found.
func (v *Verdict) recall(h *History, f Find) {
	old, found := 0, 0
	for p := range h.peers {
		right, since, sure := h.truth(f, p)
		if p == f.Asker || !sure || !right || f.From-since < v.All {
			continue
		}
		old++
		if slices.Contains(f.Named, p) {
			found++
		}
	}
	switch {
	case f.All:
		v.Wanted += old
		v.AllFound += found
	case old > 0:
		v.One++
		if len(f.Named) > 0 {
			v.OneFound++
		}
	}
}

// FindOne and FindAll are the shares that were found, in [0, 1].
func (v Verdict) FindOne() float64 { return share(v.OneFound, v.One) }

// FindAll is the share of holders that finds for all found.
func (v Verdict) FindAll() float64 { return share(v.AllFound, v.Wanted) }

func share(part, of int) float64 { return float64(part) / float64(max(of, 1)) }

func (v Verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d finds; find-one %.4f of %d, find-all %.4f of %d holders\n", v.Finds, v.FindOne(), v.One, v.FindAll(), v.Wanted)
	fmt.Fprintf(&b, "latest: a removed key named %.2f s (linked), %.2f s (all); a held key missed %.2f s (linked), %.2f s (all)\n",
		v.NamedBy.Linked.Seconds(), v.NamedBy.All.Seconds(), v.MissedBy.Linked.Seconds(), v.MissedBy.All.Seconds())
	fmt.Fprintf(&b, "%d violations at T = %v linked, %v all", len(v.Violations), v.Linked, v.All)
	return b.String()
}
