package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func at(second int) time.Duration { return time.Duration(second) * time.Second }

// made adds a connection that the node made, and returns whose place it took.
func made(t *testing.T, table *Links[string], p string, now time.Duration) string {
	t.Helper()
	return dialed(t, table, p, now).Peer
}

// dialed dials with success, and returns whose place the connection took.
func dialed(t *testing.T, table *Links[string], p string, now time.Duration) Evicted[string] {
	t.Helper()
	if !table.Dial(p, true, now) {
		t.Fatalf("no room for %s", p)
	}
	return table.Dialed(p, true, now)
}

func TestConnectionsOfLeastWorthGoFirst(t *testing.T) {
	c := NewLinks[string](6)
	for i, p := range []string{"neighbour", "mesh", "link", "old", "new", "busy"} {
		if got := made(t, c, p, at(i)); got != "" {
			t.Fatalf("%s evicts %s", p, got)
		}
	}
	for _, p := range []string{"neighbour", "mesh", "link"} {
		c.Link(p, "", true, at(9))
	}
	c.Need("neighbour", true)
	c.Meshed("mesh", true)
	done := c.Use("busy", false)
	for _, want := range []string{"old", "new", "link", "mesh"} {
		if got := made(t, c, "x"+want, at(100)); got != want {
			t.Fatalf("evicted %q, want %q", got, want)
		}
		c.Use("x"+want, false)
	}
	if c.Dial("last", true, at(100)) {
		t.Error("room for one more: all others are in use")
	}
	done(at(100))
	if got := made(t, c, "last", at(100)); got != "busy" {
		t.Errorf("evicted %q, want the one no longer in use", got)
	}
	if got := c.Stale(at(100) + questionLife); len(got) != 0 {
		t.Errorf("stale %v", got)
	}
	if got := c.Stale(at(101) + questionLife); !slices.Equal(got, []string{"last"}) {
		t.Errorf("stale %v", got)
	}
	if !c.Dial("upkeep", false, at(200)) {
		t.Fatal("no room")
	}
	c.Dialed("upkeep", true, at(200))
	if got := c.Stale(at(230)); slices.Contains(got, "upkeep") {
		t.Error("a connection for upkeep is stale after 30 s")
	}
	if got := c.Stale(at(231)); !slices.Contains(got, "upkeep") {
		t.Errorf("after 31 s, stale is %v", got)
	}
}

// TestTakenLinksLeaveRoom: peers that link in any number leave the node room to dial, and evict nobody who is needed.
func TestTakenLinksLeaveRoom(t *testing.T) {
	c := NewLinks[string](32)
	taken := 0
	for i := range 100 {
		if _, ok := c.Link(fmt.Sprint("stranger ", i), "", false, at(0)); ok {
			taken++
		}
		c.Use(fmt.Sprint("stranger ", i), true)
	}
	if taken != 16 {
		t.Errorf("%d links taken, want 16", taken)
	}
	for i := range 16 {
		if got := made(t, c, fmt.Sprint("own ", i), at(100)); got != "" {
			t.Errorf("own dial %d evicts %q", i, got)
		}
	}
	if m, l := c.Counts(); m != 16 || l != 16 || c.Peak() != 32 {
		t.Errorf("%d made, %d taken, at most %d", m, l, c.Peak())
	}
	for i := range 100 {
		c.Unlink(fmt.Sprint("stranger ", i))
	}
	if m, l := c.Counts(); m != 16 || l != 0 || c.Peak() != 32 {
		t.Errorf("%d made, %d taken, at most %d before", m, l, c.Peak())
	}
}

