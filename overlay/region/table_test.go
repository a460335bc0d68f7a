package region

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/overlay/space"
)

// check fails when a table breaks its rules.
func check(t *testing.T, c *Contacts) {
	t.Helper()
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
}

func draw(rng *rand.Rand, groups int) Contact {
	i := rng.IntN(400)
	own := rand.New(rand.NewPCG(uint64(i), 9))
	return Contact{Peer: fmt.Sprint(i), Place: space.Place(own.Uint64()), Depth: ContactDepth(4 + own.IntN(3)), Group: GroupOf(fmt.Sprint(own.IntN(groups)))}
}

// TestContactDepth: any depth that is said is brought into the range of depths.
func TestContactDepth(t *testing.T) {
	for _, c := range []struct {
		said int
		want int8
	}{{-1, 0}, {0, 0}, {7, 7}, {space.MaxDepth, space.MaxDepth}, {space.MaxDepth + 1, space.MaxDepth}, {256, space.MaxDepth}} {
		if got := ContactDepth(c.said); got != c.want {
			t.Errorf("%d is taken for %d, want %d", c.said, got, c.want)
		}
	}
}

// TestGroupOf: names have groups of their own, none is 0, and no name has none.
func TestGroupOf(t *testing.T) {
	names := map[Group]string{}
	for i := range 1000 {
		name := fmt.Sprintf("10.%d.%d.0/24", i/256, i%256)
		if other, taken := names[GroupOf(name)]; taken {
			t.Fatalf("%s and %s are one group", name, other)
		}
		names[GroupOf(name)] = name
	}
	const hashesTo0 = "\xcc\x24\x31\xc4"
	if GroupOf("") != 0 || GroupOf(hashesTo0) == 0 {
		t.Errorf("no name is group %d, a name is group %d", GroupOf(""), GroupOf(hashesTo0))
	}
}

// TestContacts does anything in any order: the table keeps its rules, and what it lacks is what a plain count says.
func TestContacts(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := NewContacts(space.Place(rng.Uint64()))
		for range 300 {
			x := draw(rng, 8)
			switch rng.IntN(12) {
			case 0:
				c.SetDepth(rng.IntN(7))
			case 1:
				c.Denied(x.Place, x.Peer)
			case 2:
				c.Failed(x.Place, x.Peer)
			case 3:
				c.Proved(x.Place, x.Peer)
				c.Answered(x.Place, x.Peer, rng.IntN(8))
			default:
				c.Add(x)
			}
			check(t, c)
		}
		for depth := range c.bits + 1 {
			checkLacks(t, c, depth)
		}
	}
}

// checkLacks compares what a table lacks with what a plain count says.
func checkLacks(t *testing.T, c *Contacts, depth int) {
	t.Helper()
	if c.bits == 0 {
		return
	}
	lacks := map[space.Range]bool{}
	all := c.Lacks(ContactsEach, depth)
	for r := range all.All() {
		lacks[r] = true
	}
	for i := range 1 << depth {
		r, have, halves := space.Around(space.Place(uint64(i)<<(64-depth)), depth), 0, map[int]bool{}
		for _, x := range c.All() {
			own := x.Range()
			if int(x.Depth) <= c.bits-FarWider {
				own = space.Around(x.Place, c.bits)
				for n := x.Right; n > 0 && own.Depth() > int(x.Depth); n = (n - 1) / 2 {
					own = own.Parent()
				}
			}
			if x.Failed == 0 && !x.Refuted() && (own.Covers(r) || r.Contains(x.Place)) {
				have++
				for half, at := range []space.Place{r.First(), r.First() | 1<<(63-r.Depth())} {
					halves[half] = halves[half] || own.Contains(at) || space.Around(x.Place, depth+1).Contains(at)
				}
			}
		}
		if want := (have < ContactsEach || !halves[0] || !halves[1]) && !r.Contains(c.self); lacks[r] != want {
			t.Fatalf("depth %d of %d: %v has %d contacts, and is lacking: %v", depth, c.bits, r, have, lacks[r])
		}
	}
}

