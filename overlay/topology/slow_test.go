package topology

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// town is a topology over a directory of peers whose collections overlap with our own. The overlaps are estimated from
// summaries; some peers are known by their record alone. A seed decides.
type town struct {
	t     *testing.T
	rng   *rand.Rand
	d     *directory.Directory
	top   *Topology
	known Known
	now   time.Duration
	own   []summary.Fingerprint
	acts  []Act // of the last choice, for the next second to carry out
	rtts  map[wire.PeerID]time.Duration

	shy   float64        // the part of dials that fail, of peers that refuse, or say nothing, and of seconds with a mishap
	apart bool           // round trips are measured on links alone
	did   map[string]int // by the slow twin
	waits int            // seconds for which a swap was possible and not made
}

func newTown(t *testing.T, seed uint64, cfg Config, peers int, apart bool) *town {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	cfg.Rand = rng
	w := &town{
		t: t, rng: rng, d: known(), apart: apart, rtts: map[wire.PeerID]time.Duration{}, did: map[string]int{},
	}
	w.top = New(cfg, w.d)
	w.own = plain.Keys(rng, 50+rng.IntN(300))
	s := summaryOf("self", 1, w.own)
	w.d.Publish(0, event.Published{Stream: s.Stream, Envelope: s.Envelope, Record: s.Record})
	for range peers {
		w.arrive()
	}
	w.known = Known{Idle: func(wire.PeerID) bool { return true }}
	return w
}

// arrive brings a peer's summary, or its record alone.
func (w *town) arrive() {
	w.t.Helper()
	p := wire.PeerID(fmt.Sprintf("%08x", w.rng.Uint32()))
	w.rtts[p] = time.Duration(1+w.rng.IntN(40)) * time.Millisecond
	if w.rng.IntN(10) == 0 {
		w.d.LearnRecord(w.now, peer, wire.Record{Peer: p, Envelope: []byte(p)})
		return
	}
	shared := w.own[:w.rng.IntN(len(w.own)+1)]
	s := summaryOf(p, 1, append(plain.Keys(w.rng, 10+w.rng.IntN(1000)), shared...))
	in := s.Sent(peer, 0, s.Parts())
	if r := w.d.Take(w.now, w.d.Add(w.now, peer, in.Group.OriginTag()), in); r.Learned == nil {
		w.t.Fatalf("%q: %+v", p, r)
	}
	if !w.apart {
		w.d.RoundTrip(p, w.rtts[p])
	}
	for w.d.Estimate() {
		w.top.Estimated(w.now)
	}
}

// wrong says whether something goes wrong this time.
func (w *town) wrong() bool { return w.rng.Float64() < w.shy }

// second carries out what the topology wanted, lets a second pass and has it choose again. It holds the choice to the
// slow twin's.
func (w *town) second() {
	w.t.Helper()
	w.now += time.Second
	for _, a := range w.acts {
		switch e := a.Effect.(type) {
		case event.Connect:
			w.connect(e.To.Peer)
		case event.Disconnect:
			if w.top.directory.IsLinked(e.Peer) && !w.top.IsNeighbour(e.Peer) {
				w.close(e.Peer)
			}
		}
	}
	if w.wrong() {
		w.mishap()
	}
	w.top.Acts()

	slow := newSlow(w)
	w.top.Choose(w.now, w.known)
	w.acts = slices.Clone(w.top.Acts())
	if err := cmp.Or(slow.choose(w.acts), slow.compare(w.top), w.top.Check()); err != nil {
		w.t.Fatalf("at %v: %v", w.now, err)
	}
}

// connect dials a peer, which says at once what it thinks of us.
func (w *town) connect(p wire.PeerID) {
	if w.wrong() {
		w.top.DialFailed(w.now, p)
		return
	}
	w.top.directory.Open(p, "")
	w.d.RoundTrip(p, w.rtts[p])
	switch {
	case !w.wrong():
		w.top.Hear(w.now, p, wire.Hello{Neighbour: true}, false)
	case w.wrong():
		w.top.Hear(w.now, p, wire.Hello{Full: true}, false)
	}
}

