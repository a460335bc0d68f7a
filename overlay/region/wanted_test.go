package region

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// deep is a peer whose range is of a depth, in a network that it knows nobody of.
func deep(t *testing.T, depth int) *world {
	t.Helper()
	o := alone(t, rand.New(rand.NewPCG(2, 3)), Config{})
	o.depth = depth
	o.contacts.SetDepth(depth)
	return o
}

// meets makes contacts of peers until every range of a depth has one. It returns how many it made up.
func meets(o *world, depth int) int {
	i := 0
	for lacks := o.contacts.Lacks(1, depth); lacks.Len() > 0; i++ {
		p := wire.PeerID(fmt.Sprint("contact", i))
		if lacks.Has(p.Place()) {
			o.addContact(wire.Record{Peer: p, Envelope: []byte(p)}, o.depth, ByHearsay)
			lacks = o.contacts.Lacks(1, depth)
		}
	}
	return i
}

// inquiries are those that a peer has sent since it was last asked.
func inquiries(o *world) (out []event.Ask, named []event.ContactsNamed) {
	for _, e := range o.effects.List() {
		switch e := e.(type) {
		case event.Ask:
			out = append(out, e)
		case event.ContactsNamed:
			named = append(named, e)
		}
	}
	return out, named
}

// TestContactsOfWideRanges: beforehand a peer asks for contacts in each wide range and near its own, however narrow
// ranges are.
func TestContactsOfWideRanges(t *testing.T) {
	const depth = wideRanges + 3
	o := deep(t, depth)
	first := o.lacks()
	if want := 1<<wideRanges - 1 + 1<<(depth-wideRanges) - 1; first.Len() != want {
		t.Errorf("asks for %d ranges, want %d", first.Len(), want)
	}
	for r := range first.All() {
		if r.Depth() != depth || r.Contains(o.place) {
			t.Errorf("asks for %v", r)
		}
	}
	meets(o, wideRanges)
	for range 100 {
		if rest := o.lacks(); rest.Len() > 1<<(depth-wideRanges)-1+ContactsEach {
			t.Fatalf("with a contact in each wide range it asks for %d more", rest.Len())
		}
	}
	if lacks := o.contacts.Lacks(1, depth); lacks.Len() < 1<<(depth-1) {
		t.Errorf("only %d ranges lack a contact: nothing was saved", lacks.Len())
	}
}

// TestWantedContacts: a search that wants contacts has a few peers asked for those of every range without one, and is
// told of every answer. Then it has them asked for second ones.
func TestWantedContacts(t *testing.T) {
	const depth = wideRanges + 1
	o := deep(t, depth)
	o.onContactsWanted(event.ContactsWanted{Search: 7, Ask: 4})
	if asked, named := inquiries(o); len(asked) != 0 || len(named) != 1 || named[0].Awaited != 0 {
		t.Errorf("knowing nobody it asks %v and says %v", asked, named)
	}
	meets(o, wideRanges)
	lacked := o.contacts.Lacks(1, depth)
	o.effects.Begin()
	o.onContactsWanted(event.ContactsWanted{Search: 7, Ask: 4})
	asked, named := inquiries(o)
	if len(asked) != 4 || len(named) != 1 || named[0] != (event.ContactsNamed{Search: 7, Asked: 4, Awaited: 4}) {
		t.Fatalf("asks %d peers and says %v", len(asked), named)
	}
	for i, a := range asked {
		if a.Search != 7 || !slices.Equal(a.Question.(wire.Inquiry).Lacks, lacked.Bytes()) {
			t.Errorf("asks %+v", a)
		}
		if slices.ContainsFunc(asked[:i], func(b event.Ask) bool { return b.To.Peer == a.To.Peer }) {
			t.Errorf("asks %q twice", a.To.Peer)
		}
	}
	o.effects.Begin()
	o.onContactsWanted(event.ContactsWanted{Search: 8, Ask: 100})
	if again, _ := inquiries(o); slices.ContainsFunc(again, func(b event.Ask) bool { return b.To.Peer == asked[0].To.Peer }) {
		t.Errorf("asks %q again before it has answered", asked[0].To.Peer)
	}
	for i, a := range asked {
		o.effects.Begin()
		if i%2 == 0 {
			o.onNames(0, a.To.Peer, wire.Names{Depth: depth})
		} else {
			o.onNoNames(a.To.Peer, false)
		}
		if _, named := inquiries(o); len(named) != 2 || named[0] != (event.ContactsNamed{Search: 7, Awaited: len(asked) - i - 1}) || named[1].Search != 8 {
			t.Errorf("answer %d: says %v, want %d awaited", i, named, len(asked)-i-1)
		}
	}
	meets(o, depth)
	clear(o.awaited)
	o.effects.Begin()
	o.onContactsWanted(event.ContactsWanted{Search: 9, Ask: 1})
	few := o.contacts.Lacks(ContactsEach, depth)
	if asked, _ := inquiries(o); len(asked) != 1 || !slices.Equal(asked[0].Question.(wire.Inquiry).Lacks, few.Bytes()) {
		t.Errorf("with a contact in every range it asks %v", asked)
	}
}

