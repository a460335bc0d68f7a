package region

import (
	"errors"
	"fmt"
	"slices"
)

// Check returns every invariant of the table that does not hold, joined. Tests call it after every step.
func (t *Contacts) Check() error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("region: "+format, args...))
		}
	}
	n := 0
	for b := range 1 << t.bits {
		list, r := t.list[t.begin(b):t.begin(b+1)], t.rangeOf(b)
		n += len(list)
		want(len(list) <= ContactsEach, "%d contacts of %v", len(list), r)
		want(len(list) == 0 || !r.Contains(t.self), "contacts of the own range %v", r)
		for i, c := range list {
			want(r.Contains(c.Place) && c.Peer != "", "contact %q at %v is among those of %v", c.Peer, c.Place, r)
			want(find(list, c.Peer) == i, "contact %q of %v is there twice", c.Peer, r)
			want(c.Failed < beyondChance, "contact %q of %v failed %d times in a row", c.Peer, r, c.Failed)
		}
		sorted := slices.Clone(list)
		t.sort(sorted)
		want(slices.EqualFunc(list, sorted, func(a, b Contact) bool { return a.Peer == b.Peer }), "the contacts of %v are not in order", r)
	}
	want(n == len(t.list), "%d contacts in buckets, of %d", n, len(t.list))
	want(t.bits > 0 || n == 0, "%d contacts without ranges", n)
	want(len(t.caught) <= MaxContacts, "%d peers were caught", len(t.caught))
	return errors.Join(errs...)
}