// close ends a link.
func (w *town) close(p wire.PeerID) {
	w.d.Close(p)
	w.top.Close(p)
}

// mishap does something to a peer: it chooses us, gives us up, goes, or an audit refutes it. Or there is one more
// peer, or the own range changes.
func (w *town) mishap() {
	others := w.d.Others()
	e := others[w.rng.IntN(len(others))]
	p := e.Peer()
	switch w.rng.IntN(7) {
	case 0:
		w.top.directory.Open(p, "")
		w.top.Hear(w.now, p, wire.Hello{Neighbour: true}, false)
	case 1:
		w.top.Hear(w.now, p, wire.Hello{}, false)
	case 2:
		w.close(p)
	case 3:
		if w.d.Outcome(w.now, p, 0, 20) {
			w.top.Refuted(w.now)
		}
	case 4:
		w.known.Idle = func(q wire.PeerID) bool { return q != p }
	case 5:
		w.arrive()
	case 6:
		w.known.Starting = w.rng.IntN(4) == 0
		if w.known.Within != nil {
			half := space.Around(space.Place(w.rng.Uint64()), 1)
			w.known.Within = func(e *directory.Entry) bool { return half.Contains(w.d.Place(e)) }
		}
	}
}

// slow is Choose by the plain meaning of its rules, without spread neighbours: each slot goes to the best peer that is
// left. Where chance decides it takes what the topology did, and sees that it could be drawn.
type slow struct {
	*town
	neighbours    map[wire.PeerID]neighbour
	linked        map[wire.PeerID]bool
	retry, audits map[int]agenda.Pause
	swaps         bool // it is time to look for swaps

	room           int
	connects, gone []wire.PeerID // by the topology, in order: those not yet accounted for
	audited        []wire.PeerID
}

func newSlow(w *town) *slow {
	s := &slow{
		town: w, neighbours: map[wire.PeerID]neighbour{}, linked: map[wire.PeerID]bool{},
		retry: maps.Clone(w.top.retry), audits: maps.Clone(w.top.audits), swaps: w.top.due.At(dueSwap) <= w.now, room: connectsATime,
	}
	for p, nb := range w.top.neighbours {
		s.neighbours[p] = *nb
	}
	for _, l := range w.d.Links() {
		s.linked[l.Peer] = true
	}
	return s
}

func (s *slow) count(k Kind) (n int) {
	for _, nb := range s.neighbours {
		if nb.kind == k {
			n++
		}
	}
	return n
}

// each calls do with the linked neighbours that have an entry, in the order of peers.
func (s *slow) each(do func(p wire.PeerID, nb neighbour, e *directory.Entry)) {
	for _, p := range slices.Sorted(maps.Keys(s.neighbours)) {
		if e := s.d.Lookup(p); s.linked[p] && e != nil {
			do(p, s.neighbours[p], e)
		}
	}
}

// may are the entries that can become neighbours of a kind, in the order of the directory.
func (s *slow) may(k Kind, neighbours func(Kind) bool) (out []*directory.Entry) {
	for _, e := range s.d.Others() {
		nb, is := s.neighbours[e.Peer()]
		overlap := k == Similar
		if s.now < s.retry[e.Index()].End() || overlap && (e.Refuted() || !e.Judged()) || k == Near && e.RTT() == 0 ||
			k == Ranged && !s.known.Within(e) || is && !neighbours(nb.kind) {
			continue
		}
		out = append(out, e)
	}
	return out
}

// longer begins the next pause of an entry.
func longer(pauses map[int]agenda.Pause, e *directory.Entry, now, least, most time.Duration) {
	p := pauses[e.Index()]
	p.Begin(now, least, most)
	pauses[e.Index()] = p
}

func noNeighbours(Kind) bool { return false }

// best is the entry of the greatest value, the first of equals.
func best(all []*directory.Entry, value func(*directory.Entry) float64) (out *directory.Entry) {
	for _, e := range all {
		if out == nil || value(e) > value(out) {
			out = e
		}
	}
	return out
}

