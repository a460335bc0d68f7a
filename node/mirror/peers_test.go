package mirror

import (
	"context"
	"crypto/sha256"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	manet "github.com/multiformats/go-multiaddr/net"
)

func TestNearHoldersComeFirst(t *testing.T) {
	h := func(name string, ms int, s state) *source {
		return &source{ID: peer.ID(name), state: s, trip: time.Duration(ms) * time.Millisecond}
	}
	all := []*source{
		h("far", 90, state{Place: "b/1"}), h("busy", 1, state{Busy: true, Place: "a/1"}), h("zone", 1, state{Place: "a/2"}),
		h("rack", 1, state{Have: 5, Place: "a/1"}), h("less", 1, state{Place: "a/1"}), h("elsewhere", 1, state{}),
	}
	var got []string
	ordered("a/1", all)
	for _, h := range all {
		got = append(got, string(h.ID))
	}
	if want := "rack less zone elsewhere far busy"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestRanksHaveNoCircles lets mirrors take from each other at random, as their ranks allow, lose their sources and ask the
// origin, and looks for some that wait for each other.
func TestRanksHaveNoCircles(t *testing.T) {
	const n = 30
	states, from := make([]state, n), make([]int, n)
	for i := range states {
		states[i].lot, from[i] = lotOf(peer.ID([]byte{byte(i)}), meeting), -1
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 200_000 {
		i, j := r.IntN(n), r.IntN(n)
		switch {
		case from[i] >= 0 && r.IntN(3) > 0:
			states[i].Have += (states[from[i]].Have - states[i].Have + 1) / 2
		case r.IntN(3) == 0:
			from[i] = -1 // its source has gone
		case from[i] < 0 && r.IntN(n) == 0:
			states[i].Origin = true
			states[i].Have += r.Int64N(3)
		case from[i] < 0 && states[j].below(states[i], from[j] >= 0):
			from[i] = j
		}
		for i := range from {
			steps := 0
			for at := i; at >= 0; at = from[at] {
				if steps++; steps > n {
					t.Fatalf("a circle at %d", i)
				}
			}
		}
	}
}

// TestCommonPlaces: a mirror without a label is near nobody by its label.
func TestCommonPlaces(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "a", 0}, {"a/b", "a/c", 1}, {"a/b", "a/b", 2}, {"a", "b/a", 0}} {
		if got := common(c.a, c.b); got != c.want {
			t.Errorf("%q and %q have %d parts in common, want %d", c.a, c.b, got, c.want)
		}
	}
}

// unaware is a network whose word of what others fetch comes too late.
type unaware struct{ view }

func (unaware) Lookup(context.Context, []byte) iter.Seq[peer.AddrInfo] {
	return func(func(peer.AddrInfo) bool) {}
}

// TestBegunAtOnce has three of five mirrors, linked to each other, begin to fetch the same at once. The router names none of them:
// they learn it of the mirrors that are drawn.
func TestBegunAtOnce(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	var all []peerOf
	for range 5 {
		p := b.start(t, Upstream{OCI: []string{o.URL}}, func(c *Config) { c.Router = unaware{view{b, c.Host}} })
		for _, other := range all {
			p.connect(t, other.cfg.Host)
		}
		all = append(all, p)
	}
	acquainted(t, all)
	o.before = func(http.ResponseWriter, *http.Request) bool { time.Sleep(50 * time.Millisecond); return false }
	const contents = 24
	for i := range uint64(contents) {
		content := some(1000, i)
		digest, _ := o.add(content)
		allGet(t, all[:3], digest, content)
	}
	if n := o.count("GET " + blobs); n > contents {
		t.Errorf("the origin was asked %d times for %d contents", n, contents)
	}
}

// stepped is a router whose first calls about a content wait for the test. A look finds who has advertised it by then.
type stepped struct {
	view
	mu    sync.Mutex
	steps map[string]*steps // by key; calls about others do not wait
}

type steps struct{ advertise, look, looked chan struct{} }

func (r *stepped) of(key []byte) *steps {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.steps[string(key)]
}

func (r *stepped) Advertise(ctx context.Context, keys ...[]byte) error {
	if s := r.of(keys[0]); s != nil {
		select {
		case <-s.advertise:
		case <-ctx.Done():
		}
	}
	return r.view.Advertise(ctx, keys...)
}

