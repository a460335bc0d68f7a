package directory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// crowd is an overlay that holds summaries of peers peers in the form for long. They have up to keys keys and different
// depths, and are useful to different degrees. It has one byte of memory too few.
func crowd(t testing.TB, peers, keys int) *Directory {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 9))
	d := alone(rng, Config{Memory: 1 << 40, MaxOrigins: 1 << 20})
	var some []*summary.Prefix // few, for they take long to make
	for _, n := range []int{keys, keys * 3 / 4, keys / 2, keys / 3} {
		fps := plain.Keys(rng, n)
		full := plain.Of("crowd", fps).Stream
		for p := full; 2*p.Parts() > full.Parts(); p = p.Truncate(p.Parts() - 1) {
			some = append(some, d.compacted(p))
		}
	}
	for i := range peers {
		if i%MaxPendingLink == 0 {
			d.Open("from", "")
		}
		e := d.Add(0, "from", uint64(1000+i)*0x9e3779b97f4a7c15) // places all over the network
		d.settle(e, Held)
		e.envelope = []byte("header")
		d.signed += e.signedBytes()
		e.peer, e.cur = wire.PeerID(fmt.Sprint("peer", i)), some[rng.IntN(len(some))]
		misses := rng.Int32N(100)
		e.misses = uint16(misses)
		d.held += e.memory()
		d.origins++
		d.setAnswer(e)
	}
	d.due.By(dueExpiry, 0)
	d.cfg.Memory = d.Memory() - 1
	return d
}

func nobody(wire.PeerID) bool { return false }

func noCall(*Entry) {}

// What is dropped is worth no more a byte than what stays, and the directory fits.
func TestShedDropsWhatIsWorthLeast(t *testing.T) {
	d := crowd(t, 100, 3000)
	before := map[*Entry]*summary.Prefix{}
	for _, e := range d.Others() {
		before[e] = e.cur
	}
	d.Shed(0, nobody, noCall)
	most, least, kept := 0.0, math.Inf(1), 0
	for _, e := range d.Others() {
		p := before[e]
		last := e.value(p, p.Parts()-1, p.Parts())
		switch p.Parts() - e.cur.Parts() {
		case 0:
			least = min(least, last)
			kept++
		case 1:
			most = max(most, last)
		default:
			t.Errorf("%s: %d parts of %d are left at once", e.peer, e.cur.Parts(), p.Parts())
		}
	}
	if most == 0 || kept == 0 || most > least {
		t.Errorf("parts worth up to %g were dropped, and %d from %g on kept", most, kept, least)
	}
	if d.Memory() > d.cfg.Memory {
		t.Errorf("%d bytes, of %d", d.Memory(), d.cfg.Memory)
	}
	if err := d.Check(0); err != nil {
		t.Error(err)
	}
}

// The oldest bases go first. Each entry is looked at once, whether few bases go or nearly all.
func TestShedBases(t *testing.T) {
	const peers = 400
	for _, share := range []int{1, 50, 99} { // of the bases that go, in percent
		d := crowd(t, peers, 100)
		floor := d.Memory()
		for i := range maxBases * peers {
			e := d.Others()[i*7%peers]
			d.keepBase(time.Duration(i), e, e.cur)
		}
		looks := 0
		others := func(yield func(*Entry) bool) {
			for _, e := range d.Others() {
				if looks++; !yield(e) {
					return
				}
			}
		}
		goal := d.Memory() - (d.Memory()-floor)*share/100
		d.shedBases(others, goal)
		left, oldest := 0, time.Duration(math.MaxInt64)
		for _, e := range d.Others() {
			for _, b := range e.bases {
				left++
				oldest = min(oldest, b.until-keepBases)
			}
		}
		gone := maxBases*peers - left
		if d.Memory() > goal || left == 0 || gone != int(oldest) {
			t.Errorf("%d %%: %d bytes, want %d; %d bases went, and the oldest left is number %d", share, d.Memory(), goal, gone, oldest)
		}
		if looks > peers {
			t.Errorf("%d %%: %d looks at %d entries", share, looks, peers)
		}
		if err := d.Check(0); err != nil {
			t.Error(err)
		}
	}
}

// TestShedKeepsByRule: of whole entries those stay that Keep chooses, as many as fit, and linked peers. Each other one is
// named before it goes. A directory full of them hears of further origins: they are weighed against the others.
func TestShedKeepsByRule(t *testing.T) {
	d := crowd(t, 100, 300)
	d.Open("peer0", "")
	others := slices.Clone(d.Others())
	var all []Candidate
	for i, e := range others {
		e.hits = uint16(i % 3)
		all = append(all, Candidate{Place: d.Place(e), Linked: i == 0, Hits: i % 3})
	}
	d.SetRange(space.Around(d.PlaceOf(d.Own().tag), 2))
	d.cfg.Memory = d.Memory() * 3 / 5
	gone := map[*Entry]bool{}
	d.Shed(0, nobody, func(e *Entry) { gone[e] = e.Held() != nil })
	left := 0
	for _, e := range d.Others() {
		if e != nil && e.peer != "peer0" {
			left++
		}
	}
	for i, stays := range Keep(d.within, d.PlaceOf(d.Own().tag), left, all) {
		if stays != (d.Others()[i] != nil) || stays == gone[others[i]] {
			t.Errorf("entry %d is to stay: %v; it stays: %v; it was named before it went: %v", i, stays, d.Others()[i] != nil, gone[others[i]])
		}
	}
	if m := d.Memory(); m > d.cfg.Memory || m < d.cfg.Memory*9/10 || left > 90 {
		t.Errorf("%d entries stay in %d bytes of %d", left, m, d.cfg.Memory)
	}
	if d.Add(0, "from", uint64(d.PlaceOf(d.Own().tag))^1) == nil || d.Invite(0, "from", 1) == nil {
		t.Error("no further origin is let in")
	}
}

