package region

import (
	"cmp"
	"hash/fnv"
	"iter"
	"math/bits"
	"slices"
	"sort"

	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/compare"
	"github.com/venn-p2p/venn/overlay/space"
)

// Contact is a peer that can be asked about a range other than ours.
type Contact struct {
	Peer    string
	Record  []byte // signed addresses to dial it by; opaque here
	Place   space.Place
	Group   Group // address group
	Denials int32 // times that it answered "none here" for a key that a peer of its range holds
	Right   int32 // times that it named a peer that proved to hold the key
	Depth   int8  // depth of the range around its place that it covers; see [ContactDepth]
	Word    Word  // source of Depth
	Failed  int8  // questions in a row without an answer
}

// Word names the source of a contact's depth.
type Word uint8

const (
	ByHearsay Word = iota // another peer named it
	ByGuess               // guessed here; the next peer's word replaces it
	ByItself              // the contact claimed it
)

// Group stands for the address group of a contact. Contacts of one group may belong to one party. 0: no group.
type Group uint32

// GroupOf returns the Group of a name: 0 for "", else a hash other than 0.
func GroupOf(name string) Group {
	if name == "" {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return Group(max(1, h.Sum32()))
}

// ContactDepth brings a depth into [0, MaxDepth], in the form in which contacts hold it.
func ContactDepth(depth int) int8 { return int8(min(max(depth, 0), space.MaxDepth)) }

// Range returns the range that a contact covers.
func (c *Contact) Range() space.Range { return space.Around(c.Place, int(c.Depth)) }

// trust returns the weight of a contact's answer, in (0, 1]: less for each denial and failure.
func (c *Contact) trust() float64 {
	return 1 / float64(1+c.faults())
}

const (
	// ContactsEach is the number of contacts wanted for each range beside ours: one alone may lie.
	ContactsEach = bound.Signs
	// MaxContacts is the most contacts that a table holds.
	MaxContacts = ContactsEach << space.MaxBits
	// FarWider is the number of bits by which a far wider range is shorter than that of most peers.
	FarWider = 3
	// beyondChance is the number of failures of one kind that are not taken for chance. After as many unanswered questions
	// in a row a contact is forgotten. After as many denials of existing holders it is not asked, but keeps its place until
	// a better one comes, so that it cannot return with a clean record. After as many questions in a row that brought nobody,
	// a peer that looks for its range asks nobody twice.
	beyondChance = bound.Signs
)

// Contacts is a bounded table of contacts. Every range of our depth has a bucket of at most ContactsEach contacts. The
// contacts that a peer keeps of a range depend on its place and theirs, not on the order of arrival. So the load of one
// range is spread over all peers that cover it. A contact is found by its place and its peer. It takes 64 bytes, beside
// its record and its name. A range without contacts takes nothing. Make a table with [NewContacts].
type Contacts struct {
	self    space.Place
	bits    int       // depth of the buckets; 0: there are none
	list    []Contact // contacts by bucket, in the order of the ranges, and best first
	caught  []conduct // conduct of peers outside of the table that have denied, the earliest first; at most MaxContacts
	version uint64    // changes with every change of the table
}

// conduct counts a peer's denials of holders, and the times that it proved right.
type conduct struct {
	peer           string
	denials, right int32
}

// NewContacts returns an empty table for a peer at a place.
func NewContacts(self space.Place) *Contacts { return &Contacts{self: self} }

// SetDepth sorts the contacts into buckets for the ranges of a depth. At depth 0 there are no buckets, and all contacts
// are forgotten. A depth that the contact did not claim itself becomes at least the new one, because other peers'
// depths change with ours. O(n).
func (t *Contacts) SetDepth(depth int) {
	depth = min(max(depth, 0), space.MaxBits)
	if depth == t.bits {
		return
	}
	all := t.list
	t.version++
	t.bits, t.list = depth, nil
	for _, c := range all {
		if c.Word != ByItself {
			c.Depth = max(c.Depth, ContactDepth(depth))
		}
		t.Add(c)
	}
}

// Len returns the number of contacts.
func (t *Contacts) Len() int { return len(t.list) }

// All returns the contacts, by bucket and best first.
func (t *Contacts) All() []Contact { return slices.Clone(t.list) }

// Each yields the contacts, by bucket and best first. The table must not change meanwhile.
func (t *Contacts) Each() iter.Seq[Contact] { return slices.Values(t.list) }

// rangeOf returns the range of a bucket.
func (t *Contacts) rangeOf(bucket int) space.Range {
	return space.Around(space.Place(uint64(bucket)<<(64-t.bits)), t.bits)
}

// bucketAt returns the number of the bucket for a place.
func (t *Contacts) bucketAt(at space.Place) int { return int(at >> (64 - t.bits)) }

// begin returns the index in the list at which the contacts of a bucket begin, or would begin.
func (t *Contacts) begin(bucket int) int {
	return sort.Search(len(t.list), func(i int) bool { return t.bucketAt(t.list[i].Place) >= bucket })
}

// bucket returns the contacts of the bucket for a place, and the index in the list at which they begin. Both are valid
// until the list changes.
func (t *Contacts) bucket(at space.Place) (contacts []Contact, begin int) {
	number := t.bucketAt(at)
	begin = t.begin(number)
	return t.list[begin:t.begin(number+1)], begin
}

// Add puts a contact into its bucket and reports whether it was taken. A known contact stays as it was, with two
// exceptions: a stated depth replaces a guessed one, and the contact's own word that it covers far more replaces any. A
// full bucket gives up its worst contact. A second contact of one address group is taken only while the bucket has a
// free place. Peers of our range are no contacts. Denials remembered from earlier count again.
func (t *Contacts) Add(c Contact) bool {
	if t.bits == 0 || space.Around(c.Place, t.bits).Contains(t.self) || c.Peer == "" {
		return false
	}
	bucket, begin := t.bucket(c.Place)
	if i := find(bucket, c.Peer); i >= 0 {
		known := &bucket[i]
		corrects := known.Word == ByGuess && c.Word != ByGuess
		if corrects || c.Word == ByItself && c.Depth <= known.Depth-FarWider {
			known.Depth, known.Word = c.Depth, c.Word
			t.sort(bucket)
		}
		return true
	}
	t.version++
	before := t.outside(c.Peer)
	c.Denials, c.Right = max(c.Denials, before.denials), max(c.Right, before.right)
	var memory [ContactsEach + 1]Contact
	list := append(append(memory[:0], bucket...), c)
	t.sort(list)
	if len(list) <= ContactsEach {
		t.list = slices.Insert(t.list, begin, c)
		copy(t.list[begin:], list)
		return true
	}
	worst := list[ContactsEach]
	t.remember(conduct{worst.Peer, worst.Denials, worst.Right})
	copy(bucket, list)
	return worst.Peer != c.Peer
}

func find(list []Contact, peer string) int {
	return slices.IndexFunc(list, func(c Contact) bool { return c.Peer == peer })
}

// sort puts a bucket in order, best first. Contacts that answer and were not caught denying come first, then those that
// proved right, then the widest. A hash of our place and the contact's decides between equals. A stated depth is a
// claim, so it puts no contact before one that proved right.
//
// The second place goes to a contact that adds to what the first one covers of the bucket: to one that proved right,
// then to the one that adds most. Of equals it goes to one in the other half of the bucket, because stated depths may
// be wrong. A contact comes last if an earlier one is of its address group.
func (t *Contacts) sort(list []Contact) {
	tie := func(a, b Contact) int { return cmp.Or(cmp.Compare(t.tie(a), t.tie(b)), cmp.Compare(a.Peer, b.Peer)) }
	slices.SortFunc(list, func(a, b Contact) int {
		return cmp.Or(cmp.Compare(a.faults(), b.faults()), truth(b.Right > 0)-truth(a.Right > 0), cmp.Compare(a.Depth, b.Depth), tie(a, b))
	})
	if len(list) > 2 {
		var first space.Set
		first.Add(list[0].Range())
		half := space.Around(list[0].Place, t.bits+1)
		slices.SortFunc(list[1:], func(a, b Contact) int {
			byA, byB := first.Missing(space.Around(a.Place, max(int(a.Depth), t.bits))), first.Missing(space.Around(b.Place, max(int(b.Depth), t.bits)))
			return cmp.Or(cmp.Compare(a.faults(), b.faults()), truth(byB > 0)-truth(byA > 0), truth(b.Right > 0)-truth(a.Right > 0), cmp.Compare(byB, byA),
				cmp.Compare(a.Depth, b.Depth), truth(half.Contains(a.Place))-truth(half.Contains(b.Place)), tie(a, b))
		})
	}
	apart := list[:0]
	var again []Contact
	for _, c := range list {
		if c.Group != 0 && slices.ContainsFunc(apart, func(o Contact) bool { return o.Group == c.Group }) {
			again = append(again, c)
		} else {
			apart = append(apart, c)
		}
	}
	copy(list[len(apart):], again)
}

// truth returns 1 for true, 0 for false.
func truth(is bool) int {
	if is {
		return 1
	}
	return 0
}

// faults returns the number of a contact's denials and of its unanswered questions in a row, added up.
func (c *Contact) faults() int { return int(c.Denials) + int(c.Failed) }

// Refuted reports whether a contact has denied too many existing holders to be asked again.
func (c *Contact) Refuted() bool { return c.Denials >= beyondChance+c.Right/bound.Credit }

func (t *Contacts) tie(c Contact) uint64 {
	return compare.Mix(uint64(t.self) ^ compare.Mix(uint64(c.Place)))
}

// Empty reports whether a range has no contact.
func (t *Contacts) Empty(r space.Range) bool {
	first := t.bucketAt(r.First())
	last := first + 1<<max(0, t.bits-r.Depth())
	return !slices.ContainsFunc(t.list[t.begin(first):t.begin(last)], func(c Contact) bool { return r.Contains(c.Place) })
}

// Get returns the contact of a peer at a place.
func (t *Contacts) Get(at space.Place, peer string) (Contact, bool) {
	bucket, _ := t.bucket(at)
	i := find(bucket, peer)
	if i < 0 {
		return Contact{}, false
	}
	return bucket[i], true
}

// change changes a contact, and forgets it if do returns true. It returns false if there is no such contact.
func (t *Contacts) change(at space.Place, peer string, do func(*Contact) (drop bool)) bool {
	bucket, begin := t.bucket(at)
	i := find(bucket, peer)
	if i < 0 {
		return false
	}
	t.version++
	if c := &bucket[i]; do(c) {
		t.remember(conduct{peer, c.Denials, c.Right})
		t.list = slices.Delete(t.list, begin+i, begin+i+1)
		return true
	}
	t.sort(bucket)
	return true
}

// Answered records an answer of a contact, and the depth of the range that it claims to cover.
func (t *Contacts) Answered(at space.Place, peer string, depth int) {
	t.change(at, peer, func(c *Contact) bool {
		c.Failed, c.Depth, c.Word = 0, ContactDepth(depth), ByItself
		return false
	})
}

// Lives records an answer of a contact whose claimed depth does not count.
func (t *Contacts) Lives(at space.Place, peer string) {
	t.change(at, peer, func(c *Contact) bool { c.Failed = 0; return false })
}

// Denied records that a peer denied a key that a peer of its range holds. The denier may be outside of the table.
func (t *Contacts) Denied(at space.Place, peer string) { t.judge(at, peer, 1, 0) }

// Proved records that a peer named a peer that proved to hold the key. The peer may be outside of the table.
func (t *Contacts) Proved(at space.Place, peer string) { t.judge(at, peer, 0, 1) }

// judge adds denials and right answers to the conduct of a peer, in the table or outside.
func (t *Contacts) judge(at space.Place, peer string, denials, right int32) {
	if !t.change(at, peer, func(c *Contact) bool { c.Denials += denials; c.Right += right; return false }) {
		c := t.outside(peer)
		t.remember(conduct{peer, c.denials + denials, c.right + right})
	}
}

// Conduct returns how often a peer was caught denying, and how often it proved right. Right answers before its first
// denial count only if the peer was in the table then.
func (t *Contacts) Conduct(at space.Place, peer string) (denials, right int32) {
	if c, ok := t.Get(at, peer); ok {
		return c.Denials, c.Right
	}
	c := t.outside(peer)
	return c.denials, c.right
}

// outside returns the conduct remembered of a peer outside of the table; zero if there is none.
func (t *Contacts) outside(peer string) (c conduct) {
	if i := t.caughtAt(peer); i >= 0 {
		c = t.caught[i]
	}
	return c
}

func (t *Contacts) caughtAt(peer string) int {
	return slices.IndexFunc(t.caught, func(c conduct) bool { return c.peer == peer })
}

// remember keeps the conduct of a peer outside of the table that has denied, for a bounded number of peers.
func (t *Contacts) remember(c conduct) {
	if c.denials == 0 {
		return
	}
	t.version++
	if i := t.caughtAt(c.peer); i >= 0 {
		t.caught[i] = c
		return
	}
	if len(t.caught) == MaxContacts {
		t.caught = slices.Delete(t.caught, 0, 1)
	}
	t.caught = append(t.caught, c)
}

// Failed records that a contact did not answer. After a few failures in a row it is forgotten.
func (t *Contacts) Failed(at space.Place, peer string) {
	t.change(at, peer, func(c *Contact) bool { c.Failed++; return c.Failed >= beyondChance })
}

// Lacks returns the ranges of a depth, other than ours, that have fewer than want contacts or, with want above 1,
// contacts for one half only. The depth is at most that of the buckets. Contacts that were caught denying or left the
// last question unanswered do not count. A contact of a wider range counts for every range in it, as far as its claim
// is credible; otherwise two liars would be contacts enough. O(ranges + contacts), without any allocation.
func (t *Contacts) Lacks(want, depth int) space.Bitmap {
	out := space.NewBitmap(depth)
	if t.bits == 0 {
		return out
	}
	var here [1<<space.MaxBits + 1]lack
	for at := range t.list {
		c := &t.list[at]
		if !c.counts() {
			continue
		}
		i, d := int(c.Place>>(64-depth)), Credible(int(c.Depth), c.Right, t.bits)
		switch {
		case d < depth:
			n := 1 << (depth - d)
			i &^= n - 1
			here[i].wide++
			here[i+n].wide--
		case d == depth:
			here[i].have++
			here[i].halves = [2]bool{true, true}
		default:
			here[i].have++
			here[i].halves[c.Place>>(63-depth)&1] = true
		}
	}
	own, wide := int(t.self>>(64-depth)), int16(0)
	for i, h := range here[:1<<depth] {
		wide += h.wide
		if i != own && (int(h.have+wide) < want || want > 1 && wide == 0 && h.halves != [2]bool{true, true}) {
			out.Add(space.Around(space.Place(uint64(i)<<(64-depth)), depth))
		}
	}
	return out
}

// lack holds the counts of [Contacts.Lacks] for one range.
type lack struct {
	have   int16
	wide   int16   // contacts whose wider range begins here, less contacts whose wider range ends just before
	halves [2]bool // halves with a contact
}

// Credible returns the depth to assume for a claimed depth where a lie would do harm. usual is the depth of most peers.
// A claim to a far wider range counts as a usual range at first. The range doubles each time the number of right
// answers has doubled.
func Credible(claimed int, right int32, usual int) int {
	if claimed > usual-FarWider {
		return claimed
	}
	return max(claimed, usual+1-bits.Len32(uint32(right)+1))
}

// counts reports whether a contact answered the last question and was not caught denying.
func (c *Contact) counts() bool { return c.Failed == 0 && !c.Refuted() }

// Next returns the index of the contact to ask next about places not covered; -1 if no contact adds any. It takes the
// contact that adds most, weighted by trust. So a spare contact comes after those of the table, except those that failed
// or that cover less. Equals go by worth (nil: all are worth the same), then by a hash of key and contact: every key has
// an order of its own, and no contact is first for all. O(contacts log ranges).
func Next(contacts []Contact, covered *space.Set, asked func(i int) bool, worth func(i int) float64, key uint64) int {
	best, most, dearest, tie := -1, 0.0, 0.0, uint64(0)
	for i := range contacts {
		c := &contacts[i]
		if c.Refuted() || asked(i) {
			continue
		}
		adds := covered.Missing(c.Range()) * c.trust()
		if adds <= 0 || adds < most {
			continue
		}
		h, w := compare.Mix(key^compare.Mix(uint64(c.Place))), 0.0
		if worth != nil {
			w = worth(i)
		}
		if adds > most || w > dearest || w == dearest && h < tie {
			best, most, dearest, tie = i, adds, w, h
		}
	}
	return best
}
