package exchange

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// slowAsks is planAsks over again: of all origins, by trying all orders of choosing the next best, without what is kept
// between calls. It returns peer, origin and span of each ask.
func slowAsks(x *Exchange) (asks []string) {
	type traffic struct {
		inFlight int
		budget   float64
	}
	down := x.down.tokens
	links := map[wire.PeerID]*traffic{}
	for _, l := range x.links {
		links[l.Peer] = &traffic{l.inFlight, l.out.tokens}
	}
	done := map[int]bool{}
	for {
		best, value, size, start, stop := -1, -1.0, 0, 0, 0
		for i := range x.origins {
			e := x.origin(i)
			if i == 0 || e == nil || done[i] || e.ask.peer != "" || x.now < x.rests[i] {
				continue
			}
			from, end, bytes, v, ok := slowOffer(x, e)
			if ok && v > value {
				best, value, size, start, stop = i, v, bytes, from, end
			}
		}
		if best < 0 || !(down-reserve >= min(float64(size), Burst(x.down.rate)-reserve)) {
			return asks
		}
		done[best] = true
		e, among := x.origin(best), x.links[:0:0]
		for _, l := range x.links {
			at := links[l.Peer]
			busy := at.inFlight > 0 && (!l.useful && l.unkept >= fullCredit || float64(at.inFlight) >= 2*max(1, l.inRate))
			if !busy && !l.shuns(x.now, e.Tag()) && int(l.trade(best).have) > start {
				among = append(among, l)
			}
		}
		b := x.baseFor(among, e, e.Held(), stop) // has tests of its own
		if b.p != nil {
			size -= int(b.saves)
		}
		var to *traffic
		var id wire.PeerID
		least, have := 0.0, 0
		for _, l := range among {
			at := links[l.Peer]
			wait := float64(at.inFlight+size) / max(1, l.inRate)
			if (b.p == nil || b.knows(l)) && (to == nil || wait < least) {
				to, id, least, have = at, l.Peer, wait, int(l.trade(best).have)
			}
		}
		if to == nil || to.budget-reserve < float64(Cost(make(wire.Catalogue, 1))) {
			continue
		}
		to.inFlight += size
		down -= float64(size)
		asks = append(asks, fmt.Sprintf("%s %d %d-%d", id, best, start, min(stop, have)))
	}
}

// slowOffer is the best next run of an origin with one epoch only.
func slowOffer(x *Exchange, e *origin) (from, end, bytes int, value float64, ok bool) {
	most := 0
	for _, l := range x.links {
		if !l.shuns(x.now, e.Tag()) {
			most = max(most, int(l.trade(e.Index()).have))
		}
	}
	if e.Held() == nil {
		end = 1
		if most <= fewParts {
			end = most
		}
		return 0, end, unknownSample, math.Inf(1), most > 0
	}
	plan := e.Held().Plan()
	from, most = e.Held().Parts(), min(most, plan.Parts())
	if most <= from {
		return 0, 0, 0, 0, false
	}
	for end = from + 1; end < most; end++ {
		if n := plan.EncodedBytes(end+1) - plan.EncodedBytes(from); n > maxRunBytes || n > int(x.down.rate) {
			break
		}
	}
	bytes = plan.EncodedBytes(end) - plan.EncodedBytes(from)
	hits, misses := e.Answers()
	kept := float64(1+hits) / float64(1+hits+misses)
	value = (1 + float64(e.Overlap().Value)) * kept * (plan.ExpectedRate(from) - plan.ExpectedRate(end)) / float64(bytes)
	return from, end, bytes + rpcOverhead + runOverhead, value, true
}

// planned runs the planner on the exchange as it is, and takes back what it set aside.
func planned(w *world) (asks []string) {
	x := w.x
	down := x.down
	var unasked []int
	for i := x.owns; i < len(x.origins); i++ {
		if e := x.origin(i); e != nil && !e.ask.open() {
			unasked = append(unasked, i)
		}
	}
	before := slices.Clone(x.origins)
	rests, due := slices.Clone(x.rests), slices.Clone(x.due)
	x.planAsks(x.now, anyNumber)
	for _, l := range x.links {
		for _, it := range l.asks {
			i := w.d.Tagged(it.Group.OriginTag()).Index()
			asks = append(asks, fmt.Sprintf("%s %d %d-%d", l.Peer, i, it.Have, it.Want))
		}
		l.asks = nil
	}
	for _, i := range unasked {
		x.endAsk(&x.origins[i])
	}
	copy(x.origins, before)
	x.down, x.rests, x.due, x.gathers = down, rests, due, 0
	return asks
}

func checkPlan(t *testing.T, seed uint64) (asked int) {
	w := newWorld(t, seed)
	var effects []event.Effect
	for range 40 {
		effects = w.step(effects)
		for i := w.x.owns; i < len(w.x.origins); i++ {
			w.x.origins[i].fetchAt = w.now + time.Hour // what is fetched directly is another choice
		}
		want := map[string]bool{}
		for _, a := range slowAsks(w.x) {
			want[a] = true
		}
		got := planned(w)
		for _, a := range got {
			if !want[a] {
				t.Fatalf("seed %d, at %v: asked %q, not among %v", seed, w.now, a, want)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d, at %v: asked %v, want %v", seed, w.now, got, want)
		}
		asked += len(got)
		if err := errors.Join(w.x.Check(w.now), w.d.Check(w.now)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	return asked
}

// The planner asks for what a plain look at everything would, and what it keeps count of adds up.
func TestPlanAgainstSlowTwin(t *testing.T) {
	asked := 0
	for seed := range uint64(100) {
		asked += checkPlan(t, seed)
	}
	if asked < 400 {
		t.Errorf("only %d asks were compared", asked)
	}
}

func FuzzPlanAgainstSlowTwin(f *testing.F) {
	f.Add(uint64(100))
	f.Fuzz(func(t *testing.T, seed uint64) { checkPlan(t, seed) })
}
