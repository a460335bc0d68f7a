package coverage

import (
	"cmp"
	"hash/fnv"
	"iter"
	"math/bits"
	"slices"
	"sort"

	"github.com/venn-p2p/venn/overlay/room"
)

// Contact is a peer that can be asked about a range beside ours.
type Contact struct {
	Peer    string
	Record  []byte // what it is dialled by; opaque
	Place   Place
	Group   Group // what its address has in common with those of the same party
	Denials int32 // it said "none here" of keys that somebody of its range is known to hold
	Right   int32 // it named somebody who proved to hold the key
	Depth   int8  // of the range around its place that it covers; see [ContactDepth]
	Word    Word  // whose word the depth is
	Failed  int8  // questions in a row without an answer
	Role    Role  // why it is asked
}

// Role says why a contact is asked.
type Role uint8

const (
	Chosen  Role = iota // for its range
	Spare               // for what the others leave over
	Alike               // because its collection is like ours: it may well know a holder. It is of no table
	Sharper             // for what we know only in a blurred way: it expects fewer false matches. It is of no table
)

// Word says whose word the depth of a contact is.
type Word uint8

const (
	ByHearsay Word = iota // another's
	ByGuess               // ours: what others say next counts
	ByItself              // the contact's own
)

// Group stands for the name of what addresses have in common. Contacts of equal groups may be of the same party. 0: the
// address has nothing in common with any.
type Group uint32

