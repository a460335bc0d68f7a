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
// samples. Only those of nearest size are compared, since what a base has more costs bits and what it has less costs
// more. It is kept for all steps of an origin while it is deep enough. So peers that hold much the same choose much the
// same, and what one of them has coded serves many.
const (
	basesCompared = 16
	basesLookedAt = 1024 // entries of the directory that are looked at for those
	keysCompared  = 64
	// leastSaved is the share of the plain bytes that a base must save by the estimate. To code takes the same time however
	// little it saves.
	leastSaved = 0.4
)

// partsGiven returns the number of parts of a base that parts of p up to end are coded given: the fewest that know as
// much of the base as of p then, or all.
func partsGiven(base, p *summary.Prefix, end int) int {
	plan, rate := base.Plan(), p.Plan().ExpectedRate(end)
	return 1 + sort.Search(plan.Parts()-1, func(i int) bool { return plan.ExpectedRate(i+1) <= rate })
}

// baseFor returns the base given which parts of p up to end are asked for.
func (x *Exchange) baseFor(l *link, e *origin, p *summary.Prefix, end int) wire.Given {
	if p == nil || p.Parts() == 0 || end <= p.Parts() || p.Header().N > directory.MaxDeltaKeys {
		return wire.Given{}
	}
	base := x.cfg.Summary(e.like, 1)
	if base == nil || !deepAs(base, p.Plan().ExpectedRate(min(end, p.Plan().Parts()))) {
		if base = x.mostAlike(l, e, p, end); base == nil {
			return wire.Given{}
		}
		e.like = group.Of(base.Header())
	}
	return givenAll(base)
}

// givenAll names all that is held of a base.
func givenAll(base *summary.Prefix) wire.Given {
	return wire.Given{Group: group.Of(base.Header()), Parts: uint16(base.Parts())}
}

// deepAs reports whether a prefix has a false-positive rate, or is whole.
func deepAs(p *summary.Prefix, rate float64) bool {
	return p.Parts() == p.Plan().Parts() || p.FalsePositiveRate() <= rate
}

// mostAlike returns the summary that saves most of parts of p up to end, by estimate; nil if none saves enough.
func (x *Exchange) mostAlike(l *link, e *origin, p *summary.Prefix, end int) (best *summary.Prefix) {
	few := compare.FewOf(p, keysCompared)
	n, plan := float64(p.Header().N), p.Plan()
	end = min(end, plan.Parts())
	before, after := plan.ExpectedRate(p.Parts()), plan.ExpectedRate(end)
	bytes := float64(plan.EncodedBytes(end) - plan.EncodedBytes(p.Parts()))
	most := leastSaved * bytes
	for _, b := range x.nearestSizes(l, e, p, before) {
		brings := bytes // down to the level to which the base is known
		if rate := b.FalsePositiveRate(); !deepAs(b, after) {
			brings *= math.Log2(before/rate) / math.Log2(before/after)
		}
		if brings <= most {
			continue
		}
		share, ok := few.In(b)
		if !ok {
			continue
		}
		if s := saved(brings, n, float64(n*share), float64(b.Header().N), before); s > most {
			best, most = b, s
		}
	}
	return best
}

// nearestSizes returns the summaries known beyond a false-positive rate whose sizes are nearest to that of p.
func (x *Exchange) nearestSizes(l *link, e *origin, p *summary.Prefix, rate float64) []*summary.Prefix {
	type candidate struct {
		p     *summary.Prefix
		apart float64 // factor between the sizes
	}
	var near []candidate
	for k := range min(len(x.origins), basesLookedAt) {
		b := &x.origins[(e.Index()+len(x.origins)-k)%len(x.origins)]
		if b.Entry == nil || b.Entry == e.Entry || b.Held() == nil {
			continue
		}
		q := b.Held()
		if !x.shares(l, b, q) || q.FalsePositiveRate() > rate/2 || q.Header().N > directory.MaxDeltaKeys {
			continue
		}
		small, large := min(p.Header().N, q.Header().N), max(p.Header().N, q.Header().N)
		c := candidate{q, float64(large) / float64(max(1, small))}
		at := sort.Search(len(near), func(i int) bool { return near[i].apart > c.apart })
		if at < basesCompared {
			near = slices.Insert(near, at, c)[:min(len(near)+1, basesCompared)]
		}
	}
	out := make([]*summary.Prefix, len(near))
	for i, c := range near {
		out[i] = c.p
	}
	return out
}

// shares reports whether a linked peer seems to hold as much of a summary as we do.
func (x *Exchange) shares(l *link, b *origin, p *summary.Prefix) bool {
	if l == nil {
		return true
	}
	t := l.known(b.Index())
	return b.Peer() == l.peer || t.theirs == p.Header().Epoch && int(t.have) >= p.Parts()
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