// TestSearchesShareAnswers: a search waits for the peers asked for it and for those asked for others shortly before. It
// does not wait for peers that were asked long ago.
func TestSearchesShareAnswers(t *testing.T) {
	o := deep(t, wideRanges+1)
	meets(o, wideRanges)
	wants := func(search uint64, ask int) (asked []event.Ask, said event.ContactsNamed) {
		o.effects.Begin()
		o.onContactsWanted(event.ContactsWanted{Search: search, Ask: ask})
		asked, named := inquiries(o)
		return asked, named[0]
	}
	asked, _ := wants(1, 4)
	if _, said := wants(2, 1); said != (event.ContactsNamed{Search: 2, Asked: 1, Awaited: 5}) {
		t.Errorf("a second search, which shares what was asked for the first: %+v", said)
	}
	rest, _ := wants(3, 1000)
	most := 5 + len(rest)
	if _, said := wants(4, 4); said != (event.ContactsNamed{Search: 4, Awaited: most}) {
		t.Errorf("a search with nobody left to ask: %+v, want %d answers shared", said, most)
	}
	o.effects.Begin()
	o.onNoNames(asked[0].To.Peer, false)
	want := []event.ContactsNamed{
		{Search: 1, Awaited: 3}, {Search: 2, Awaited: 4}, {Search: 3, Awaited: most - 1}, {Search: 4, Awaited: most - 1},
	}
	if _, named := inquiries(o); !slices.Equal(named, want) {
		t.Errorf("an answer that all wait for: %+v, want %+v", named, want)
	}
	o.now += promptTime
	o.awaited[asked[0].To.Peer] = inquiry{since: o.now} // a round of gossip asks it
	if _, said := wants(5, 4); said != (event.ContactsNamed{Search: 5}) {
		t.Errorf("a search with nobody left to ask waits for those who are slow: %+v", said)
	}
}

// TestInquiriesAreForgotten: a peer of which the driver says nothing at all is not remembered for ever, and no search
// waits for it.
func TestInquiriesAreForgotten(t *testing.T) {
	o := deep(t, wideRanges+1)
	meets(o, wideRanges)
	o.onContactsWanted(event.ContactsWanted{Search: 1, Ask: 4})
	asked, _ := inquiries(o)
	for now := time.Duration(0); now < inquiryTime; now += time.Second {
		step(t, o, now, event.Tick{})
		for _, a := range asked {
			if !o.awaits(a.To.Peer) {
				t.Fatalf("the answer of %q is given up after %v", a.To.Peer, now)
			}
		}
	}
	said := []event.ContactsNamed(nil)
	for now := inquiryTime; now < inquiryTime+2*time.Second; now += 200 * time.Millisecond {
		step(t, o, now, event.Tick{})
		_, named := inquiries(o)
		said = append(said, named...)
	}
	if len(o.awaited) != 0 {
		t.Errorf("%d inquiries are remembered", len(o.awaited))
	}
	if len(said) != len(asked) || said[len(said)-1] != (event.ContactsNamed{Search: 1}) {
		t.Errorf("says %+v", said)
	}
	for c := range o.contacts.Each() {
		if c.Failed > 0 {
			t.Errorf("%q is blamed", c.Peer)
		}
	}
}

