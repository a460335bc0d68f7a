package exchange

import (
	"math"
	"slices"
	"sort"

	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/group"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Collections are alike: parts coded given a similar summary take a third of the bytes. Who asks for parts names a base
// that it holds, of any origin. Who holds that, too, answers with a relative run if that is shorter, else with parts. So
// nobody needs to know what others hold, and a base never lacks where the run arrives.
//
// The base is chosen when parts are asked for beyond the first: the summary that saves most by an estimate from
// samples, of those that a link with these parts claims to hold, too. Such a link is asked then. Only summaries of
// nearest size are compared, since what a base has more costs bits and what it has less costs more.
const (
	basesCompared = 16 // of directory.LookedAt entries
	keysCompared  = 64
	// leastSaved is the share of the plain bytes that a base must save by the estimate. To code takes the same time however
	// little it saves.
	leastSaved = 0.2
)

// base is a summary to code parts given it.
type base struct {
	of    *origin
	p     *summary.Prefix
	rate  float64 // false-positive rate of the parts that a link holds, too
	apart float64 // factor between its size and that of the origin asked about
	saves float64 // bytes, by estimate
}

// given names all that is held of a base; zero if there is none.
func (b base) given() wire.Given {
	if b.p == nil {
		return wire.Given{}
	}
	return wire.Given{Group: group.Of(b.p.Header()), Parts: uint16(b.p.Parts())}
}

// partsGiven returns the number of parts of a base that parts of p up to end are coded given: the fewest that know as
// much of the base as of p then, or all.
func partsGiven(base, p *summary.Prefix, end int) int {
	plan, rate := base.Plan(), p.Plan().ExpectedRate(end)
	return 1 + sort.Search(plan.Parts()-1, func(i int) bool { return plan.ExpectedRate(i+1) <= rate })
}

// baseFor returns the base that saves most of parts of p up to end, by estimate, of those that one of some links holds,
// too; zero if none saves enough. Without links, all that is held here counts.
func (x *Exchange) baseFor(links []*link, e *origin, p *summary.Prefix, end int) (best base) {
	if p == nil || p.Parts() == 0 || end <= p.Parts() || p.Header().N > directory.MaxDeltaKeys {
		return base{}
	}
	few := compare.FewOf(p, keysCompared)
	n, plan := float64(p.Header().N), p.Plan()
	end = min(end, plan.Parts())
	before, after := plan.ExpectedRate(p.Parts()), plan.ExpectedRate(end)
	bytes := float64(plan.EncodedBytes(end) - plan.EncodedBytes(p.Parts()))
	best.saves = leastSaved * bytes
	for _, b := range x.nearestSizes(links, e, p, before) {
		brings := bytes // down to the level to which the base is known
		if b.rate > after {
			brings *= math.Log2(before/b.rate) / math.Log2(before/after)
		}
		if brings <= best.saves {
			continue
		}
		share, ok := few.In(b.p)
		if !ok {
			continue
		}
		if b.saves = saved(brings, n, float64(n*share), float64(b.p.Header().N), before); b.saves > best.saves {
			best = b
		}
	}
	return best
}

// nearestSizes returns the summaries known beyond a false-positive rate, here and by a link, whose sizes are nearest to
// that of p.
func (x *Exchange) nearestSizes(links []*link, e *origin, p *summary.Prefix, rate float64) (near []base) {
	for k := range min(len(x.origins), directory.LookedAt) {
		of := &x.origins[(e.Index()+len(x.origins)-k)%len(x.origins)]
		if of.Entry == nil || of.Entry == e.Entry || of.Held() == nil || of.Held().Header().N > directory.MaxDeltaKeys {
			continue
		}
		b := base{of: of, p: of.Held()}
		small, large := min(p.Header().N, b.p.Header().N), max(p.Header().N, b.p.Header().N)
		b.apart = float64(large) / float64(max(1, small))
		at := sort.Search(len(near), func(i int) bool { return near[i].apart > b.apart })
		if at == basesCompared {
			continue
		}
		if b.rate = b.commonRate(links); b.rate <= rate/2 {
			near = slices.Insert(near, at, b)[:min(len(near)+1, basesCompared)]
		}
	}
	return near
}

// commonRate returns the false-positive rate of the parts of a base that one of some links holds, too, or of all.
func (b *base) commonRate(links []*link) float64 {
	common := 0
	for _, l := range links {
		common = max(common, b.common(l))
	}
	if len(links) == 0 || common == b.p.Parts() {
		return b.p.FalsePositiveRate()
	}
	return b.p.Plan().ExpectedRate(common)
}

// knows reports whether a linked peer holds as much of a base as was reckoned with.
func (b base) knows(l *link) bool { return b.commonRate([]*link{l}) <= b.rate }

// common returns the number of parts of a base that a linked peer holds, too, as far as it claims.
func (b *base) common(l *link) int {
	t := l.trade(b.of.Index())
	switch {
	case b.of.Peer() == l.peer:
		return b.p.Parts()
	case t.theirs == b.p.Header().Epoch:
		return min(b.p.Parts(), int(t.have))
	}
	return 0
}

// saved estimates the bytes that a base saves, of those that parts of n keys take in plain form. Of the base's keys, both
// are in the other collection, too; at rate of the others match what is known of that already. The keys in both need no
// bytes; which of the base's keys they are does.
func saved(bytes, n, both, base, rate float64) float64 {
	both = min(both, n, base)
	others := float64((base - both) * rate)
	if both <= 0 {
		return 0
	}
	bits := float64(both * math.Log2(1+others/both))
	if others > 0 {
		bits += float64(others * math.Log2(1+both/others))
	}
	return float64(bytes*both)/n - float64(bits/8)
}
