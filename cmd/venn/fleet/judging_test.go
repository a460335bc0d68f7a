package fleet

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const second = time.Second

// together is a history of some peers that have run and reached each other since 0 s.
func together(peers int) *History {
	h := NewHistory(peers)
	for a := range peers {
		for b := range a {
			h.Write(Fact{What: Reaches, A: a, B: b}, true, 0, 0)
		}
	}
	return h
}

func holds(p int) Fact { return Fact{What: Holds, A: p, Key: "k"} }

// Peer 1 takes the key in from 10 to 11 s and drops it from 30 to 31 s. Peer 2 holds it from 1 s on, and cannot be
// reached from 20 to 25 s. Peer 0, which asks, is linked with peer 1 from 28 s on; that one said so before. Nobody knows what came of peer 3's
// change at 40 s until 60 s.
func TestHistory(t *testing.T) {
	h := together(4)
	h.Write(holds(2), true, 1*second, 1*second)
	h.Write(holds(1), true, 10*second, 11*second)
	h.Write(holds(1), true, 13*second, 14*second) // which changes nothing
	h.Write(Fact{What: Reaches, A: 2, B: 0}, false, 20*second, 20*second)
	h.Write(Fact{What: Reaches, A: 0, B: 2}, true, 25*second, 25*second)
	h.Write(Fact{What: Links, A: 1, B: 0}, true, 12*second, 12*second)
	h.Write(Fact{What: Links, A: 0, B: 1}, true, 28*second, 28*second)
	h.Write(holds(1), false, 30*second, 31*second)
	h.Write(holds(3), true, 40*second, Never)
	h.Write(holds(3), false, 55*second, 60*second)
	for _, c := range []struct {
		name     string
		from, to time.Duration
		all      bool
		named    []int
		want     string // who is named or missed, for how long, and how much of that linked
	}{
		{"nobody is missed before it holds the key", 0, 0, true, nil, ""},
		{"missed", 5 * second, 6 * second, true, nil, "missed 2 4s 0s"},
		{"an add under way", 10*second + 500e6, 12 * second, true, []int{2}, ""},
		{"an add that begins meanwhile", 9 * second, 10 * second, true, []int{1, 2}, ""},
		{"named before", 9 * second, 9 * second, true, []int{1, 2}, "named 1 9s 0s"},
		{"a second add counts from the first", 16 * second, 16 * second, true, []int{2}, "missed 1 5s 0s"},
		{"one is enough", 16 * second, 16 * second, false, []int{2}, ""},
		{"the asker is one", 16 * second, 16 * second, false, []int{0}, ""},
		{"none is not", 16 * second, 16 * second, false, nil, "missed 1 5s 0s, missed 2 15s 0s"},
		{"out of reach and not missed", 22 * second, 22 * second, true, []int{1}, ""},
		{"out of reach and named", 22 * second, 22 * second, true, []int{1, 2}, "named 2 2s 0s"},
		{"it breaks meanwhile", 19 * second, 21 * second, true, []int{1}, ""},
		{"in reach again", 26 * second, 26 * second, true, []int{1}, "missed 2 1s 0s"},
		{"linked", 29 * second, 29 * second, true, []int{2}, "missed 1 18s 1s"},
		{"removed", 33 * second, 33 * second, true, []int{1, 2}, "named 1 2s 2s"},
		{"who knows", 50 * second, 50 * second, true, []int{2}, ""},
		{"who knows, named", 50 * second, 50 * second, true, []int{2, 3}, ""},
		{"not any more", 62 * second, 62 * second, true, []int{2, 3}, "named 3 2s 0s"},
		{"a name that is none", 62 * second, 62 * second, true, []int{2}, ""},
	} {
		var got []string
		for _, l := range h.Judge(Find{Asker: 0, Key: "k", All: c.all, Named: c.named, From: c.from, To: c.to}) {
			what, by := "missed", l.By.String()
			if l.Named {
				what = "named"
			}
			if l.By > time.Hour {
				by = "never"
			}
			got = append(got, strings.Join([]string{what, string(rune('0' + l.Peer)), by, l.Linked.String()}, " "))
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A change that is seen has happened since the look before.
func TestSaw(t *testing.T) {
	h, f := NewHistory(2), Fact{What: Links, A: 1, B: 0}
	h.Saw(f, false, 1*second, 2*second)
	h.Saw(f, true, 5*second, 6*second)
	h.Saw(f, true, 8*second, 9*second)
	h.Write(f, false, 10*second, 10*second)
	h.Saw(f, true, 20*second, 21*second)
	for _, c := range []struct {
		at, since   time.Duration
		value, sure bool
	}{
		{500e6, -1 << 62, false, true},
		{3 * second, 0, false, false},
		{7 * second, 6 * second, true, true},
		{10 * second, 0, false, false},
		{15 * second, 0, false, false},
		{22 * second, 21 * second, true, true},
	} {
		if value, since, sure := h.state(f, c.at, c.at); value != c.value || since != c.since || sure != c.sure {
			t.Errorf("at %v: %v since %v, %v; want %+v", c.at, value, since, sure, c)
		}
	}
}

// A verdict counts what is later than either bound, and recall of what is older than the longer one.
func TestVerdict(t *testing.T) {
	h := together(3)
	for p := 1; p < 3; p++ {
		h.Write(holds(p), true, 10*second, 10*second)
	}
	h.Write(Fact{What: Links, A: 0, B: 1}, true, 0, 0)
	h.Write(Fact{What: Links, A: 1, B: 0}, true, 0, 0)
	find := func(at time.Duration, all bool, named ...int) Find {
		return Find{Asker: 0, Key: "k", All: all, Named: named, From: at, To: at}
	}
	v := h.Verdict(Bounds{Linked: 2 * second, All: 10 * second}, []Find{
		find(11*second, true), // both are missed, within the bounds
		find(15*second, true), // 1 is missed, too late
		find(25*second, true, 1),
		find(25*second, false, 2),
		find(30*second, false),
	})
	if v.One != 2 || v.OneFound != 1 || v.Wanted != 2 || v.AllFound != 1 {
		t.Errorf("%d of %d and %d of %d found, want 1 of 2 each", v.OneFound, v.One, v.AllFound, v.Wanted)
	}
	var peers []int
	for _, l := range v.Violations {
		peers = append(peers, l.Peer)
	}
	if !slices.Equal(peers, []int{1, 2, 2, 1}) || v.MissedBy != (Bounds{20 * second, 20 * second}) || v.NamedBy != (Bounds{}) {
		t.Errorf("%v, latest %v and %v", v, v.MissedBy, v.NamedBy)
	}
}