func overlap(e *directory.Entry) float64 { return e.Overlap().Value }
func near(e *directory.Entry) float64    { return -float64(e.RTT()) }

// take makes a peer a neighbour of a kind.
func (s *slow) take(p wire.PeerID, k Kind) error {
	nb, is := s.neighbours[p]
	s.neighbours[p] = neighbour{kind: k, since: s.now, accepted: is && nb.accepted}
	s.did["chose a "+string(k)+" one"]++
	if is {
		s.did["chose a neighbour again"]++
		return nil
	}
	if !s.linked[p] {
		s.room--
	}
	if len(s.connects) == 0 || s.connects[0] != p {
		return fmt.Errorf("the topology connects with %q, want %q first, for a %v slot", s.connects, p, k)
	}
	s.connects = s.connects[1:]
	return nil
}

// drop gives a neighbour up.
func (s *slow) drop(p wire.PeerID) error {
	delete(s.neighbours, p)
	if len(s.gone) == 0 || s.gone[0] != p {
		return fmt.Errorf("the topology gives up %q, want %q first", s.gone, p)
	}
	s.gone = s.gone[1:]
	return nil
}

// choose does all of it, in order.
func (s *slow) choose(acts []Act) error {
	for _, a := range acts {
		switch e := a.Effect.(type) {
		case event.Connect:
			s.connects = append(s.connects, e.To.Peer)
		case event.Disconnect:
			s.gone = append(s.gone, e.Peer)
		case event.Audit:
			s.audited = append(s.audited, e.Of.Peer)
		}
	}
	steps := []func() error{s.silent, s.recast, s.ranged}
	running := s.now - s.top.started
	old := s.now-s.d.LastLearned() >= 4*time.Second && running >= 4*time.Second || running >= 20*time.Second
	if old && s.d.Origins() > 0 && !s.known.Starting {
		steps = append(steps, s.similar, s.swap, s.nearest, s.extra)
	}
	for _, step := range append(steps, s.random, s.audit) {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// silent gives up those that have not accepted in 30 seconds, for a minute.
func (s *slow) silent() (err error) {
	s.each(func(p wire.PeerID, nb neighbour, e *directory.Entry) {
		if err == nil && !nb.accepted && s.now-nb.since >= 30*time.Second {
			longer(s.retry, e, s.now, time.Minute, time.Hour)
			s.did["gave up who did not accept"]++
			err = s.drop(p)
		}
	})
	return err
}

// recast makes random neighbours of those drawn from the own range that are outside of it now, or gives them up where
// all slots have random ones.
func (s *slow) recast() (err error) {
	s.each(func(p wire.PeerID, nb neighbour, e *directory.Entry) {
		switch {
		case err != nil || nb.kind != Ranged || s.known.Within != nil && s.known.Within(e):
		case s.count(Random) == s.top.cfg.slots():
			err = s.drop(p)
		default:
			nb.kind = Random
			s.neighbours[p] = nb
			s.did["made a ranged one random"]++
		}
	})
	return err
}

// ranged draws neighbours in the own range until four links lead into it, two of them our own. Linked peers come first.
func (s *slow) ranged() error {
	if s.known.Within == nil || s.known.Starting {
		return nil
	}
	wanted := 4
	s.each(func(_ wire.PeerID, nb neighbour, e *directory.Entry) {
		if nb.kind == Inbound && s.known.Within(e) && wanted > 2 {
			wanted--
		}
	})
	return s.draw(Ranged, min(s.room, wanted-s.count(Ranged)), true)
}

// draw takes up to n of the peers that can become neighbours of a kind, as the topology has drawn them.
func (s *slow) draw(k Kind, n int, linkedFirst bool) error {
	all := s.may(k, noNeighbours)
	for range min(n, len(all)) {
		if len(s.connects) == 0 {
			return fmt.Errorf("nobody is drawn for a %v slot, want one of %d", k, len(all))
		}
		p := s.connects[0]
		e := s.d.Lookup(p)
		if !slices.Contains(all, e) {
			return fmt.Errorf("%q is drawn for a %v slot, and cannot be", p, k)
		}
		if linkedFirst && !s.linked[p] && slices.ContainsFunc(all, func(e *directory.Entry) bool { return s.linked[e.Peer()] }) {
			return fmt.Errorf("%q is drawn for a %v slot before those linked", p, k)
		}
		all = slices.DeleteFunc(all, func(x *directory.Entry) bool { return x == e })
		if err := s.take(p, k); err != nil {
			return err
		}
	}
	return nil
}

func (s *slow) similarSlots() int {
	if s.known.Within != nil {
		return s.top.cfg.Overlap / 2
	}
	return s.top.cfg.Overlap
}

// similar fills the slots for overlap, with neighbours of other kinds, too.
func (s *slow) similar() error {
	for s.count(Similar) < s.similarSlots() && s.room > 0 {
		e := best(s.may(Similar, func(k Kind) bool { return k != Similar }), overlap)
		if e == nil {
			break
		}
		if err := s.take(e.Peer(), Similar); err != nil {
			return err
		}
	}
	return nil
}

// fill fills slots of a kind with the best of those that are no neighbours, or random ones.
func (s *slow) fill(k Kind, slots int, value func(*directory.Entry) float64) error {
	for range min(s.room, slots-s.count(k)) {
		e := best(s.may(k, func(k Kind) bool { return k == Random }), value)
		if e == nil {
			break
		}
		if err := s.take(e.Peer(), k); err != nil {
			return err
		}
	}
	return nil
}

func (s *slow) nearest() error {
	if s.known.Within != nil {
		return nil
	}
	return s.fill(Near, s.top.cfg.Near, near)
}

// swap gives up those that an audit refuted. Then one neighbour by overlap goes for a peer that is better beyond doubt.
func (s *slow) swap() (err error) {
	if !s.swaps {
		return s.wait()
	}
	s.waits = 0
	s.each(func(p wire.PeerID, nb neighbour, e *directory.Entry) {
		if err == nil && nb.kind == Similar && e.Refuted() {
			longer(s.retry, e, s.now, time.Minute, time.Hour)
			delete(s.audits, e.Index())
			s.did["gave up who was refuted"]++
			err = s.drop(p)
		}
	})
	if err != nil {
		return err
	}
	return s.swapOne()
}

// wait lets a swap wait for a minute at most: the topology looks for one when there may be one.
func (s *slow) wait() error {
	similar, _ := s.better()
	if similar == nil {
		s.waits = 0
		return nil
	}
	if s.waits++; s.waits > 60 {
		return fmt.Errorf("a better neighbour than %v waits for %d seconds", similar, s.waits)
	}
	return nil
}

// better compares all neighbours by overlap with all others. Of the pairs whose intervals separate it returns the one
// with the least high bound and, of these, the greatest low bound.
func (s *slow) better() (out, in *directory.Entry) {
	keep := 10 * time.Second
	if s.known.Within != nil {
		keep = 10 * time.Minute
	}
	low := func(e *directory.Entry) float64 { return e.Overlap().Low }
	high := func(e *directory.Entry) float64 { return e.Overlap().High }
	first := func(a, b, now float64) bool { return a < b || a == b && now < 0 }
	s.each(func(_ wire.PeerID, nb neighbour, e *directory.Entry) {
		if nb.kind != Similar || s.now-nb.since < keep || !e.Judged() {
			return
		}
		for _, c := range s.may(Similar, func(k Kind) bool { return k != Similar }) {
			if low(c) <= high(e) {
				continue
			}
			if out == nil || first(high(e), high(out), float64(e.Index()-out.Index())) {
				out, in = e, c
			} else if out == e && low(c) > low(in) {
				in = c
			}
		}
	})
	return out, in
}

func (s *slow) swapOne() error {
	out, in := s.better()
	if out == nil {
		return nil
	}
	s.did["swapped a "+string(Similar)+" one"]++
	room := s.room
	err := cmp.Or(s.drop(out.Peer()), s.take(in.Peer(), Similar))
	s.room = room
	return err
}

// extra gives up one random neighbour, whichever, where others have taken its place.
func (s *slow) extra() error {
	cfg, others, random, idle := s.top.cfg, s.count(Near)+s.count(Ranged), 0, map[wire.PeerID]bool{}
	for p, nb := range s.neighbours {
		switch {
		case nb.kind == Similar && nb.accepted:
			others++
		case nb.kind == Random:
			random++
			idle[p] = s.linked[p] && s.known.Idle(p)
		}
	}
	for _, may := range idle {
		if may && random > cfg.slots()-others {
			if len(s.gone) == 0 || !idle[s.gone[0]] {
				return fmt.Errorf("the topology gives up %q, want a random one first", s.gone)
			}
			s.did["gave up a random one"]++
			return s.drop(s.gone[0])
		}
	}
	return nil
}

// random draws neighbours for all slots that nobody has.
func (s *slow) random() error {
	cfg := s.top.cfg
	free := cfg.slots() - s.count(Similar) - s.count(Near) - s.count(Ranged)
	elsewhere := s.known.Within != nil || s.known.Starting
	if elsewhere {
		free = min(free, cfg.slots()-s.similarSlots()-4)
	}
	return s.draw(Random, min(s.room, free-s.count(Random)), elsewhere)
}

// audit has those linked by overlap audited, each every ten minutes.
func (s *slow) audit() error {
	var want []wire.PeerID
	s.each(func(p wire.PeerID, nb neighbour, e *directory.Entry) {
		if nb.kind == Similar && e.SureMatches() && s.now >= s.audits[e.Index()].End() {
			longer(s.audits, e, s.now, 10*time.Minute, 16*time.Hour)
			want = append(want, p)
			s.did["audited"]++
		}
	})
	if !slices.Equal(want, s.audited) {
		return fmt.Errorf("%q are audited, want %q", s.audited, want)
	}
	return nil
}

// compare says what of the topology is otherwise than it should be.
func (s *slow) compare(top *Topology) error {
	got := map[wire.PeerID]neighbour{}
	for p, nb := range top.neighbours {
		got[p] = *nb
	}
	switch {
	case !maps.Equal(got, s.neighbours):
		return fmt.Errorf("neighbours are\n%v\nwant\n%v", got, s.neighbours)
	case len(s.connects) > 0 || len(s.gone) > 0:
		return fmt.Errorf("connects with %q and gives up %q, beside all it should", s.connects, s.gone)
	case !maps.Equal(top.retry, s.retry) || !maps.Equal(top.audits, s.audits):
		return fmt.Errorf("chosen again from %v and audited from %v, want %v and %v", top.retry, top.audits, s.retry, s.audits)
	}
	return nil
}

// TestChooseAgainstSlowTwin: neighbours are those of the plain rules in each second of a while, whatever goes wrong.
func TestChooseAgainstSlowTwin(t *testing.T) {
	did := map[string]int{}
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 4))
		cfg := Config{Overlap: rng.IntN(5), Near: rng.IntN(3), Random: 1 + rng.IntN(4)}
		ranged := seed%4 == 0
		if ranged {
			cfg.Overlap, cfg.Near, cfg.Random = 4, 2, 4+rng.IntN(4)
		}
		cfg.MaxLinks = cfg.slots() + rng.IntN(8)
		w := newTown(t, seed, cfg, 1+rng.IntN(50), rng.IntN(2) == 0)
		w.shy, w.did = []float64{0, 0.1, 0.4}[seed%3], did
		if ranged {
			half := space.Around(0, 1)
			w.known.Within, w.known.Starting = func(e *directory.Entry) bool { return half.Contains(w.d.Place(e)) }, true
		}
		for range 150 {
			w.second()
		}
	}
	for _, what := range []string{
		"chose a overlap one", "chose a near one", "chose a random one", "chose a range one",
		"chose a neighbour again", "made a ranged one random", "swapped a overlap one",
		"gave up who did not accept", "gave up who was refuted", "gave up a random one", "audited",
	} {
		if did[what] < 10 {
			t.Errorf("the twin %s %d times: the test says little of that", what, did[what])
		}
	}
}
