package topology

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// A peer that covers far more than most of its links would learn of few peers: each link announces only those of a
// narrow range. So it has a neighbour in each of these ranges, drawn at random. Nothing that a peer says of itself
// counts, so no peer is chosen for its boasts, and a liar hides one part at most.

// spreadAtOnce is the most spread neighbours chosen in one round.
const spreadAtOnce = bound.Handful

// spreading paces the choice of spread neighbours. After a search that found too few candidates, the next waits for at
// least 4 s. Each refusal doubles the wait, up to ten minutes, and each neighbour that accepts halves it. Where many peers
// cover much, others lack room for so many links.
type spreading struct {
	last time.Duration // when candidates were last searched for
	wait time.Duration // least time from last to the next search
}

func (s *spreading) refused() { s.wait = min(max(2*s.wait, agenda.Patience), agenda.Faded) }

func (s *spreading) accepted() { s.wait /= 2 }

// refused delays the next search if p, which refuses us, is a spread neighbour that has not accepted. It is not called
// for a peer that cannot be reached: a failed dial tells nothing of the room at other peers.
func (t *Topology) refused(p wire.PeerID) {
	if nb, is := t.neighbours[p]; is && nb.kind == Spread && !nb.accepted {
		t.spreading.refused()
	}
}

// dropSpread gives up a spread neighbour that is of no more use: our range is no longer far wider than others, or the
// neighbour is outside of it. It spares peers that are about to send something.
func (t *Topology) dropSpread(now time.Duration, known Known) {
	for p, nb := range t.linkedOf(Spread) {
		e := t.directory.Lookup(p)
		if now-nb.since >= agenda.Faded && known.Idle(p) && (known.Parts == 0 || e != nil && !known.own(e)) {
			t.giveUp(p)
			return
		}
	}
}

// spread chooses neighbours in the parts of our range that have none of any kind, linked peers first. It first gives up
// a spread neighbour that is of no more use.
func (t *Topology) spread(now time.Duration, known Known) {
	t.dropSpread(now, known)
	free := min(spreadAtOnce, t.cfg.Spread-t.count(Spread))
	if known.Parts == 0 || free <= 0 || now < t.spreading.last+t.spreading.wait {
		return
	}
	has := map[space.Range]bool{}
	for p := range t.neighbours {
		if e := t.directory.Lookup(p); e != nil && known.own(e) {
			has[known.part(t.directory.Place(e))] = true
		}
	}
	if len(has) == known.parts() {
		return
	}
	var all []rank.Candidate
	for _, c := range t.candidates(now, Spread, func(*neighbour) bool { return false }) {
		if e := t.directory.Entry(c.Index); known.own(e) && !has[known.part(t.directory.Place(e))] {
			all = append(all, c)
		}
	}
	all = rank.Random(all, len(all), t.cfg.Rand)
	slices.SortStableFunc(all, func(a, b rank.Candidate) int { return t.unlinked(a) - t.unlinked(b) })
	t.spreading.last = now
	for _, c := range all {
		if e := t.directory.Entry(c.Index); !has[known.part(t.directory.Place(e))] {
			has[known.part(t.directory.Place(e))] = true
			t.choose(now, e, Spread)
			if free--; free == 0 {
				return
			}
		}
	}
	t.spreading.wait = max(t.spreading.wait, agenda.Patience)
}

// part returns the part of our range that a place is in.
func (k *Known) part(at space.Place) space.Range { return space.Around(at, k.Parts) }

// parts returns the number of parts of our range.
func (k *Known) parts() int { return 1 << (k.Parts - k.Depth) }

// own reports whether an entry is in our range.
func (k *Known) own(e *directory.Entry) bool { return k.Within == nil || k.Within(e) }