// TestContactsOrder: the same peers heard of in any order make the same table, and two of one address group give way.
func TestContactsOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var all []Contact
	for i := range 300 {
		all = append(all, Contact{Peer: fmt.Sprint(i), Place: space.Place(rng.Uint64()), Depth: 3})
	}
	var first string
	for range 5 {
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		c := NewContacts(1)
		c.SetDepth(3)
		for _, x := range all {
			c.Add(x)
		}
		if got := fmt.Sprint(c.All()); first == "" {
			first = got
		} else if got != first {
			t.Fatal("another order, another table")
		}
	}
	c := NewContacts(0)
	c.SetDepth(1)
	for i := range 100 { // a crowd of one party, and one peer of another
		c.Add(Contact{Peer: fmt.Sprint(i), Place: 1<<63 | space.Place(i), Depth: 1, Group: GroupOf("crowd")})
	}
	c.Add(Contact{Peer: "other", Place: 1<<63 | 1<<62, Depth: 1, Group: GroupOf("other")})
	if _, in := c.Get(1<<63|1<<62, "other"); !in {
		t.Error("one address group has all places of a range")
	}
}

// TestContactsApart: the two contacts of a range that nobody covers whole cover both its halves, whatever came first
// and whatever was said of their depths. A range lacks a contact if its contacts cover but one half.
func TestContactsApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, said := range []int{4, 3} {
		c := NewContacts(0)
		c.SetDepth(3)
		for i := range 400 { // the first are in one half of each range
			p := space.Place(rng.Uint64())
			if i < 200 {
				p &^= 1 << 60
			}
			c.Add(Contact{Peer: fmt.Sprint(i), Place: p, Depth: ContactDepth(said)})
			check(t, c)
		}
		for _, x := range c.All() {
			c.Answered(x.Place, x.Peer, 4)
		}
		var covered space.Set
		covered.Add(space.Around(0, 3))
		for x := range c.Each() {
			covered.Add(x.Range())
		}
		if covered.Share() != 1 || lacksOf(c) > 0 {
			t.Errorf("said to be of depth %d: contacts cover %v, %d ranges lack some", said, covered.String(), lacksOf(c))
		}
	}
	c := NewContacts(0)
	c.SetDepth(1)
	for i := range 10 {
		c.Add(Contact{Peer: fmt.Sprint(i), Place: 1<<63 | space.Place(i), Depth: 2})
	}
	if lacksOf(c) != 1 {
		t.Error("half a range is enough")
	}
}

// TestNamedAgain: what others say of a contact that is known changes nothing.
func TestNamedAgain(t *testing.T) {
	c := NewContacts(0)
	c.SetDepth(1)
	c.Add(Contact{Peer: "p", Record: []byte("true"), Place: 1 << 63, Depth: 3})
	c.Add(Contact{Peer: "p", Record: []byte("old"), Place: 1 << 63, Depth: 0})
	if got, _ := c.Get(1<<63, "p"); got.Depth != 3 || string(got.Record) != "true" {
		t.Errorf("got %+v", got)
	}
}

// TestOwnWord: what a contact itself says of its depth replaces what others said if it covers far more by that. What
// others say does not.
func TestOwnWord(t *testing.T) {
	const depth = FarWider + 2
	for _, c := range []struct {
		says   Contact
		counts bool
	}{
		{Contact{Depth: depth - FarWider, Word: ByItself}, true},
		{Contact{Depth: depth - FarWider + 1, Word: ByItself}, false},
		{Contact{Depth: 0}, false},
	} {
		table := NewContacts(0)
		table.SetDepth(depth)
		c.says.Peer, c.says.Place = "one", 1<<63
		table.Add(Contact{Peer: "one", Place: 1 << 63, Depth: depth})
		table.Denied(1<<63, "one")
		table.Add(c.says)
		if got, _ := table.Get(1<<63, "one"); (got.Depth == c.says.Depth) != c.counts || got.Denials != 1 {
			t.Errorf("after %+v: %+v", c.says, got)
		}
	}
}

