package admission

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// asker asks for work at a steady rate.
type asker struct {
	who   Principal
	work  time.Duration
	every time.Duration
	next  time.Duration
	asked int
	had   int
}

// play lets askers ask until an instant, in order of time, and returns the work done after a warm-up.
func play(g *Gate, from, until time.Duration, askers []*asker) (done time.Duration) {
	for {
		var next *asker
		for _, a := range askers {
			if a.next >= from && (next == nil || a.next < next.next) {
				next = a
			}
		}
		if next == nil || next.next >= until {
			return done
		}
		next.asked++
		if g.Admit(next.next, next.who, next.work) {
			next.had++
			done += next.work
		}
		next.next += next.every
	}
}

// TestNobodyIsRefusedWithoutNeed: while all ask for less than there is, whatever the shares, all get it.
func TestNobodyIsRefusedWithoutNeed(t *testing.T) {
	g := New(1, 1)
	big := &asker{who: Principal{Peer: "big", Group: "b"}, work: 5 * ms, every: 6 * ms} // .83 of it
	small := &asker{who: Principal{Peer: "small", Group: "s"}, work: ms, every: 100 * ms}
	play(g, 0, 10*time.Second, []*asker{big, small})
	if big.had != big.asked || small.had != small.asked {
		t.Errorf("had %d of %d and %d of %d", big.had, big.asked, small.had, small.asked)
	}
}

// TestWaitIsEnough: who asks again after the time that Ask returns is seldom refused again. All together have what
// there is.
func TestWaitIsEnough(t *testing.T) {
	g := New(.25, 1)
	type waiter struct {
		who   Principal
		work  time.Duration
		again time.Duration
	}
	var all []*waiter
	for i := range 12 {
		all = append(all, &waiter{who: Principal{Peer: fmt.Sprint(i), Group: fmt.Sprint(i % 5)}, work: ms << (i % 6)})
	}
	asked, had, done := 0, 0, time.Duration(0)
	for now := time.Duration(0); now < time.Minute; now += ms {
		for _, w := range all {
			if now < w.again {
				continue
			}
			asked++
			if wait := g.Ask(now, w.who, w.work); wait > 0 {
				w.again = now + wait
				continue
			}
			had++
			done += w.work
		}
	}
	if asked > 3*had || done < 13*time.Second || done > 17*time.Second {
		t.Errorf("asked %d times and had %d, %v in a minute, of 15 s", asked, had, done)
	}
}

// TestFloods: k identities of k/8 groups ask for a hundred times of what there is. An honest stranger that asks for
// less than an equal share of a group gets at least nine tenths of it, an honest link all, and no more is done than the
// pool has. If all the groups are of one network, the stranger has a fifth of the pool. It has its share of a group,
// too, if half of the groups are parts of its own network.
func TestFloods(t *testing.T) {
	var apart [2]string
	for _, c := range []struct {
		k      int
		within [2]string     // networks of the groups
		work   time.Duration // that the stranger asks for each 100 ms
	}{
		{8, apart, ms / 10},
		{64, apart, ms / 10},
		{512, apart, ms / 10},
		{2000, [2]string{"wide/", "wide/"}, 5 * ms},
		{512, [2]string{"home/", ""}, ms / 10},
	} {
		t.Run(fmt.Sprint(c.k, c.within), func(t *testing.T) {
			k := c.k
			g := New(.5, 1)
			groups := k / 8
			honest := Principal{Peer: "honest", Group: "home/own"}
			stranger := &asker{who: honest, work: c.work, every: 100 * ms, next: time.Second}
			friend := Principal{Peer: "friend", Group: c.within[0] + "g0", Linked: true}
			link := &asker{who: friend, work: ms, every: 10 * ms, next: time.Second}
			askers := []*asker{stranger, link}
			for i := range k {
				askers = append(askers, &asker{
					who:  Principal{Peer: fmt.Sprint("bad ", i), Group: fmt.Sprint(c.within[i%groups%2], "g", i%groups)},
					work: ms / 4, every: time.Duration(k) * ms / 100, next: time.Duration(i) * ms / 100,
				})
			}
			done := play(g, 0, 8*time.Second, askers)
			if stranger.had < stranger.asked*9/10 {
				t.Errorf("the stranger had %d of %d", stranger.had, stranger.asked)
			}
			if link.had != link.asked {
				t.Errorf("the link had %d of %d", link.had, link.asked)
			}
			most := time.Duration(8*float64(time.Second)*.5*1.1) + 300*ms
			if done > most {
				t.Errorf("%v of work done, at most %v", done, most)
			}
		})
	}
}

