package directory

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
)

// Check recounts all counters and returns every invariant that does not hold, joined. It looks at all entries; tests
// call it after every step.
func (d *Directory) Check(now time.Duration) error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("directory: "+format, args...))
		}
	}
	held, signed, named, pending, origins, groups, brought := 0, 0, 0, 0, 0, map[string]int{}, map[*Link]int{}
	for i, e := range d.Others() {
		if e == nil {
			continue
		}
		want(e.Index() == i+d.owns && d.byTag[e.tag] == e, "entry %d: index %d, by its tag %v", i+d.owns, e.index, d.byTag[e.tag])
		errs = append(errs, d.checkEntry(e, now))
		held += e.memory()
		signed += e.signedBytes()
		if e.state == Named {
			named++
		}
		if e.state.pending() {
			pending++
			brought[d.broughtBy(e)]++
		}
		if e.answer() != nil {
			origins++
		}
		if e.group != "" {
			want(!d.IsLinked(e.peer), "%v is linked, and in a group", e)
			groups[e.group]++
		}
	}
	want(held == d.held && signed == d.signed, "%d bytes of prefixes and %d signed, counted %d and %d", held, signed, d.held, d.signed)
	want(pending == d.pending && origins == d.origins, "%d pending and %d origins, counted %d and %d", pending, origins, d.pending, d.origins)
	for _, l := range d.links {
		want(brought[l] == l.brought, "%q named %d pending entries first, counted %d", l.Peer, brought[l], l.brought)
	}
	want(len(groups) == len(d.groups), "%d groups, counted %d", len(groups), len(d.groups))
	for g, n := range groups {
		want(n == d.groups[g], "group %q has %d entries, counted %d", g, n, d.groups[g])
	}
	for _, i := range d.named {
		want(d.entries[i] != nil && d.entries[i].state == Named, "index %d is queued as named", i)
	}
	want(named == len(d.named), "%d entries are named, %d queued", named, len(d.named))
	for _, i := range d.free {
		want(d.entries[i] == nil, "index %d is free and taken", i)
	}
	if sigma := d.sigma; d.sigmaOf == d.Version() {
		d.sigmaOf = 0
		want(math.Abs(d.FalseMatches()-sigma) < 1e-9, "%v false matches, remembered %v", d.FalseMatches(), sigma)
	}
	return errors.Join(errs...)
}

// checkEntry returns the invariants that an entry breaks, as one error.
func (d *Directory) checkEntry(e *Entry, now time.Duration) error {
	var wrong []string
	want := func(ok bool, what string) {
		if !ok {
			wrong = append(wrong, what)
		}
	}
	want((e.cur != nil) == (e.state == Held || e.state == Replaced), "a prefix answers")
	want((e.next != nil) == (e.state == Replaced), "a newer epoch is held")
	want(e.next == nil || e.next.Header().Epoch.After(e.cur.Header().Epoch), "the newer epoch is no newer")
	want(e.cur == nil || e.peer != "" && len(e.envelope) > 0, "it has no author")
	want((e.next == nil) == (len(e.oldEnvelope) == 0), "the envelope of an older epoch is kept, or is missing")
	want(e.by == "" || e.state.pending() || e.state == Named, "it says who named it first")
	want(e.limit == 0 || e.cur == nil || e.cur.Parts() <= e.Limit() || d.trimmed, "it is deeper than its limit")
	want(e.sibling == nil || e.sibling.sibling == e && d.previous != nil, "its sibling is not")
	want(e.sibling == nil || e.group == "" || e.sibling.group == "", "its peer is in a group twice")
	want(len(e.bases) <= maxBases, "too many bases")
	want(len(e.bases) == 0 || d.due.At(dueBases) <= e.bases[0].until, "its bases stay")
	want(d.IsLinked(e.peer) || d.nextExpiry(e) <= now || d.due.At(dueExpiry) <= max(d.nextExpiry(e), now+agenda.Beat), "it never goes")
	if d.cfg.Cache == nil {
		in, _ := d.tables(e)
		want(in.Prefix(e.Index()) == e.answer() || e.cur != nil && e.cur.Parts() == 0, "the index has another prefix")
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("directory: %v: %s", e, strings.Join(wrong, ", "))
}

// String describes the directory in a line and one for each entry, in the order of their indexes.
func (d *Directory) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d origins, %d pending, %d of %d bytes\n", d.origins, d.pending, d.Memory(), d.cfg.Memory)
	for _, e := range d.entries {
		if e != nil {
			fmt.Fprintln(&b, e)
		}
	}
	return b.String()
}

// String describes the entry in a line: its index, tag, peer and state, and for each epoch held the number of parts.
func (e *Entry) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %016x %q %v", e.index, e.tag, e.peer, e.state)
	for p := range e.prefixes {
		fmt.Fprintf(&b, ", %v %d of %d", p.Header().Epoch, p.Parts(), p.Plan().Parts())
	}
	if e.Covered() {
		b.WriteString(", covered")
	}
	return b.String()
}
