package region

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/venn-p2p/venn/overlay/wire"
)

// Check returns every invariant of the region that does not hold, joined.
func (s *Region) Check() error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("region: "+format, args...))
		}
	}
	errs = append(errs, s.contacts.Check())
	if now := s.look(s.surveyed()); now.of == s.seen.of {
		want(now == s.seen, "a survey brings %+v, remembered %+v", now, s.seen)
	}
	if s.depth > 0 && s.sparing() == s.spare.of {
		same := func(a, b Contact) bool {
			return a.Peer == b.Peer && bytes.Equal(a.Record, b.Record) && a.Denials == b.Denials && a.Right == b.Right
		}
		want(slices.EqualFunc(s.spareContacts(), s.spare.list, same), "other spare contacts than those remembered")
	}
	for c := range s.contacts.Each() {
		want(!s.Range().Contains(c.Place), "contact %q is of the own range", c.Peer)
		want(c.Place == wire.PeerID(c.Peer).Place(), "contact %q is at %v", c.Peer, c.Place)
	}
	want(len(s.nearest) <= nearestMost, "%d places are remembered", len(s.nearest))
	for i, n := range s.nearest[min(1, len(s.nearest)):] {
		want(s.place.Distance(s.nearest[i].place) < s.place.Distance(n.place), "the places remembered are not in order: %v", s.nearest)
	}
	want(len(s.told) <= maxMet && len(s.seeker.last) <= maxMet, "%d are told, %d were sought", len(s.told), len(s.seeker.last))
	m := &s.meeting
	want(len(m.visitors) <= s.cfg.Visitors, "%d visitors", len(m.visitors))
	for i, v := range m.visitors {
		want(!slices.ContainsFunc(m.visitors[:i], func(w visitor) bool { return w.peer == v.peer }), "%q visits twice", v.peer)
	}
	want(len(m.named) <= mostHops*meetNamed && len(m.asked) <= mostHops, "%d named and %d asked in a lookup", len(m.named), len(m.asked))
	return errors.Join(errs...)
}

// String describes the region in a line, and one for each contact, by bucket and best first.
func (s *Region) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "range %v of %.0f origins, vouched %d, sharp %d, focus %d, %d visitors, asked %q\n",
		s.Range(), s.size, s.seen.vouched, s.seen.precise, s.focusDepth(), len(s.meeting.visitors), slices.Sorted(maps.Keys(s.awaited)))
	for c := range s.contacts.Each() {
		fmt.Fprintf(&b, "%q %v, %d right, %d denials, %d failed\n", c.Peer, c.Range(), c.Right, c.Denials, c.Failed)
	}
	return b.String()
}
