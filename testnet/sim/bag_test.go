package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// events are a bag's.
func (b *bag) events() (out []event) {
	for p := b.first; p != nil; p = p.next {
		out = append(out, p.held()...)
	}
	return out
}

// Bags that share pages hold what plain lists hold, however they are filled and emptied.
func TestBags(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var from pages
	var bags [6]bag
	var plain [len(bags)][]event
	for step := range 20_000 {
		i := rng.IntN(len(bags))
		if rng.IntN(100) == 0 {
			bags[i].empty(&from)
			plain[i] = nil
		} else {
			e := event{to: strategy.ID(step), msg: strategy.Message{Body: step}}
			bags[i].add(&e, &from)
			plain[i] = append(plain[i], e)
		}
		got := bags[i].events()
		if len(got) != len(plain[i]) {
			t.Fatalf("step %d: %d events, want %d", step, len(got), len(plain[i]))
		}
		for k := range got {
			if got[k] != plain[i][k] {
				t.Fatalf("step %d: event %d is %+v, want %+v", step, k, got[k], plain[i][k])
			}
		}
	}
}

// What a busy instant took is given back, and the pages that wait to be used again keep nothing alive.
func TestPagesAfterABusyInstant(t *testing.T) {
	var from pages
	var few, many bag
	few.add(&event{}, &from)
	for range 1000 * pageEvents {
		many.add(&event{msg: strategy.Message{Body: "kept"}}, &from)
	}
	many.empty(&from)
	waiting := 0
	for p := from.free; p != nil; p = p.next {
		waiting++
		if p.events != [pageEvents]event{} || p.filled != 0 {
			t.Fatalf("a page that waits holds %+v", p.events)
		}
	}
	if waiting != from.waiting || waiting == 0 || waiting > 1000/2+fewPages || from.used != 1 {
		t.Errorf("%d pages wait, counted %d, and %d are used", waiting, from.waiting, from.used)
	}
	if left := few.events(); len(left) != 1 {
		t.Errorf("the other bag has %d events", len(left))
	}
}

// Where events come and go, no page is made anew.
func TestPagesAreUsedAgain(t *testing.T) {
	var from pages
	var b bag
	round := func() {
		for range fewPages * pageEvents {
			b.add(&event{}, &from)
		}
		b.empty(&from)
	}
	round()
	if made := testing.AllocsPerRun(10, round); made > 0 {
		t.Errorf("%v pages are made", made)
	}
}

// Connections without a link are kept by peer: the one that is released goes, and no other.
func TestReleased(t *testing.T) {
	for gone := range strategy.ID(3) {
		n := &node{recent: []connection{{peer: 0}, {peer: 1}, {peer: 2}}}
		n.release(n.passing(gone))
		for p := range strategy.ID(3) {
			if (n.passing(p) == nil) != (p == gone) {
				t.Errorf("%d was released: %+v are left", gone, n.recent)
			}
		}
	}
}