func (r *stepped) Lookup(ctx context.Context, key []byte) iter.Seq[peer.AddrInfo] {
	s := r.of(key)
	select {
	case <-s.look:
	case <-ctx.Done():
	}
	found := r.view.Lookup(ctx, key)
	select {
	case <-s.looked:
	default:
		close(s.looked)
	}
	return found
}

// orders returns all orders of the steps of two mirrors in which each begins before it advertises and looks.
func orders(done string) (all []string) {
	if len(done) == 6 {
		return []string{done}
	}
	for _, step := range "ABalbm" { // A and B begin, a and b advertise, l and m look
		begin := strings.ContainsRune("AB", step) || strings.Contains(done, map[rune]string{'a': "A", 'l': "A", 'b': "B", 'm': "B"}[step])
		if begin && !strings.ContainsRune(done, step) {
			all = append(all, orders(done+string(step))...)
		}
	}
	return all
}

// TestBegunTogether has two of four mirrors, linked to each other, fetch the same, and take the steps of their beginnings in
// every order: a key may be advertised before the look, after it, or when the other has looked.
func TestBegunTogether(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	var all []peerOf
	var routers []*stepped
	long := testTimes
	long.lookup, long.late, long.stuck = time.Minute, time.Minute, time.Minute
	for range 4 {
		p := b.start(t, Upstream{OCI: []string{o.URL}}, func(c *Config) {
			routers = append(routers, &stepped{view: view{b, c.Host}, steps: make(map[string]*steps)})
			c.Router, c.times = routers[len(routers)-1], long
		})
		for _, other := range all {
			p.connect(t, other.cfg.Host)
		}
		all = append(all, p)
	}
	acquainted(t, all)
	for i, order := range orders("") {
		content := some(1000, uint64(i))
		digest, sum := o.add(content)
		for _, r := range routers[:2] {
			r.mu.Lock()
			r.steps[string(sum.Key())] = &steps{make(chan struct{}), make(chan struct{}), make(chan struct{})}
			r.mu.Unlock()
		}
		var clients sync.WaitGroup
		for _, step := range order {
			who := strings.IndexRune("AaBb", step) / 2
			if step == 'l' || step == 'm' {
				who = int(step - 'l')
			}
			p, s := all[who], routers[who].of(sum.Key())
			switch step {
			case 'A', 'B':
				clients.Go(func() { get(t, p.url+blobs+digest).is(t, content) })
				until(t, "the drawn mirrors have answered", func() (yes bool) {
					if f := p.join(sum, named{}); f != nil {
						f.news(func(time.Time) { yes = !f.look.began.IsZero() && f.look.asked == 0 })
						f.leave()
					}
					return yes
				})
			case 'a', 'b':
				close(s.advertise)
				until(t, "it is advertised", func() bool { return p.has(sum) })
			default:
				close(s.look)
				<-s.looked
			}
		}
		if clients.Wait(); o.count("GET "+blobs+digest) != 1 {
			t.Errorf("%s: the origin was asked %d times", order, o.count("GET "+blobs+digest))
		}
	}
}

// acquainted waits until all mirrors know that all others are mirrors.
func acquainted(t *testing.T, all []peerOf) {
	t.Helper()
	for _, p := range all {
		until(t, "they know each other", func() bool {
			known := map[peer.ID]bool{}
			for i := range uint64(64) {
				for _, d := range p.drawn(sumOf(kindPlain, sha256.Sum256(some(8, i)))) {
					known[d] = true
				}
			}
			return len(known) == len(all)
		})
	}
}