// TestDenials: who denies what is there is asked no more, and does not come back with a clean record.
func TestDenials(t *testing.T) {
	c := NewContacts(0)
	c.SetDepth(1)
	liar := Contact{Peer: "liar", Place: 1 << 63, Depth: 1}
	c.Add(liar)
	for range beyondChance {
		c.Denied(liar.Place, "liar")
	}
	c.Add(liar)
	var none space.Set
	if i := Next(c.All(), &none, func(int) bool { return false }, nil, 1); i >= 0 {
		t.Errorf("%+v is asked", c.All()[i])
	}
	if lacksOf(c) != 1 {
		t.Error("nobody is looked for in its place")
	}
}

// TestNext: the contacts asked cover everything that any of them covers, the widest first, and equals share the first
// place.
func TestNext(t *testing.T) {
	c := NewContacts(0)
	c.SetDepth(5)
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range 400 {
		c.Add(Contact{Peer: fmt.Sprint(i), Place: space.Place(rng.Uint64()), Depth: 5})
	}
	all := c.All()
	wide := Contact{Peer: "wide", Place: 1 << 63, Depth: 2}
	all = append(all, wide)
	firsts := map[int]int{}
	for key := range uint64(500) {
		var covered space.Set
		covered.Add(space.Around(0, 5))
		asked := map[int]bool{}
		n := 0
		for i := 0; ; n++ {
			if i = Next(all, &covered, func(i int) bool { return asked[i] }, nil, key); i < 0 {
				break
			}
			if n == 0 && all[i].Peer != "wide" {
				t.Fatalf("%+v is asked before the widest", all[i])
			}
			if n == 1 {
				firsts[i]++
			}
			asked[i] = true
			r := all[i].Range()
			covered.Add(r)
		}
		if covered.Share() != 1 || n != 1+31-8 {
			t.Fatalf("%d contacts cover %v", n, covered.Share())
		}
	}
	for i, n := range firsts {
		if n > 60 {
			t.Errorf("contact %d is asked first for %d of 500 keys", i, n)
		}
	}
}

// TestCaughtAreBounded: the denials of a bounded number of peers outside of the table are kept, the latest.
func TestCaughtAreBounded(t *testing.T) {
	c := NewContacts(0)
	c.SetDepth(1)
	for i := range MaxContacts + 10 {
		c.Denied(0, fmt.Sprint(i))
	}
	first, _ := c.Conduct(0, "0")
	if last, _ := c.Conduct(0, fmt.Sprint(MaxContacts+9)); first != 0 || last != 1 {
		t.Error("the earliest are kept, or the latest are not")
	}
}

// TestConduct: for being right, a peer outside of the table may deny as often as one in it. It keeps that when it comes in.
func TestConduct(t *testing.T) {
	in, out := NewContacts(0), NewContacts(0)
	in.SetDepth(1)
	out.SetDepth(1)
	peer := Contact{Peer: "peer", Place: 1 << 63, Depth: 1}
	in.Add(peer)
	for i, denied := range []bool{true, false, false, false, false, false, false, false, false, true, true} {
		for _, c := range []*Contacts{in, out} {
			if denied {
				c.Denied(peer.Place, peer.Peer)
			} else {
				c.Proved(peer.Place, peer.Peer)
			}
		}
		got := peer
		got.Denials, got.Right = out.Conduct(peer.Place, peer.Peer)
		want, _ := in.Get(peer.Place, peer.Peer)
		if got.Denials != want.Denials || got.Right != want.Right || got.Refuted() != (i == 10) {
			t.Errorf("after %d: %+v, want %+v", i, got, want)
		}
	}
	out.Add(peer)
	if got, _ := out.Get(peer.Place, peer.Peer); got.Denials != 3 || got.Right != 8 {
		t.Errorf("it comes in with %+v", got)
	}
}

