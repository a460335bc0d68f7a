package coverage

import (
	"cmp"
	"iter"
	"slices"
)

// Contact is a peer that can be asked about a range beside ours.
type Contact struct {
	Peer    string
	Record  []byte // what it is dialled by; opaque
	Place   Place
	Depth   int    // of the range around its place that it covers, as it or others say
	Group   string // what its address has in common with those of the same party; "": nothing
	Denials int    // it said "none here" of keys that somebody of its range is known to hold
	Right   int    // it named somebody who proved to hold the key
	Failed  int    // questions in a row without an answer
	Spoke   bool   // it has said its depth itself
	Spare   bool   // it is for what the others leave over
}

// Range is the range that a contact covers.
func (c *Contact) Range() Range { return Around(c.Place, c.Depth) }

// trust is what a contact's answer is expected to be worth, in (0, 1].
func (c *Contact) trust() float64 {
	return 1 / float64(1+c.Denials+c.Failed)
}

const (
	// ContactsEach is the number of contacts wanted for each range beside ours.
	ContactsEach = 2
	// MaxBits is the greatest depth at which ranges have buckets of their own; deeper ones share a bucket.
	MaxBits = 10
	// MaxContacts is the most contacts that a table holds.
	MaxContacts = ContactsEach << MaxBits
	// deniedMost is how often a contact may deny a holder that is there. For every deniedOf times that it was right, it
	// may do so once more. Then it is asked no more, and kept until a better one comes, so that it does not come back
	// with a clean record.
	deniedMost = 2
	deniedOf   = 8
	// failedMost is how many questions in a row may bring no answer before a contact is forgotten.
	failedMost = 2
	// maxCaught is of how many peers outside of the table the denials are kept.
	maxCaught = MaxContacts
)

// Contacts is a bounded table of contacts. Every range of the own depth has a bucket of a few. Which contacts a peer
// keeps of a range depends on both, not on the order of arrival. So the load of one range is spread over all that cover
// it. Make one with [NewContacts].
type Contacts struct {
	self    Place
	bits    int // the depth of the buckets
	buckets map[Range][]Contact
	known   map[string]Range
	caught  map[string]int // denials of peers outside of the table; at most maxCaught
	order   []string       // those of caught, the earliest first
}

// NewContacts returns an empty table of a peer at a place.
func NewContacts(self Place) *Contacts {
	return &Contacts{self: self, buckets: map[Range][]Contact{}, known: map[string]Range{}, caught: map[string]int{}}
}

// SetDepth sorts the contacts into buckets for the ranges of a depth. At depth 0 there are none, and all are forgotten.
// What others said of a contact's depth counts no longer: their depths change as ours does. O(n).
func (t *Contacts) SetDepth(depth int) {
	depth = min(max(depth, 0), MaxBits)
	if depth == t.bits {
		return
	}
	all := t.All()
	t.bits, t.buckets, t.known = depth, map[Range][]Contact{}, map[string]Range{}
	for _, c := range all {
		if !c.Spoke {
			c.Depth = max(c.Depth, depth)
		}
		t.Add(c)
	}
}

// Len is the number of contacts.
func (t *Contacts) Len() int { return len(t.known) }

// All returns the contacts, by bucket and best first.
func (t *Contacts) All() []Contact {
	return slices.AppendSeq(slices.Grow([]Contact(nil), len(t.known)), t.Each())
}