// TestPeersOfAGroup: within a group, too, who asks for a third of its share gets at least three quarters of that beside
// peers that ask for all. It does not matter when they come, nor for how much anybody asks at a time.
func TestPeersOfAGroup(t *testing.T) {
	const share = .25 / 8
	for _, work := range []time.Duration{ms / 2, 2 * ms, 8 * ms} {
		for _, apart := range []time.Duration{0, 100 * ms, time.Second} {
			g := New(.25, 1)
			every := time.Duration(work.Seconds() / share * 3 * float64(time.Second))
			honest := &asker{who: Principal{Peer: "honest", Group: "campus"}, work: work, every: every, next: 2 * time.Second}
			askers := []*asker{honest}
			for i := range 7 {
				who := Principal{Peer: fmt.Sprint("bad ", i), Group: "campus"}
				askers = append(askers, &asker{who: who, work: ms / 4, every: ms / 4, next: time.Duration(i) * apart})
			}
			play(g, 0, honest.next+30*every, askers)
			if honest.had < honest.asked*3/4 {
				t.Errorf("%v at a time, the others %v apart: had %d of %d", work, apart, honest.had, honest.asked)
			}
		}
	}
}

// TestFreshIdentities: a party that takes a new identity for each question has no more than its group's share.
func TestFreshIdentities(t *testing.T) {
	g := New(.25, 1)
	honest := &asker{who: Principal{Peer: "honest", Group: "own"}, work: 2 * ms, every: 50 * ms, next: time.Second}
	var done time.Duration
	for i := range 20_000 {
		now := time.Duration(i) * ms / 2
		if g.Admit(now, Principal{Peer: fmt.Sprint(i), Group: "g"}, ms) {
			done += ms
		}
		play(g, 0, now, []*asker{honest})
	}
	if honest.had < honest.asked*9/10 {
		t.Errorf("had %d of %d", honest.had, honest.asked)
	}
	if most := 2500*ms + 250*ms; done > most {
		t.Errorf("%v of work done in 10 s, at most %v with the first window", done, most)
	}
}

// TestManyGroups: groups that ask once each, more than are remembered, have what there is together. One that asks
// seldom is not shut out. A newcomer that is refused does not ask again at once.
func TestManyGroups(t *testing.T) {
	for _, groups := range []int{maxUsers + 100, 50_000} {
		g := New(.25, 1)
		modest := &asker{who: Principal{Peer: "modest", Group: "own"}, work: ms / 10, every: time.Second}
		var done time.Duration
		for i := range 200_000 {
			now, who := time.Duration(i)*ms/20, Principal{Peer: "p", Group: fmt.Sprint(i % groups)}
			if wait := g.Ask(now, who, ms/10); wait == 0 {
				done += ms / 10
			} else if wait < ms {
				t.Fatal("it asks again at once")
			}
			play(g, modest.next, now, []*asker{modest})
		}
		if most := 2500*ms + 700*ms; done > most || modest.had == 0 {
			t.Errorf("%d groups: %v of work done in 10 s, at most %v; %d of %d", groups, done, most, modest.had, modest.asked)
		}
	}
}

// TestUnusedIsLent: strangers have what links leave, and a link that comes has its own at once. So a thousand networks
// that ask without end, one identity each time, leave a peer that asks seldom what it needs.
func TestUnusedIsLent(t *testing.T) {
	const all, networks, every, comes = .5, 1000, ms / 2, 15 * time.Second
	g := New(all, 1)
	newcomer := &asker{who: Principal{Group: "own"}, work: ms, every: 5 * time.Second, next: time.Second}
	link := &asker{who: Principal{Peer: "friend", Group: "own", Linked: true}, work: ms, every: 4 * ms, next: comes}
	var done time.Duration
	for i := range int(2 * comes / every) {
		now := time.Duration(i) * every
		if g.Admit(now, Principal{Peer: fmt.Sprint(i), Group: fmt.Sprint(i % networks)}, ms) && now >= comes-8*time.Second && now < comes {
			done += ms
		}
		play(g, 0, now, []*asker{newcomer, link})
	}
	if whole := time.Duration(all * float64(8*time.Second)); done < whole*9/10 || done > whole*11/10 {
		t.Errorf("strangers had %v in 8 s without links, want %v", done, whole)
	}
	if link.had < link.asked*99/100 || newcomer.had < newcomer.asked/2 {
		t.Errorf("a link had %d of %d, a newcomer %d of %d", link.had, link.asked, newcomer.had, newcomer.asked)
	}
}

// TestBurst: parties that begin to ask for all, after a time in which nobody did, have what there is, and a window's
// worth at most before their shares bind. It does not matter whether they ask within an instant.
func TestBurst(t *testing.T) {
	for _, groups := range []int{1, 8, 64} {
		for _, during := range []time.Duration{time.Millisecond, 2 * time.Second} {
			g := New(.25, 1)
			g.Admit(0, Principal{Peer: "other", Group: "own"}, ms)
			var done time.Duration
			const asks = 16_000
			for i := range asks {
				now := 10*time.Second + time.Duration(i)*during/asks
				if g.Admit(now, Principal{Peer: "p", Group: fmt.Sprint(i % groups)}, ms) {
					done += ms
				}
			}
			if most := 270*ms + during/4; done > most {
				t.Errorf("%d groups: %v of work done in %v, at most %v", groups, done, during, most)
			}
		}
	}
}

