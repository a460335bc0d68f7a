package topology

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/region"
)

// Check recounts the topology's counters and returns every invariant that does not hold, joined. All removals from the
// directory must have been passed to [Topology.Removed]. Tests call it after every step.
func (t *Topology) Check() error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("topology: "+format, args...))
		}
	}
	for p, nb := range t.neighbours {
		want(nb.kind != Inbound || t.directory.IsLinked(p), "%q chose us, and is not linked", p)
	}
	// Random neighbours stand in for others, and go one at a time. Ranged and spread neighbours come on top.
	most := t.cfg.MaxLinks + t.cfg.slots() - t.cfg.Random + region.RangeLinks + t.cfg.Spread
	want(len(t.neighbours) <= most, "%d neighbours, at most %d", len(t.neighbours), most)
	want(t.count(Similar) <= t.cfg.Overlap, "%d neighbours by overlap, more than %d slots", t.count(Similar), t.cfg.Overlap)
	want(t.count(Near) <= t.cfg.Near, "%d near neighbours, more than %d slots", t.count(Near), t.cfg.Near)
	want(t.count(Random) <= t.cfg.slots(), "%d random neighbours, more than %d slots", t.count(Random), t.cfg.slots())
	want(t.count(Ranged) <= region.RangeLinks, "%d neighbours in the range, at most %d", t.count(Ranged), region.RangeLinks)
	want(t.count(Spread) <= t.cfg.Spread, "%d spread neighbours, at most %d", t.count(Spread), t.cfg.Spread)
	want(len(t.acts) == 0, "%d acts were not done", len(t.acts))
	for _, of := range []map[int]agenda.Pause{t.retry, t.audits} {
		for i := range of {
			want(t.directory.Entry(i) != nil, "a time is noted for index %d, which has no entry", i)
		}
	}
	return errors.Join(errs...)
}

// String describes the topology in a line, and one for each neighbour in the order of peers.
func (t *Topology) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d linked, full %v\n", len(t.directory.Links()), t.Full())
	for _, p := range slices.Sorted(maps.Keys(t.neighbours)) {
		nb := t.neighbours[p]
		fmt.Fprintf(&b, "%q %v since %v, accepted %v\n", p, nb.kind, nb.since, nb.accepted)
	}
	return b.String()
}