// Each yields the contacts, by bucket and best first. The table must not change meanwhile.
func (t *Contacts) Each() iter.Seq[Contact] {
	return func(yield func(Contact) bool) {
		for r := range t.ranges() {
			for _, c := range t.buckets[r] {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// ranges yields the ranges that have buckets, in order.
func (t *Contacts) ranges() func(yield func(Range) bool) {
	return func(yield func(Range) bool) {
		if t.bits == 0 {
			return
		}
		for i := range uint64(1) << t.bits {
			if !yield(Around(Place(i<<(64-t.bits)), t.bits)) {
				return
			}
		}
	}
}

// Add takes a contact into its bucket and says whether it was taken. Of one that is known already all is kept: others
// may say anything of it. A full bucket gives up its worst. One of an address group that the bucket has already goes
// only where there is a place free. Those of the own range are no contacts. Denials of an earlier time count again.
func (t *Contacts) Add(c Contact) bool {
	bucket := Around(c.Place, t.bits)
	if t.bits == 0 || bucket.Contains(t.self) || c.Peer == "" {
		return false
	}
	list := t.buckets[bucket]
	if find(list, c.Peer) >= 0 {
		return true
	}
	c.Denials = max(c.Denials, t.caught[c.Peer])
	list = append(list, c)
	t.sort(list)
	if len(list) > ContactsEach {
		worst := list[ContactsEach]
		list = list[:ContactsEach]
		t.remember(worst.Peer, worst.Denials)
		if worst.Peer == c.Peer {
			return false
		}
		delete(t.known, worst.Peer)
	}
	t.buckets[bucket] = list
	t.known[c.Peer] = bucket
	return true
}

func find(list []Contact, peer string) int {
	return slices.IndexFunc(list, func(c Contact) bool { return c.Peer == peer })
}

// sort puts a bucket in order, best first. Contacts that answer and were not caught denying come first, then the
// widest, and then the order is by a hash of both ends. The second is the one that adds most to what the first covers.
// Of equals it is one in the other half of the bucket, for what is said of depths may be wrong. A contact of an address
// group that stands before it already comes after all others.
func (t *Contacts) sort(list []Contact) {
	again := make(map[string]bool, len(list))
	tie := func(a, b Contact) int { return cmp.Or(cmp.Compare(t.tie(a), t.tie(b)), cmp.Compare(a.Peer, b.Peer)) }
	slices.SortFunc(list, func(a, b Contact) int {
		return cmp.Or(cmp.Compare(a.faults(), b.faults()), cmp.Compare(a.Depth, b.Depth), tie(a, b))
	})
	if len(list) > 2 {
		var first Set
		first.Add(list[0].Range())
		half := Around(list[0].Place, t.bits+1)
		slices.SortFunc(list[1:], func(a, b Contact) int {
			return cmp.Or(cmp.Compare(a.faults(), b.faults()), cmp.Compare(first.Missing(b.Range()), first.Missing(a.Range())),
				cmp.Compare(a.Depth, b.Depth), within(half, a)-within(half, b), tie(a, b))
		})
	}
	seen := map[string]bool{}
	for _, c := range list {
		again[c.Peer] = c.Group != "" && seen[c.Group]
		seen[c.Group] = true
	}
	slices.SortStableFunc(list, func(a, b Contact) int {
		switch {
		case again[a.Peer] == again[b.Peer]:
			return 0
		case again[a.Peer]:
			return 1
		}
		return -1
	})
}

// within is 1 for a contact in a range, else 0.
func within(r Range, c Contact) int {
	if r.Contains(c.Place) {
		return 1
	}
	return 0
}

// faults counts what speaks against a contact.
func (c *Contact) faults() int { return c.Denials + c.Failed }

// Refuted reports whether a contact has so often denied a key that is there that it is asked no more.
func (c *Contact) Refuted() bool { return c.Denials >= deniedMost+c.Right/deniedOf }

func (t *Contacts) tie(c Contact) uint64 { return mix(uint64(t.self) ^ mix(uint64(c.Place))) }

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// Get returns a contact by its peer.
func (t *Contacts) Get(peer string) (Contact, bool) {
	bucket, ok := t.known[peer]
	if !ok {
		return Contact{}, false
	}
	list := t.buckets[bucket]
	return list[find(list, peer)], true
}

// change changes a contact, and forgets it if drop says so.
func (t *Contacts) change(peer string, do func(*Contact) (drop bool)) {
	bucket, ok := t.known[peer]
	if !ok {
		return
	}
	list := t.buckets[bucket]
	i := find(list, peer)
	if do(&list[i]) {
		t.remember(peer, list[i].Denials)
		t.buckets[bucket] = slices.Delete(list, i, i+1)
		delete(t.known, peer)
		return
	}
	t.sort(list)
}

// Answered notes an answer of a contact, and the depth of the range that it says it covers.
func (t *Contacts) Answered(peer string, depth int) {
	t.change(peer, func(c *Contact) bool {
		c.Failed, c.Depth, c.Spoke = 0, min(max(depth, 0), MaxDepth), true
		return false
	})
}

// Denied notes that a peer denied a key that somebody of its range holds. It may be outside of the table.
func (t *Contacts) Denied(peer string) {
	if _, ok := t.known[peer]; !ok {
		t.remember(peer, t.caught[peer]+1)
		return
	}
	t.change(peer, func(c *Contact) bool { c.Denials++; return false })
}

// Denials is how often a peer was caught denying, in the table or not.
func (t *Contacts) Denials(peer string) int {
	if c, ok := t.Get(peer); ok {
		return c.Denials
	}
	return t.caught[peer]
}

// remember keeps the denials of a peer outside of the table, of a bounded number of peers.
func (t *Contacts) remember(peer string, denials int) {
	if denials == 0 {
		return
	}
	if _, ok := t.caught[peer]; !ok {
		if len(t.order) == maxCaught {
			delete(t.caught, t.order[0])
			t.order = slices.Delete(t.order, 0, 1)
		}
		t.order = append(t.order, peer)
	}
	t.caught[peer] = denials
}

// Proved notes that a contact named somebody who proved to hold the key.
func (t *Contacts) Proved(peer string) {
	t.change(peer, func(c *Contact) bool { c.Right++; return false })
}

// Failed notes that a contact did not answer. After a few times in a row it is forgotten.
func (t *Contacts) Failed(peer string) {
	t.change(peer, func(c *Contact) bool { c.Failed++; return c.Failed >= failedMost })
}

// Lacks lists, in order, the ranges beside ours with fewer contacts than are wanted, or with contacts that cover but one
// half. Contacts that cover more than their bucket count for every range that they cover. O(ranges + contacts), times
// the few that are wide.
func (t *Contacts) Lacks(want int) []Range {
	var wide, out []Range
	for r := range t.ranges() {
		for _, c := range t.buckets[r] {
			if c.Depth < t.bits && !c.Refuted() {
				wide = append(wide, c.Range())
			}
		}
	}
	for r := range t.ranges() {
		have, halves := 0, Set{}
		for _, c := range t.buckets[r] {
			if c.Depth >= t.bits && !c.Refuted() {
				have++
				halves.Add(Around(c.Place, min(c.Depth, t.bits+1)))
			}
		}
		for _, w := range wide {
			if w.Covers(r) {
				have++
				halves.Add(r)
			}
		}
		if (have < want || want > 1 && !halves.Covers(r)) && !r.Contains(t.self) {
			out = append(out, r)
		}
	}
	return out
}

// Next chooses the contact to ask about what is not covered, of those not asked yet. It is the one that adds most to
// what is covered, less for those that were caught or failed. A spare contact is chosen if no other adds anything.
// Equals go by a hash of the key and the contact: every key has its own order, so that no contact is everybody's first.
// It returns -1 if nobody adds anything. O(contacts log ranges).
func Next(contacts []Contact, covered *Set, asked func(i int) bool, key uint64) int {
	best, most, tie, spare := -1, 0.0, uint64(0), true
	for i := range contacts {
		c := &contacts[i]
		if c.Refuted() || c.Spare && !spare || asked(i) {
			continue
		}
		adds := covered.Missing(c.Range()) * c.trust()
		h := mix(key ^ mix(uint64(c.Place)))
		if adds > 0 && (spare && !c.Spare || adds > most || adds == most && h < tie) {
			best, most, tie, spare = i, adds, h, c.Spare
		}
	}
	return best
}