// TestDrawnMirrorLies has the other mirror name peers that do not exist, whoever asks it, or never answer. The origin is
// asked as if it was not there.
func TestDrawnMirrorLies(t *testing.T) {
	ghost := func(i uint64) peer.ID { return peer.ID(append([]byte{0, 36, 8, 1, 18, 32}, some(32, i)...)) }
	l, err := net.Listen("tcp", "127.0.0.1:0") // it takes connections, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	nobody, err := manet.FromNetAddr(l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]http.HandlerFunc{
		"names": func(w http.ResponseWriter, _ *http.Request) {
			s := state{Others: make([]peer.ID, 100)}
			for i := range s.Others {
				s.Others[i] = ghost(uint64(i))
			}
			s.write(w.Header())
			w.WriteHeader(errLacks.status)
		},
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			o, b := newRegistry(t), newBoard()
			var asked atomic.Int32
			liar := b.liar(t, meeting, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); answer(w, r) })
			p := b.start(t, Upstream{OCI: []string{o.URL}}, func(c *Config) { c.Router = unaware{view{b, c.Host}} })
			p.times.lookup, p.times.late, p.times.silent = 50*time.Millisecond, time.Minute, 400*time.Millisecond
			for i := range uint64(100) {
				p.cfg.Host.Peerstore().AddAddr(ghost(i), nobody, time.Hour)
			}
			p.connect(t, liar)
			until(t, "the other is drawn", func() bool { return len(p.drawn(meeting)) == 2 })
			content := some(1000, 3)
			digest, _ := o.add(content)
			get(t, p.url+blobs+digest).is(t, content)
			if took := p.Status().Recent[0].Took; took > 20_000 {
				t.Errorf("it took %.0f ms", took)
			}
			until(t, "the other is asked", func() bool { return asked.Load() > 0 })
		})
	}
}

// TestAnswerAfterRefusal has a peer, which is asked both as it is drawn and as it is named, refuse the content before its
// second answer says that it has it.
func TestAnswerAfterRefusal(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	content := some(1000, 5)
	digest, sum := o.add(content)
	refused, asked := make(chan struct{}), atomic.Int32{}
	liar := b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(errLacks.status)
			close(refused)
			return
		}
		if asked.Add(1) > 1 {
			<-refused
			time.Sleep(100 * time.Millisecond) // its asker has the refusal by then
		}
		claims(w, len(content))
	})
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	p.times.lookup = 10 * time.Millisecond // the second answer is not awaited
	p.connect(t, liar)
	until(t, "the other is drawn", func() bool { return len(p.drawn(sum)) == 2 })
	get(t, p.url+blobs+digest).is(t, content)
}

// TestSilenceIsAwaitedOnce: a mirror that never answers, or answers late that it has nothing, delays the first fetch
// and no other. The look goes on meanwhile, so that it is heard if it answers.
func TestSilenceIsAwaitedOnce(t *testing.T) {
	t.Parallel()
	const silent, fetches = time.Second, 5
	for name, answer := range map[string]http.HandlerFunc{
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"late": func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(silent * 4 / 5)
			w.WriteHeader(errLacks.status)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, b := newRegistry(t), newBoard()
			liar := b.liar(t, meeting, answer)
			p := b.start(t, Upstream{OCI: []string{o.URL}}, func(c *Config) { c.Router = unaware{view{b, c.Host}} })
			p.times.lookup, p.times.late, p.times.silent = 50*time.Millisecond, time.Minute, silent
			p.connect(t, liar)
			until(t, "the other is drawn", func() bool { return len(p.drawn(meeting)) == 2 })
			begun := time.Now()
			for i := range uint64(fetches) {
				content := some(1000, 3+i)
				digest, _ := o.add(content)
				get(t, p.url+blobs+digest).is(t, content)
			}
			if took := time.Since(begun); took > fetches*silent*3/5 {
				t.Errorf("%d fetches took %v", fetches, took)
			}
		})
	}
}

// TestClaimsWithoutBytes: a mirror that says at once that it has all, and never gives a byte, delays two fetches.
func TestClaimsWithoutBytes(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	liar := b.liar(t, meeting, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			<-r.Context().Done()
		}
		claims(w, 1000)
	})
	p := b.start(t, Upstream{OCI: []string{o.URL}}, func(c *Config) { c.Router = unaware{view{b, c.Host}} })
	p.times.slow, p.times.lookup = 2*time.Second, 50*time.Millisecond
	p.connect(t, liar)
	until(t, "the other is drawn", func() bool { return len(p.drawn(meeting)) == 2 })
	var last time.Duration
	for i := range uint64(3) {
		content, begun := some(1000, 3+i), time.Now()
		digest, _ := o.add(content)
		get(t, p.url+blobs+digest).is(t, content)
		last = time.Since(begun)
		t.Log(last)
	}
	if last > time.Second {
		t.Errorf("the third fetch took %v", last)
	}
}
