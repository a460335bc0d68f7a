package directory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// TestNamedShareTheirHalf: what a link has named, and nothing has come of, takes no rare half of its own. Whatever is
// noted of one entry does not reach the others.
func TestNamedShareTheirHalf(t *testing.T) {
	d := alone(rand.New(rand.NewPCG(1, 9)), Config{Memory: 1 << 30, MaxOrigins: 100})
	for _, p := range []wire.PeerID{"a", "b"} {
		d.Open(p)
	}
	var of [2][]*Entry
	for i, p := range []wire.PeerID{"a", "b"} {
		for k := range 5 {
			of[i] = append(of[i], d.Add(0, p, uint64(100*i+k+1)))
		}
	}
	check := func() {
		t.Helper()
		for i, p := range []wire.PeerID{"a", "b"} {
			for _, e := range of[i][1:] {
				if e.rare != of[i][1].rare || e.by != p || e.rtt != 0 {
					t.Errorf("entry %d of %s: named by %q, round trip %v", e.Index(), p, e.by, e.rtt)
				}
			}
		}
		if err := d.Check(0); err != nil {
			t.Error(err)
		}
	}
	check()

	first := of[0][0]
	first.change(func(r *rare) { r.rtt = time.Second })
	check()
	if first.by != "a" || first.rtt != time.Second {
		t.Errorf("it was named by %q, and its round trip is %v", first.by, first.rtt)
	}
	d.nameFirst(first, "b")
	if first.by != "b" || first.rtt != time.Second {
		t.Errorf("named by b, it was named by %q, and its round trip is %v", first.by, first.rtt)
	}
	d.nameFirst(first, "a")
	first.change(func(r *rare) { r.rtt = 0 })

	last := of[1][4]
	d.settle(last, Expired)
	of[1] = of[1][:4]
	check()
	if last.rare != nothing {
		t.Errorf("an entry that waits for nothing has %+v", last.rare)
	}

	d.Close("a") // and comes again
	d.Open("a")
	of[0] = of[0][:4]
	check()
	if e := d.Add(0, "a", 7); e.by != "a" || e.rare == of[0][1].rare {
		t.Errorf("named by %q after the link came again", e.by)
	}
}
