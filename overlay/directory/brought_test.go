package directory

import (
	"math/rand/v2"
	"testing"
)

// TestBrought: a link has named MaxPendingLink pending entries first and no more. What it named before it closed and
// opened again does not count, and makes no room when it goes.
func TestBrought(t *testing.T) {
	const old = 10
	d := alone(rand.New(rand.NewPCG(1, 10)), Config{Memory: 1 << 30, MaxOrigins: 2 * MaxPendingLink})
	tag := uint64(0)
	full := func() bool {
		tag++
		return d.Add(0, "a", tag) == nil
	}
	check := func() {
		t.Helper()
		if err := d.Check(0); err != nil {
			t.Fatal(err)
		}
	}
	d.Open("a", "")
	for range old {
		full()
	}
	d.Close("a")
	d.Open("a", "")
	check()
	for range MaxPendingLink {
		if full() {
			t.Fatalf("no room for number %d", tag)
		}
	}
	check()
	if !full() {
		t.Error("it names one more than may be")
	}
	for i := range old {
		d.Remove(d.owns + i)
	}
	check()
	if !full() {
		t.Error("what it named before it opened again made room")
	}
	for tag := uint64(old + 1); tag <= 2*old; tag++ {
		d.Remove(d.Tagged(tag).Index())
	}
	check()
	for range old {
		if full() {
			t.Error("no room where entries have gone")
		}
	}
	if !full() {
		t.Error("it names one more than have gone")
	}

	if d.Invite(0, "b", 1<<40) == nil {
		t.Fatal("not invited")
	}
	d.Open("b", "") // only now
	check()
	d.Remove(d.Tagged(1 << 40).Index())
	check()
	d.Link("b").brought++
	if d.Check(0) == nil {
		t.Error("the check does not notice a wrong count")
	}
}