// TestLimit: whoever made a connection and whoever wanted its link, all stand within the limit, and half of it is for own
// ones. Who gave way has no link.
func TestLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(4, 12).Draw(t, "most")
		c, now, dials := NewLinks[string](most), time.Duration(0), map[string]int{}
		check := func(evict Evicted[string]) {
			if own, taken := c.Counts(); own+taken > most || taken > most/2 || c.Peak() > most {
				t.Fatalf("%d own and %d taken, %d at most, of %d", own, taken, c.Peak(), most)
			}
			if evict.Peer != "" && c.peers[evict.Peer] != nil {
				t.Fatalf("%v gave way, and is there", evict)
			}
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond
			p := fmt.Sprint(rapid.IntRange(0, 30).Draw(t, "peer"))
			yes := rapid.Bool().Draw(t, "yes")
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 0, 1:
				evict, ok := c.Link(p, rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "group"), yes, now)
				if ok != c.Linked(p) {
					t.Fatalf("room for %s: %t, linked: %t", p, ok, !ok)
				}
				check(evict)
			case 2:
				if c.Dial(p, true, now) {
					dials[p]++
				}
			case 3:
				if dials[p] > 0 {
					dials[p]--
					check(c.Dialed(p, yes, now))
				}
			case 4:
				if c.Unlink(p); yes {
					c.Closed(p)
				}
			case 5:
				c.Need(p, yes)
			case 6:
				c.Meshed(p, yes)
			case 7:
				if done := c.Use(p, false); yes {
					done(now)
				}
			}
		}
	})
}

// TestWantedLinks: links that the node wants on connections that others made take the places of its own connections. They
// are refused only where nothing may give way.
func TestWantedLinks(t *testing.T) {
	c := NewLinks[string](Connections)
	for i := range 2 * Connections {
		if _, ok := c.Link(fmt.Sprint("wanted ", i), "", true, at(i)); !ok {
			t.Fatalf("no room for link %d", i)
		}
	}
	if own, taken := c.Counts(); own != Connections || taken != 0 {
		t.Errorf("%d own, %d taken", own, taken)
	}
	for i := range Connections {
		evict, ok := c.Link(fmt.Sprint("newcomer ", i), "", false, at(100))
		if want := i < Connections/2; ok != want || want && !strings.HasPrefix(evict.Peer, "wanted") || evict.Made {
			t.Fatalf("newcomer %d: %+v, %v", i, evict, ok)
		}
	}
	for p := range c.peers {
		c.Need(p, true)
	}
	if _, ok := c.Link("one more", "", true, at(101)); ok {
		t.Error("a link has room beside neighbours")
	}
}

// TestDialInVain: a link that begins while its peer is dialled counts as taken once the dial has failed, unless it was
// wanted. A link that began as taken is own once it is wanted.
func TestDialInVain(t *testing.T) {
	c := NewLinks[string](8) // of four links taken
	for _, p := range []string{"a", "b", "c", "d"} {
		c.Link(p, "", false, at(0))
		c.Need(p, true)
	}
	for _, p := range []string{"x", "y"} {
		if !c.Dial(p, false, at(1)) {
			t.Fatal("no room for a dial")
		}
		c.Link(p, "", p == "y", at(1))
	}
	if evict := c.Dialed("y", false, at(9)); evict.Peer != "" {
		t.Errorf("a wanted link gives way: %+v", evict)
	}
	if evict := c.Dialed("x", false, at(9)); evict.Peer != "d" || evict.Made {
		t.Errorf("beside four links taken, of which three are kept, %+v gives way", evict)
	}
	c.Link("a", "", true, at(9))
	if own, taken := c.Counts(); own != 2 || taken != 3 {
		t.Errorf("%d own, %d taken", own, taken)
	}
}

// TestNewcomers: a newcomer takes the place of a link that has lasted for two seconds, one without streams first. The
// links of neighbours and of the mesh stay.
func TestNewcomers(t *testing.T) {
	c := NewLinks[string](16) // of eight links taken, six of them kept
	for i, p := range []string{"neighbour", "mesh", "idle", "busy", "n", "m", "o", "recent"} {
		if _, ok := c.Link(p, "", false, at(i)); !ok {
			t.Fatal(p)
		}
	}
	for _, p := range []string{"neighbour", "n", "m", "o"} {
		c.Need(p, true)
	}
	c.Meshed("mesh", true)
	c.Use("busy", true)
	if got, ok := c.Link("early", "", false, at(3)); ok {
		t.Errorf("in place of %q, which has just come", got.Peer)
	}
	now := at(7)
	for _, want := range []string{"idle", "busy", ""} {
		if got, ok := c.Link("instead of "+want, "", false, now); got.Peer != want || ok != (want != "") {
			t.Errorf("in place of %q, %v; want %q", got.Peer, ok, want)
		}
	}
	if _, ok := c.Link("wanted", "", true, now); !ok {
		t.Error("no room for a link that the node asked for")
	}
}

