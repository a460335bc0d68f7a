package fleet

import (
	"context"
	"syscall"
	"testing"
	"time"
)

// bounds are how long an answer may be behind what has happened.
var bounds = Bounds{Linked: 2 * time.Second, All: 10 * time.Second}

// TestMixed runs ten daemons of VENN_OLD beside ten of VENN_NEW, ends and starts the old ones as new ones one by one, all
// as old ones, and all as new ones again. Finds go on throughout.
func TestMixed(t *testing.T) {
	before, now := binary(t, "VENN_OLD"), binary(t, "VENN_NEW")
	f := newFleet(t, before, func(int) ([]string, string) { return nil, "127.0.0.1" })
	defer f.endAll()
	for i, p := range f.peers {
		p.start([]string{before, now}[i%2])
	}
	f.fill()
	f.meet()
	ctx, cancel := context.WithCancel(t.Context())
	wait := f.use(ctx)
	change := func(to string, which func(i int) bool) {
		for i, p := range f.peers {
			if which(i) {
				p.blames()
				p.end(syscall.SIGTERM)
				p.start(to)
				time.Sleep(time.Second)
			}
		}
		time.Sleep(15 * time.Second)
	}
	time.Sleep(15 * time.Second)
	change(now, func(i int) bool { return i%2 == 0 })
	change(before, func(int) bool { return true })
	change(now, func(int) bool { return true })
	cancel()
	wait()
	for _, p := range f.peers {
		p.blames()
	}
	v := f.verdict(bounds)
	if v.One == 0 || v.FindOne() < .999 || v.Wanted == 0 || v.FindAll() < .99 {
		t.Errorf("find-one %.4f, want .999; find-all %.4f, want .99", v.FindOne(), v.FindAll())
	}
	if len(v.Violations) > 0 {
		t.Errorf("%d answers are later than %v of linked peers or %v of all", len(v.Violations), bounds.Linked, bounds.All)
	}
}

// endAll ends all daemons that run.
func (f *fleet) endAll() {
	for _, p := range f.peers {
		p.end(syscall.SIGKILL)
	}
}