// GroupOf is the group of a name: 0 for "", else a hash that is not 0.
func GroupOf(name string) Group {
	if name == "" {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return Group(max(1, h.Sum32()))
}

// ContactDepth is a depth as contacts have it. It is brought into [0, MaxDepth].
func ContactDepth(depth int) int8 { return int8(min(max(depth, 0), MaxDepth)) }

// Range is the range that a contact covers.
func (c *Contact) Range() Range { return Around(c.Place, int(c.Depth)) }

// trust is what a contact's answer is expected to be worth, in (0, 1].
func (c *Contact) trust() float64 {
	return 1 / float64(1+c.faults())
}

const (
	// ContactsEach is the number of contacts wanted for each range beside ours.
	ContactsEach = 2
	// MaxBits is the greatest depth at which ranges have buckets of their own; deeper ones share a bucket.
	MaxBits = 10
	// MaxContacts is the most contacts that a table holds.
	MaxContacts = ContactsEach << MaxBits
	// FarWider is by how many bits a range is far wider than those of most peers.
	FarWider = 3
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
// it. A contact is found by its place and its peer. It takes 64 bytes, beside its record and its name. As it grows, a
// table has room for an eighth more. A range without contacts takes nothing. Make one with [NewContacts].
type Contacts struct {
	self   Place
	bits   int                // the depth of the buckets; 0: there are none
	list   []Contact          // by bucket, in the order of their ranges, and best first
	caught map[string]conduct // of peers outside of the table that have denied; at most maxCaught
	order  []string           // those of caught, the earliest first
}

// conduct is how often a peer was caught denying, and proved right.
type conduct struct{ denials, right int32 }

// NewContacts returns an empty table of a peer at a place.
func NewContacts(self Place) *Contacts {
	return &Contacts{self: self, caught: map[string]conduct{}}
}

// SetDepth sorts the contacts into buckets for the ranges of a depth. At depth 0 there are none, and all are forgotten.
// What others said of a contact's depth counts no longer: their depths change as ours does. O(n).
func (t *Contacts) SetDepth(depth int) {
	depth = min(max(depth, 0), MaxBits)
	if depth == t.bits {
		return
	}
	all := t.list
	t.bits, t.list = depth, nil
	for _, c := range all {
		if c.Word != ByItself {
			c.Depth = max(c.Depth, ContactDepth(depth))
		}
		t.Add(c)
	}
}

// Len is the number of contacts.
func (t *Contacts) Len() int { return len(t.list) }

// All returns the contacts, by bucket and best first.
func (t *Contacts) All() []Contact { return slices.Clone(t.list) }

// Each yields the contacts, by bucket and best first. The table must not change meanwhile.
func (t *Contacts) Each() iter.Seq[Contact] { return slices.Values(t.list) }

// rangeOf is the range of a bucket.
func (t *Contacts) rangeOf(bucket int) Range {
	return Around(Place(uint64(bucket)<<(64-t.bits)), t.bits)
}

// bucketAt is the number of the bucket of a place.
func (t *Contacts) bucketAt(at Place) int { return int(at >> (64 - t.bits)) }

// begin is where the contacts of a bucket begin in the list, or would.
func (t *Contacts) begin(bucket int) int {
	return sort.Search(len(t.list), func(i int) bool { return t.bucketAt(t.list[i].Place) >= bucket })
}

// bucket is the contacts of the bucket with a place, and where they begin in the list. They are valid until the list
// changes.
func (t *Contacts) bucket(at Place) (contacts []Contact, begin int) {
	number := t.bucketAt(at)
	begin = t.begin(number)
	return t.list[begin:t.begin(number+1)], begin
}

// Add takes a contact into its bucket and says whether it was taken. Of one that is known already all is kept, but for a
// depth that was a guess: others may say anything of it. Nor is a depth kept if the contact itself says that it covers
// far more. A full bucket gives up its worst. One of an address group that the bucket has already goes only where there
// is a place free. Those of the own range are no contacts. Denials of an earlier time count again.
func (t *Contacts) Add(c Contact) bool {
	if t.bits == 0 || Around(c.Place, t.bits).Contains(t.self) || c.Peer == "" {
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
	before := t.caught[c.Peer]
	c.Denials, c.Right = max(c.Denials, before.denials), max(c.Right, before.right)
	var memory [ContactsEach + 1]Contact
	list := append(append(memory[:0], bucket...), c)
	t.sort(list)
	if len(list) <= ContactsEach {
		t.list = slices.Insert(room.Grow(t.list), begin, c)
		copy(t.list[begin:], list)
		return true
	}
	worst := list[ContactsEach]
	t.remember(worst.Peer, conduct{worst.Denials, worst.Right})
	copy(bucket, list)
	return worst.Peer != c.Peer
}

func find(list []Contact, peer string) int {
	return slices.IndexFunc(list, func(c Contact) bool { return c.Peer == peer })
}

// sort puts a bucket in order, best first. Contacts that answer and were not caught denying come first, then the
// widest, and then the order is by a hash of both ends. The second is the one that adds most to what the first covers.
// Of equals it is one in the other half of the bucket, for what is said of depths may be wrong. A contact of an address
// group that stands before it already comes after all others.
func (t *Contacts) sort(list []Contact) {
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

// within is 1 for a contact in a range, else 0.
func within(r Range, c Contact) int {
	if r.Contains(c.Place) {
		return 1
	}
	return 0
}

// faults counts what speaks against a contact.
func (c *Contact) faults() int { return int(c.Denials) + int(c.Failed) }

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

// Empty says whether there is no contact in a range.
func (t *Contacts) Empty(r Range) bool {
	first := t.bucketAt(r.First())
	last := first + 1<<max(0, t.bits-r.Depth())
	return !slices.ContainsFunc(t.list[t.begin(first):t.begin(last)], func(c Contact) bool { return r.Contains(c.Place) })
}

// Get returns the contact at a place that is a peer.
func (t *Contacts) Get(at Place, peer string) (Contact, bool) {
	bucket, _ := t.bucket(at)
	i := find(bucket, peer)
	if i < 0 {
		return Contact{}, false
	}
	return bucket[i], true
}

// change changes a contact, and forgets it if do says so. It is false when there is none.
func (t *Contacts) change(at Place, peer string, do func(*Contact) (drop bool)) bool {
	bucket, begin := t.bucket(at)
	i := find(bucket, peer)
	if i < 0 {
		return false
	}
	if c := &bucket[i]; do(c) {
		t.remember(peer, conduct{c.Denials, c.Right})
		t.list = room.Shrink(slices.Delete(t.list, begin+i, begin+i+1))
		return true
	}
	t.sort(bucket)
	return true
}

// Answered notes an answer of a contact, and the depth of the range that it says it covers.
func (t *Contacts) Answered(at Place, peer string, depth int) {
	t.change(at, peer, func(c *Contact) bool {
		c.Failed, c.Depth, c.Word = 0, ContactDepth(depth), ByItself
		return false
	})
}

// Lives notes that a contact has answered, and that what it says of its depth does not count.
func (t *Contacts) Lives(at Place, peer string) {
	t.change(at, peer, func(c *Contact) bool { c.Failed = 0; return false })
}

// Denied notes that a peer denied a key that somebody of its range holds. It may be outside of the table.
func (t *Contacts) Denied(at Place, peer string) {
	if !t.change(at, peer, func(c *Contact) bool { c.Denials++; return false }) {
		c := t.caught[peer]
		c.denials++
		t.remember(peer, c)
	}
}

// Conduct is how often a peer was caught denying, and since then proved right, in the table or not. Of a peer in the
// table all that it proved counts.
func (t *Contacts) Conduct(at Place, peer string) (denials, right int32) {
	if c, ok := t.Get(at, peer); ok {
		return c.Denials, c.Right
	}
	return t.caught[peer].denials, t.caught[peer].right
}

// remember keeps the conduct of a peer outside of the table that has denied, of a bounded number of peers.
func (t *Contacts) remember(peer string, c conduct) {
	if c.denials == 0 {
		return
	}
	if _, ok := t.caught[peer]; !ok {
		if len(t.order) == maxCaught {
			delete(t.caught, t.order[0])
			t.order = slices.Delete(t.order, 0, 1)
		}
		t.order = append(t.order, peer)
	}
	t.caught[peer] = c
}

// Proved notes that a peer named somebody who proved to hold the key. It may be outside of the table.
func (t *Contacts) Proved(at Place, peer string) {
	if !t.change(at, peer, func(c *Contact) bool { c.Right++; return false }) {
		c := t.caught[peer]
		c.right++
		t.remember(peer, c)
	}
}

// Failed notes that a contact did not answer. After a few times in a row it is forgotten.
func (t *Contacts) Failed(at Place, peer string) {
	t.change(at, peer, func(c *Contact) bool { c.Failed++; return c.Failed >= failedMost })
}

// Lacks returns the ranges of a depth beside ours with fewer contacts than are wanted, or with contacts that cover but
// one half. The depth is at most that of the buckets. Contacts that did not answer the last question do not count, nor
// do those caught denying. Contacts that cover more than a range count for every range that they cover, as far as that is
// credible: two liars would else be contacts enough. O(ranges + contacts), without any allocation.
func (t *Contacts) Lacks(want, depth int) Bitmap {
	out := NewBitmap(depth)
	if t.bits == 0 {
		return out
	}
	const both = 1 | 2
	var here [1<<MaxBits + 1]lack
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
			here[i].halves = both
		default:
			here[i].have++
			here[i].halves |= 1 << (c.Place >> (63 - depth) & 1)
		}
	}
	own, wide := out.bit(t.self), int16(0)
	for i, h := range here[:1<<depth] {
		wide += h.wide
		if i != own && (int(h.have+wide) < want || want > 1 && wide == 0 && h.halves != both) {
			out.Add(out.at(i))
		}
	}
	return out
}

// lack is what [Contacts.Lacks] counts of a range.
type lack struct {
	have   int16
	wide   int16 // contacts of wider ranges that begin here, less those that end before
	halves uint8 // a bit for each
}

// Credible is the depth that a claimed one counts for where a lie would do harm, in a network where ranges are usually
// of some depth. Who claims to cover far more counts for a usual range. That doubles whenever the number of times that
// it proved right has doubled.
func Credible(claimed int, right int32, usual int) int {
	if claimed > usual-FarWider {
		return claimed
	}
	return max(claimed, usual+1-bits.Len32(uint32(right)+1))
}

// counts says whether a contact can be asked, as far as is known.
func (c *Contact) counts() bool { return c.Failed == 0 && !c.Refuted() }

// Next chooses the contact to ask about what is not covered, of those not asked yet. It is the one that adds most to
// what is covered, less for those that were caught or failed. A spare contact is chosen if no other adds anything.
// Equals go by what they are worth, nil for all alike, and then by a hash of the key and the contact: every key has its
// own order, so that no contact is everybody's first. It returns -1 if nobody adds anything. O(contacts log ranges).
func Next(contacts []Contact, covered *Set, asked func(i int) bool, worth func(i int) float64, key uint64) int {
	best, most, dearest, tie, spare := -1, 0.0, 0.0, uint64(0), true
	for i := range contacts {
		c := &contacts[i]
		if c.Refuted() || c.Role == Spare && !spare || asked(i) {
			continue
		}
		adds := covered.Missing(c.Range()) * c.trust()
		if adds <= 0 || adds < most && (c.Role == Spare) == spare {
			continue
		}
		h, w := mix(key^mix(uint64(c.Place))), 0.0
		if worth != nil {
			w = worth(i)
		}
		if spare && c.Role != Spare || adds > most || w > dearest || w == dearest && h < tie {
			best, most, dearest, tie, spare = i, adds, w, h, c.Role == Spare
		}
	}
	return best
}