// TestAlwaysRoomForNewcomers: whatever links taken are used for, a newcomer finds room every two seconds. Of those that
// are neighbours or in the mesh most stay for ever, neighbours rather than the mesh.
func TestAlwaysRoomForNewcomers(t *testing.T) {
	for _, most := range []int{4, 13, 32, 96} {
		c, now := NewLinks[string](most), at(0)
		var linked []string
		for i := range most {
			p := fmt.Sprint("first ", i)
			if _, ok := c.Link(p, "", false, now); !ok {
				break
			}
			c.Need(p, i%2 == 0)
			c.Meshed(p, true)
			c.Use(p, true)
			linked = append(linked, p)
		}
		for i := range 3 * most {
			now += 2 * time.Second
			p := fmt.Sprint("newcomer ", i)
			if _, ok := c.Link(p, "", false, now); !ok {
				t.Fatalf("of %d: no room for newcomer %d", most, i)
			}
			c.Need(p, true)
			c.Meshed(p, true)
			c.Use(p, true)
		}
		left := 0
		for i, p := range linked {
			if c.Linked(p) {
				left++
			} else if i%2 == 0 && i < c.kept {
				t.Errorf("of %d: neighbour %d gave way", most, i)
			}
		}
		if left < (c.kept+1)/2 || len(linked)-left < 1 {
			t.Errorf("of %d: %d of %d links are left, %d may be kept", most, left, len(linked), c.kept)
		}
		if _, taken := c.Counts(); taken > most/2 {
			t.Errorf("of %d: %d taken", most, taken)
		}
	}
}

// TestIdleLinksGiveWay: a dial takes the place of a link that nobody uses, and closes nothing then, where no connection
// that the node made may go.
func TestIdleLinksGiveWay(t *testing.T) {
	c := NewLinks[string](8)
	c.Link("taken", "", false, at(0))
	for i := range 7 {
		made(t, c, fmt.Sprint(i), at(0))
	}
	if evict := dialed(t, c, "x", at(10)); !evict.Made {
		t.Errorf("evicted %+v", evict)
	}
	for i := range 7 {
		c.Use(fmt.Sprint(i), false)
	}
	c.Use("x", false)
	if evict := dialed(t, c, "y", at(10)); evict != (Evicted[string]{Peer: "taken"}) {
		t.Errorf("evicted %+v", evict)
	}
}

// TestFailedDialsEvictNobody: dials to peers that do not exist close nothing, and one that succeeds has its place.
func TestFailedDialsEvictNobody(t *testing.T) {
	c := NewLinks[string](4)
	for i, p := range []string{"a", "b", "c", "d"} {
		made(t, c, p, at(i))
	}
	for i := range 100 {
		ghost := fmt.Sprint("ghost ", i)
		for range 2 {
			if !c.Dial(ghost, true, at(100)) {
				t.Fatal("no room")
			}
		}
		for range 2 {
			if evict := c.Dialed(ghost, false, at(100)); evict.Peer != "" {
				t.Fatalf("%s gave way to nobody", evict.Peer)
			}
		}
	}
	if made, _ := c.Counts(); made != 4 {
		t.Errorf("%d of 4 connections are left", made)
	}
	for _, p := range []string{"x", "x", "y"} {
		if !c.Dial(p, true, at(100)) {
			t.Fatal("no room")
		}
	}
	first, again, other := c.Dialed("x", true, at(100)), c.Dialed("x", true, at(100)), c.Dialed("y", true, at(100))
	if first.Peer != "a" || again.Peer != "" || other.Peer != "b" {
		t.Errorf("evicted %q, %q and %q; want a, nobody and b", first.Peer, again.Peer, other.Peer)
	}
}