// TestConductIsKept: what a contact was caught at and proved is still known when it has left the table, because better ones
// came or because it did not answer.
func TestConductIsKept(t *testing.T) {
	for name, leave := range map[string]func(c *Contacts, peer Contact){
		"pushed out": func(c *Contacts, _ Contact) {
			for i := range uint64(ContactsEach) {
				c.Add(Contact{Peer: fmt.Sprint(i), Place: space.Place(1<<63 | (2+i)<<40), Depth: 1})
			}
		},
		"silent": func(c *Contacts, peer Contact) {
			for range beyondChance {
				c.Failed(peer.Place, peer.Peer)
			}
		},
	} {
		c := NewContacts(0)
		c.SetDepth(1)
		peer := Contact{Peer: "peer", Place: 1 << 63, Depth: 1}
		c.Add(peer)
		c.Proved(peer.Place, peer.Peer)
		c.Denied(peer.Place, peer.Peer)
		leave(c, peer)
		if _, in := c.Get(peer.Place, peer.Peer); in {
			t.Fatalf("%s: it is still in", name)
		}
		if denials, right := c.Conduct(peer.Place, peer.Peer); denials != 1 || right != 1 {
			t.Errorf("%s: %d denials, %d times right, want one each", name, denials, right)
		}
	}
}

// TestBoastsReplaceNobody: who claims to cover everybody does not keep others from being looked for. It does so in the
// more ranges, the more often it has proved right.
func TestBoastsReplaceNobody(t *testing.T) {
	c := NewContacts(0)
	c.SetDepth(5)
	boasts := []Contact{{Peer: "one", Place: 1 << 63}, {Peer: "other", Place: 1<<63 | 1<<62}}
	for _, x := range boasts {
		c.Add(x)
	}
	if lacks := c.Lacks(1, 5); lacks.Len() != 1<<5-1-len(boasts) {
		t.Errorf("%d ranges lack a contact beside two that boast", lacks.Len())
	}
	for _, step := range []struct{ right, lacking int }{{1, 27}, {2, 27}, {3, 23}, {7, 15}, {15, 15}, {31, 0}} {
		for _, x := range boasts {
			for have, _ := c.Get(x.Place, x.Peer); int(have.Right) < step.right; have.Right++ {
				c.Proved(x.Place, x.Peer)
			}
		}
		if lacks := c.Lacks(1, 5); lacks.Len() != step.lacking {
			t.Errorf("%d ranges lack a contact beside two that were right %d times, want %d", lacks.Len(), step.right, step.lacking)
		}
	}
}

// lacksOf is how many ranges of the table's depth lack some of the contacts wanted.
func lacksOf(c *Contacts) int {
	lacks := c.Lacks(ContactsEach, c.bits)
	return lacks.Len()
}

// TestProvedStay: contacts that proved right give way neither to wider claims nor to others alike.
func TestProvedStay(t *testing.T) {
	for _, depth := range []int8{4, 5, 0} {
		table := NewContacts(0)
		table.SetDepth(5)
		at := space.Place(0xf8) << 56
		for i, p := range []string{"right", "right too"} {
			place := at | space.Place(i)<<58
			table.Add(Contact{Peer: p, Place: place, Depth: 5, Word: ByItself})
			for range 100 {
				table.Proved(place, p)
			}
		}
		for i := range 64 {
			table.Add(Contact{Peer: fmt.Sprint("liar", i), Place: at | space.Place(i)<<53, Depth: depth})
		}
		for _, c := range table.All() {
			if c.Right == 0 {
				t.Errorf("%+v displaced one that proved right 100 times", c)
			}
		}
	}
}

// TestLacksAllocatesNothing: what lacks is asked for once a second and more.
func TestLacksAllocatesNothing(t *testing.T) {
	c, rng := NewContacts(0), rand.New(rand.NewPCG(1, 1))
	c.SetDepth(space.MaxBits)
	for range 100 {
		c.Add(draw(rng, 8))
	}
	if n := testing.AllocsPerRun(100, func() { c.Lacks(ContactsEach, space.MaxBits) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
