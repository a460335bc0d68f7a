package tails

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// The slow twin of origins is a map.
func TestOrigins(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	near := func() uint64 { return rng.Uint64N(300) - 150 } // the first and the last tags
	same := func(a, b origin) bool { return reflect.DeepEqual(a, b) }
	var fast origins
	slow := map[uint64]origin{}
	for i := range 5000 {
		tag := near()
		if _, known := slow[tag]; !known {
			o := origin{tag: tag, epoch: summary.Epoch{Sequence: uint32(i)}}
			slow[tag] = o
			if got := fast.add(o); !reflect.DeepEqual(*got, o) || got != fast.at(tag) {
				t.Fatalf("added %+v, and %+v is there", o, got)
			}
		} else if i%3 > 0 {
			fast.remove(tag)
			delete(slow, tag)
		}
		tag = near()
		if want, known := slow[tag]; (fast.at(tag) != nil) != known || known && !reflect.DeepEqual(*fast.at(tag), want) {
			t.Fatalf("tag %x: %+v, want %+v", tag, fast.at(tag), want)
		}
		first, last := near(), near()
		var all, between origins
		for _, tag := range slices.Sorted(maps.Keys(slow)) {
			all = append(all, slow[tag])
			if first <= tag && tag <= last {
				between = append(between, slow[tag])
			}
		}
		if !slices.EqualFunc(fast, all, same) || !slices.EqualFunc(fast.between(first, last), between, same) {
			t.Fatalf("from %x to %x: %+v of %+v, want %+v of %+v", first, last, fast.between(first, last), fast, between, all)
		}
	}
}

// TestTailsASecond: of one origin ten tails a second are taken in, and sixty after a pause.
func TestTailsASecond(t *testing.T) {
	o := origin{}
	taken := func(at time.Duration, tries int) (n int) {
		for range tries {
			if o.allow(at) {
				n++
			}
		}
		return n
	}
	if n := taken(0, 100); n != tailBurst {
		t.Errorf("%d at once", n)
	}
	if n := taken(time.Second, 100); n != 10 {
		t.Errorf("%d after a second", n)
	}
	if n := taken(time.Minute, 100); n != tailBurst {
		t.Errorf("%d after a minute", n)
	}
}

// TestNoCircle: a link that we feed the tails of an origin does not feed them to us, however good it is.
func TestNoCircle(t *testing.T) {
	o := &origin{tag: 7}
	m := &Machine{cfg: Config{Rate: func(p wire.PeerID) (out, in float64) { return 1, float64(len(p)) }}}
	for _, p := range []wire.PeerID{"a", "fed by us"} {
		m.links = append(m.links, &link{peer: p, known: map[uint64]position{7: {number: 3, wants: p != "a"}}})
	}
	if p, ok := m.feederFor(o); !ok || p != "a" {
		t.Errorf("fed by %q (%v)", p, ok)
	}
}