// Once entries had to go for want of room, the directory says up to where the range is whole, until there is room again
// and links have told of them again.
func TestLost(t *testing.T) {
	for _, memory := range []bool{false, true} {
		d := crowd(t, 100, 300)
		self := d.PlaceOf(d.Own().tag)
		places := map[int]space.Place{}
		for i, e := range d.Others() {
			places[i] = d.Place(e)
		}
		if d.Lost() != 0 {
			t.Errorf("%d is lost before anybody went", d.Lost())
		}
		if memory {
			d.cfg.Memory = d.Memory() / 4
			d.Shed(0, nobody, noCall)
			d.SetRoom(len(d.byTag) - d.owns + len(d.links)) // as the region reckons: those that stay fill it
		} else {
			d.SetRoom(21) // with the one linked
			d.KeepToRoom(nobody, noCall)
		}
		gone, nearest := 0, 0
		for i, e := range d.Others() {
			if e == nil {
				gone++
				nearest = max(nearest, space.SharedBits(self, places[i]))
			}
		}
		if gone == 0 || d.Lost() != nearest+1 {
			t.Errorf("%d went, the nearest of depth %d, and %d is lost", gone, nearest, d.Lost())
		}
		if memory && d.Missed(0) {
			t.Error("there is room again while memory is short")
		}
		d.cfg.Memory = 1 << 40
		d.SetRoom(1000)
		if d.regain(time.Hour); d.Lost() != nearest+1 {
			t.Errorf("nobody has told of them again, but %d is lost", d.Lost())
		}
		const room = 2 * time.Hour
		version := d.Version()
		if !d.Missed(room) || d.Lost() != nearest+1 {
			t.Errorf("there is room again, nobody has told of them yet, but %d is lost", d.Lost())
		}
		if d.regain(room + agenda.Lately - 1); d.Lost() != nearest+1 || d.Version() != version {
			t.Errorf("they may still be told of, but %d is lost", d.Lost())
		}
		if d.regain(room + agenda.Lately); d.Lost() != 0 || d.Version() == version {
			t.Errorf("they were told of again, but %d stays lost, at version %d", d.Lost(), d.Version())
		}
	}
}

// There is room for as many as memory is enough for beside the linked ones, for the number given at most, and for one.
func TestRoom(t *testing.T) {
	d := alone(rand.New(rand.NewPCG(1, 13)), Config{Memory: 1 << 30, MaxOrigins: 10})
	d.Open("a", "")
	d.Open("b", "")
	if d.UnlinkedCapacity() != 10 {
		t.Errorf("there is room for %d where memory says nothing", d.UnlinkedCapacity())
	}
	for fits, want := range map[int]int{0: 1, 2: 1, 3: 1, 4: 2, 12: 10, 13: 10, math.MaxInt: 10} {
		if d.SetRoom(fits); d.UnlinkedCapacity() != want {
			t.Errorf("where memory is for %d, there is room for %d, want %d", fits, d.UnlinkedCapacity(), want)
		}
	}
}

// TestLinksTakeNoRoom: pending and named entries may take twice the room for unlinked origins, however many are linked.
func TestLinksTakeNoRoom(t *testing.T) {
	const room = 10
	for _, links := range []int{1, 3 * room} {
		for _, way := range []string{"announced", "named"} {
			d := alone(rand.New(rand.NewPCG(1, 14)), Config{Memory: 1 << 30, MaxOrigins: room})
			for i := range links {
				p := wire.PeerID(fmt.Sprint("link", i))
				d.Open(p, "")
				if d.Add(0, p, wire.Tag(plain.Tag, string(p))) == nil {
					t.Fatalf("%s has no entry", p)
				}
			}
			n := 0
			for i := range 4 * room {
				p := wire.PeerID(fmt.Sprint("stranger", i))
				tag := wire.Tag(plain.Tag, string(p))
				if way == "announced" {
					d.Add(0, "link0", tag)
				} else if fault := d.LearnRecord(0, "link0", record(p)); fault != "" {
					t.Fatal(fault)
				}
				if d.Tagged(tag) != nil {
					n++
				}
			}
			if n != 2*room+1 {
				t.Errorf("%d links: %d strangers are %s, want %d", links, n, way, 2*room+1)
			}
		}
	}
}