// TestDearWork: work that is worth more than a share of a window is done, and then paid off, though it follows some
// that is cheap.
func TestDearWork(t *testing.T) {
	g := New(.1, 1)
	who := Principal{Peer: "dear", Group: "d"}
	askers := []*asker{{who: who, work: ms / 10, every: 100 * ms}, {who: who, work: 200 * ms, every: 100 * ms}}
	for i := range 9 {
		askers = append(askers, &asker{who: Principal{Peer: fmt.Sprint(i), Group: fmt.Sprint(i)}, work: ms, every: 5 * ms})
	}
	play(g, 0, 100*time.Second, askers)
	if dear := askers[1]; dear.had < 3 || dear.had > 10 {
		t.Errorf("%d times 200 ms in 100 s, for a share of 10 ms/s", dear.had)
	}
}

// TestCharge: whoever has had work that nobody could know before waits until it is paid off. What is given back may be
// had at once.
func TestCharge(t *testing.T) {
	g := New(.25, 1)
	who := Principal{Peer: "p", Group: "g"}
	g.Charge(0, who, time.Second)
	if g.Admit(time.Second, who, ms) || !g.Admit(time.Second, Principal{Peer: "other", Group: "own"}, ms) {
		t.Error("work that was done is not counted, or for others")
	}
	g.Charge(time.Second, who, -time.Second)
	if !g.Admit(time.Second, who, ms) {
		t.Error("nothing is given back")
	}
}

// TestAfterAFlood: two seconds after a flood all is as before.
func TestAfterAFlood(t *testing.T) {
	g := New(.25, 1)
	flood := &asker{who: Principal{Peer: "bad", Group: "b"}, work: ms, every: ms / 10}
	play(g, 0, 5*time.Second, []*asker{flood, {who: Principal{Peer: "p", Group: "p"}, work: ms, every: 10 * ms}})
	flood.every, flood.next, flood.asked, flood.had = 10*ms, 12*time.Second, 0, 0
	play(g, 12*time.Second, 20*time.Second, []*asker{flood})
	if flood.had != flood.asked {
		t.Errorf("had %d of %d", flood.had, flood.asked)
	}
}

// TestMemory: however many ask, few are remembered.
func TestMemory(t *testing.T) {
	g := New(.25, 1)
	for i := range 20_000 {
		g.Admit(time.Duration(i)*ms/100, Principal{Peer: fmt.Sprint(i), Group: fmt.Sprint(i / 8)}, ms)
		g.Admit(time.Duration(i)*ms/100, Principal{Peer: fmt.Sprint(i), Group: "one"}, ms)
		g.Admit(time.Duration(i)*ms/100, Principal{Peer: fmt.Sprint(i), Group: fmt.Sprint("wide/", i/8)}, ms)
	}
	for _, half := range g.strangers.work {
		if n := half.users.Len(); n > maxUsers {
			t.Errorf("%d networks", n)
		}
		for _, u := range half.users.Values() {
			if n := u.parts.users.Len(); n > maxParts {
				t.Errorf("%d parts of a network", n)
			}
		}
	}
	for i := range 2 { // the first sees that there is time again
		g.Admit(10*time.Second+time.Duration(i)*lookEvery, Principal{Peer: "later"}, ms)
	}
	if n := g.strangers.work[byNetworks].users.Len(); n != 1 {
		t.Errorf("%d networks are remembered after ten quiet seconds", n)
	}
}

// TestLevel holds the level to what it means, for any demands.
func TestLevel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		demands := rapid.SliceOf(rapid.Float64Range(0, 10)).Draw(t, "demands")
		rate := rapid.Float64Range(.01, 20).Draw(t, "rate")
		sum := 0.0
		for _, d := range demands {
			sum += d
		}
		l := level(demands, rate)
		if sum <= rate {
			if l != rate {
				t.Fatalf("level %v, though %v is less than %v", l, sum, rate)
			}
			return
		}
		got := 0.0
		for _, d := range demands {
			got += min(d, l)
		}
		if math.Abs(got-rate) > 1e-9*rate {
			t.Fatalf("level %v gives %v of %v", l, got, rate)
		}
	})
}