// TestUsedWhileDialing: what came into use while a dial was under way does not give way to it, as long as something
// else may. Else the one unused for longest does.
func TestUsedWhileDialing(t *testing.T) {
	c := NewLinks[string](3)
	for i, p := range []string{"a", "b", "c"} {
		made(t, c, p, at(i))
	}
	for _, want := range []string{"b", "a"} { // "a": in use too, but the limit stays
		p := "for " + want
		if !c.Dial(p, true, at(100)) {
			t.Fatal("no room")
		}
		c.Use("a", false)
		if want == "a" {
			c.Use("c", false)
		}
		if got := c.Dialed(p, true, at(100)); got.Peer != want {
			t.Errorf("%q gave way, want %q", got.Peer, want)
		}
		c.Use(p, false)
	}
	if made, _ := c.Counts(); made != 3 {
		t.Errorf("%d of 3 connections", made)
	}
}

// TestDialsBesideTakenLinks: beside neighbours and links taken, the one idle connection gives way to a dial. If it came
// into use meanwhile, it does before a neighbour that was silent for longer.
func TestDialsBesideTakenLinks(t *testing.T) {
	for _, used := range []bool{false, true} {
		c := NewLinks[string](8)
		for i := range 6 {
			p := fmt.Sprint("made ", i)
			made(t, c, p, at(i))
			c.Need(p, i < 5)
		}
		for i := range 2 {
			c.Link(fmt.Sprint("taken ", i), "", false, at(99))
		}
		if !c.Dial("x", true, at(100)) {
			t.Fatal("no room")
		}
		if used {
			c.Use("made 5", false)
		}
		if got := c.Dialed("x", true, at(100)); got.Peer != "made 5" {
			t.Errorf("%v gave way, in use: %v", got, used)
		}
	}
}

func TestQuestionsOnly(t *testing.T) {
	c := NewLinks[string](8)
	made(t, c, "a", at(0))
	if !c.QuestionsOnly("a") || c.Linked("a") || !c.Made("a") {
		t.Error("a connection that was dialled to confirm is not known as one")
	}
	if _, ok := c.Link("a", "", false, at(0)); !ok || c.QuestionsOnly("a") || !c.Linked("a") {
		t.Error("making a link of it")
	}
	c.Unlink("a")
	if c.Linked("a") || !c.Made("a") {
		t.Error("an ended link takes its connection along")
	}
	c.Link("b", "", false, at(0))
	c.Unlink("b")
	if made, taken := c.Counts(); made != 1 || taken != 0 {
		t.Errorf("%d made, %d taken", made, taken)
	}
}

// A connection just made is left to the use that it was made for, but not for long.
func TestFreshConnectionsStay(t *testing.T) {
	c, now := NewLinks[string](4), at(0)
	for _, p := range []string{"a", "b", "c", "d"} {
		made(t, c, p, now)
	}
	if c.Dial("e", true, now+freshLife-1) {
		t.Error("a fresh connection makes room")
	}
	c.Use("b", false)(now)
	if evict := dialed(t, c, "e", now+freshLife-1); evict.Peer != "b" || !evict.Made {
		t.Errorf("evicted %q; want the one that has been used", evict.Peer)
	}
	if evict := dialed(t, c, "f", now+freshLife); evict.Peer != "a" {
		t.Errorf("evicted %q; want one that nobody came to use", evict.Peer)
	}
}

// TestYieldsByGroup: where one address group has all places, all those of neighbours, another gets up to half of them.
func TestYieldsByGroup(t *testing.T) {
	c := NewLinks[string](Connections)
	for i := range Connections / 2 {
		p := fmt.Sprint("many ", i)
		c.Link(p, "many", false, 0)
		c.Need(p, true)
	}
	for i := range Connections / 4 {
		p := fmt.Sprint("few ", i)
		evict, ok := c.Link(p, "few", false, time.Hour)
		if !ok || !strings.HasPrefix(evict.Peer, "many") {
			t.Fatalf("with %d of %d places, the few get the place of %q", i, Connections/2, evict.Peer)
		}
		c.Need(p, true)
	}
}