// TestSilentContactIsReplaced: another contact is looked for where the only one did not answer.
func TestSilentContactIsReplaced(t *testing.T) {
	const depth = 3
	o := deep(t, depth)
	meets(o, depth)
	c := o.contacts.All()[0]
	o.ContactAnswered(event.ContactAnswered{Peer: wire.PeerID(c.Peer), Failed: true})
	if got := o.contacts.Lacks(1, depth); got.Len() != 1 || !got.Has(c.Place) {
		t.Errorf("lacking are %v", got)
	}
	o.ContactAnswered(event.ContactAnswered{Peer: wire.PeerID(c.Peer), Depth: depth})
	if got := o.contacts.Lacks(1, depth); got.Len() != 0 {
		t.Errorf("it answers, and lacking are %v", got)
	}
}

// TestWidestAreNamed: who covers far more than an asker is named beside the peers of the ranges that it lacks, whatever
// range that is of. A guess is corrected by what others say, and then stays.
func TestWidestAreNamed(t *testing.T) {
	const depth = wideRanges
	o := deep(t, depth)
	meets(o, depth)
	one := space.NewBitmap(depth, space.Around(o.contacts.All()[0].Place, depth))
	var strong []Contact
	for i := 0; len(strong) < 3; i++ {
		c := Contact{Peer: fmt.Sprint("strong", i), Depth: ContactDepth(len(strong))}
		if c.Place = wire.PeerID(c.Peer).Place(); o.contacts.Add(c) {
			strong = append(strong, c)
		}
	}
	for _, c := range []struct{ depth, want int }{{depth, 2}, {FarWider + 1, 2}, {FarWider, 1}, {FarWider - 1, 0}} {
		q := wire.Inquiry{Depth: c.depth, Lacks: one.Bytes()}
		if c.depth != depth {
			q.Lacks = []byte{0xff, 0xff}[:(1<<c.depth+7)/8]
		}
		named := o.namesOf(q, "asker", 16)
		wide := 0
		for _, n := range named {
			if n.Depth+FarWider <= c.depth {
				wide++
			}
		}
		if wide != c.want || c.want > 0 && string(named[0].Record.Peer) != strong[0].Peer {
			t.Errorf("an asker of depth %d is named %v, want %d wide ones", c.depth, named, c.want)
		}
	}
	guess := Contact{Peer: "guessed", Place: wire.PeerID("guessed").Place(), Depth: depth, Word: ByGuess}
	table := NewContacts(^guess.Place)
	table.SetDepth(depth)
	table.Add(guess)
	for _, said := range []int{0, 3} {
		table.Add(Contact{Peer: guess.Peer, Place: guess.Place, Depth: ContactDepth(said)})
		if got, _ := table.Get(guess.Place, guess.Peer); got.Depth != 0 {
			t.Errorf("after %d was said: %+v", said, got)
		}
	}
}

// TestContactsHaveGroups: a contact is of the group that the configuration names, if it names any.
func TestContactsHaveGroups(t *testing.T) {
	o := deep(t, 1)
	add := func(name string) Group {
		for i := 0; ; i++ {
			p := wire.PeerID(fmt.Sprint(name, i))
			if o.addContact(wire.Record{Peer: p, Envelope: []byte(name)}, 1, ByHearsay) {
				c, _ := o.contacts.Get(p.Place(), string(p))
				return c.Group
			}
		}
	}
	if got := add("without"); got != 0 {
		t.Errorf("without groups it is of group %d", got)
	}
	o.cfg.Group = func(r wire.Record) string { return string(r.Envelope) }
	if got := add("network"); got == 0 || got != GroupOf("network") {
		t.Errorf("it is of group %d, want %d", got, GroupOf("network"))
	}
}

// TestWidestAreNamedOnce: who is named for covering far more than an asker is not named for its own range, too.
func TestWidestAreNamedOnce(t *testing.T) {
	const depth = wideRanges
	o := deep(t, depth)
	peer := wire.PeerID("wide")
	for i := 0; o.Range().Contains(peer.Place()); i++ {
		peer = wire.PeerID(fmt.Sprint("wide", i))
	}
	o.addContact(wire.Record{Peer: peer, Envelope: []byte(peer)}, 0, ByHearsay)
	one := space.NewBitmap(depth, space.Around(peer.Place(), depth))
	q := wire.Inquiry{Depth: depth, Lacks: one.Bytes()}
	if named := o.namesOf(q, "asker", 16); len(named) != 1 || named[0].Record.Peer != peer {
		t.Errorf("names %v", named)
	}
}