// TestSlots: whoever asks, nobody is refused beside a network that has two places more than his, be it wide or a part.
func TestSlots(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		s := NewSlots(32)
		held := map[*Slot]bool{}
		var order []*Slot
		for range 2000 {
			who := Principal{Peer: fmt.Sprint(rng.IntN(20))}
			if group := min(rng.IntN(20), 5); group > 0 { // the last is large
				who.Group = fmt.Sprint(group, "/", rng.IntN(3))
			}
			if rng.IntN(3) == 0 && len(order) > 0 {
				at := rng.IntN(len(order))
				order[at].Release()
				delete(held, order[at])
			}
			var slot *Slot
			if slot = s.Take(who, func() { delete(held, slot) }); slot != nil {
				held[slot] = true
				order = append(order, slot)
			}
			if s.Held() > 32 || s.Held() != len(held) {
				t.Fatalf("%d places held, %d by those who were not told to go", s.Held(), len(held))
			}
			if slot == nil {
				for _, h := range s.held {
					if more := s.of[h.way].Over(by(h.way, h.who), by(h.way, who.Path())); more > 1 {
						t.Fatalf("%v was refused beside %v, which has %d more", who, h.who, more)
					}
				}
			}
		}
	}
}

// TestIdleHolders: 48 identities of 6 groups, or 960 of as many groups of one network, hold all they can. An honest
// stranger still finds a place, again and again.
func TestIdleHolders(t *testing.T) {
	few := func(i int) Principal { return Principal{Peer: fmt.Sprint("bad ", i%48), Group: fmt.Sprint(i % 6)} }
	wide := func(i int) Principal { return Principal{Peer: fmt.Sprint("bad ", i), Group: fmt.Sprint("wide/", i)} }
	for _, bad := range []func(int) Principal{few, wide} {
		s := NewSlots(96)
		for i := range 960 {
			s.Take(bad(i), func() {})
		}
		for range 8 {
			if s.Take(Principal{Peer: "honest", Group: "own"}, func() { t.Error("the honest one gave way") }) == nil {
				t.Fatal("refused")
			}
		}
		for i := range 960 {
			s.Take(bad(i), func() {})
		}
	}
}

// TestLent: however many hold a place each, a newcomer has one at once in each half, from the holder that has not used it
// for longest. Who stays keeps it. A newcomer that has as many as all others has none more.
func TestLent(t *testing.T) {
	s := NewSlots(8)
	var gone []int
	hold := make([]*Slot, 8)
	far := func(i byte) Principal { return Principal{Peer: fmt.Sprint(i), Group: Group([]byte{i, 1, 1, 1})} }
	for i := range hold {
		hold[i] = s.Lend(far(byte(i)), func() bool { return i == 1 }, func() { gone = append(gone, i) })
	}
	hold[0].Use()
	for i := range byte(4) {
		if s.Lend(far(100+i), func() bool { return false }, func() { t.Error("a newcomer gave way") }) == nil {
			t.Errorf("newcomer %d is refused", i)
		}
	}
	hold[2].Use() // has no effect
	for i := range 2 {
		if (s.Lend(far(100), func() bool { return false }, func() {}) != nil) != (i == 0) {
			t.Errorf("place %d of a newcomer: %d gave way", 2+i, gone)
		}
	}
	if want := []int{2, 4, 6, 0, 3}; !slices.Equal(gone, want) || s.Held() != 8 || s.Of("100.1") != 2 || s.Of("2.1") != 0 {
		t.Errorf("%v gave way, want %v; %d held", gone, want, s.Held())
	}
}

// TestWait: places go to those who wait in the order in which they came, but to who has two less than another at once.
// Who does not wait any more gets none.
func TestWait(t *testing.T) {
	s := NewSlots(2)
	var got []string
	wait := func(name, group string) *Slot {
		return s.Wait(Principal{Peer: name, Group: group}, func() { got = append(got, name+" out") }, func() { got = append(got, name) })
	}
	a := wait("a", "g")
	b := wait("b", "g")
	c, d := wait("c", "g"), wait("d", "g")
	wait("own", "o")
	c.Release()
	d.Release()
	wait("e", "g")
	wait("f", "g")
	a.Release() // it had to go
	b.Release()
	if want := []string{"a", "b", "a out", "own", "e"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestYield: a place gives way to whoever has fewer from Yield on. Who waits is served in turns of networks: one of a few
// does not wait for all of the others.
func TestYield(t *testing.T) {
	s := NewSlots(2)
	var held []*Slot
	var got []string
	wait := func(name, group string) {
		var slot *Slot
		slot = s.Wait(Principal{Peer: name, Group: group}, func() {
			got = append(got, name+" out")
			held = slices.DeleteFunc(held, func(h *Slot) bool { return h == slot })
		}, func() { got = append(got, name) })
		held = append(held, slot)
	}
	wait("a", "g")
	wait("b", "h")
	for _, name := range []string{"c", "d", "e"} {
		wait(name, "g")
	}
	wait("own", "o")
	for range 3 {
		held[0].Yield()
	}
	if want := []string{"a", "b", "a out", "own", "b out", "c", "c out", "d"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
