package overlay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// turning is an overlay in a network that rotates. Some peers have a summary under the seed before, some under the new
// one, some under both, and some under another that nobody here knows.
type turning struct {
	*world
	end   time.Duration
	peers []wire.PeerID
	keys  map[wire.PeerID][][]byte
}

var (
	oldSeed = summary.Seed{Network: "slow", Number: 5}
	newSeed = summary.Seed{Network: "slow", Number: 6}
	farSeed = summary.Seed{Network: "slow", Number: 7}
)

const maxGroup = 4

func signUnder(t testing.TB, id wire.PeerID, keys [][]byte, seed summary.Seed, e summary.Epoch) plain.Origin {
	t.Helper()
	h, fps := seed.Hasher(), make([]summary.Fingerprint, len(keys))
	for i, k := range keys {
		fps[i] = h.Fingerprint(k)
	}
	return plain.New(id, fps, summary.Header{Seed: seed.Tag(), Epoch: e, Lifetime: time.Minute})
}

func newTurning(t testing.TB, seed uint64) *turning {
	rng := rand.New(rand.NewPCG(seed, 8))
	w := &turning{world: &world{t: t, rng: rng}, end: time.Duration(1+rng.IntN(20)) * time.Second, keys: map[wire.PeerID][][]byte{}}
	o, err := New(Config{
		Self: "self", Seed: newSeed.Tag(), Previous: oldSeed, PreviousUntil: w.end, Up: 50_000_000, Down: 50_000_000, Rand: rng,
		OpenHeader: summary.ParseHeader, OpenRecord: plain.OpenRecord,
		Group: func(r wire.Record) string { return "group " + string(r.Peer[len(r.Peer)-1]%2+'0') }, MaxGroup: maxGroup,
		Memory: 200_000 + rng.IntN(1<<20), Cache: []*cache.Cache{cache.New(1 << 20), nil, nil}[rng.IntN(3)],
	})
	if err != nil {
		t.Fatal(err)
	}
	w.o = o
	publish := func(id wire.PeerID, n int, seeds ...summary.Seed) (out []plain.Origin) {
		for i := range n { // of every second key, the others have some
			w.keys[id] = append(w.keys[id], fmt.Appendf(nil, "%s/%d", [2]wire.PeerID{id, "all"}[i%2], i))
		}
		for i, s := range seeds {
			for range 1 + rng.IntN(2) {
				out = append(out, signUnder(t, id, w.keys[id], s, summary.Epoch{Generation: 1, Sequence: uint32(len(out)*3 + i + 1)}))
			}
		}
		return out
	}
	for _, own := range publish("self", 300, newSeed, oldSeed) {
		o.Step(0, event.Published{Envelope: own.Envelope, Record: own.Record, Stream: own.Stream})
	}
	of := [][]summary.Seed{{oldSeed}, {newSeed}, {oldSeed, newSeed}, {newSeed, oldSeed}, {farSeed}, {farSeed, oldSeed}}
	for i := range 3 + rng.IntN(10) {
		p := wire.PeerID(fmt.Sprint("peer", i))
		w.peers = append(w.peers, p)
		w.origins = append(w.origins, publish(p, 1+rng.IntN(2000), of[rng.IntN(len(of))]...)...)
	}
	for i := range 1 + rng.IntN(4) {
		p := wire.PeerID(fmt.Sprint("peer", i)) // some are connected themselves
		w.links = append(w.links, p)
		o.Step(0, event.LinkOpened{Peer: p})
		var records []wire.Record
		for _, q := range w.peers {
			if rng.IntN(3) == 0 {
				records = append(records, wire.Record{Peer: q, Envelope: []byte(q)})
			}
		}
		o.Step(0, event.HelloReceived{Peer: p, Hello: wire.Hello{Up: 50_000_000, Down: 50_000_000, Session: 1, Records: records}})
		o.Step(0, event.Grafted{Peer: p})
	}
	return w
}

// standing is the prefix that should answer for a peer: that under the new seed, or else that under the old one.
func (w *turning) standing(p wire.PeerID) *summary.Prefix {
	var best *summary.Prefix
	for _, e := range w.o.directory.Others() {
		if e != nil && e.Peer() == p && e.Held() != nil && (best == nil || e.Held().Header().Seed == newSeed.Tag()) {
			best = e.Held()
		}
	}
	return best
}

// check compares what the overlay says with a look at all that it holds.
func (w *turning) check(t *testing.T) {
	t.Helper()
	o, origins := w.o, 0
	for _, e := range o.directory.Others() {
		if e == nil {
			continue
		}
		if e.Held() != nil && (w.now >= w.end && e.Held().Header().Seed != newSeed.Tag() && !o.directory.Rotating() || e.Held().Header().Seed == farSeed.Tag()) {
			t.Fatalf("%s is held under %v at %v", e.Peer(), e.Held().Header().Seed, w.now)
		}
	}
	var f summary.Fingerprint
	p := w.peers[w.rng.IntN(len(w.peers))]
	key := w.keys[p][w.rng.IntN(len(w.keys[p]))]
	var want []wire.PeerID
	for _, q := range w.peers {
		held := w.standing(q)
		if got, ok := o.Held(q); ok != (held != nil) || ok && got != held {
			t.Fatalf("held of %s: %v, %v; want %v", q, got, ok, held)
		}
		if held == nil {
			continue
		}
		origins++
		seed := newSeed
		if held.Header().Seed == oldSeed.Tag() {
			seed = oldSeed
		}
		if held.Contains(seed.Hasher().Fingerprint(key)) {
			want = append(want, q)
		}
	}
	f = newSeed.Hasher().Fingerprint(key)
	var got []wire.PeerID
	for _, c := range o.Candidates(key, f) {
		got = append(got, c.Peer)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("at %v: candidates %v, want %v", w.now, got, want)
	}
	if w.standing(p) != nil && !slices.Contains(got, p) {
		t.Fatalf("at %v: %s is not found", w.now, p)
	}
	if o.Origins() != origins || len(o.Directory()) != origins {
		t.Fatalf("at %v: %d origins, %d in the directory, want %d", w.now, o.Origins(), len(o.Directory()), origins)
	}
	sum := 0.0
	for _, e := range o.directory.Others() {
		switch {
		case e == nil || e.Refuted() || e.State() == directory.Foreign || e.State() == directory.Expired || e.State() == directory.Named:
		case e.Held() != nil && e.Held() == w.standing(e.Peer()):
			sum += e.Held().FalsePositiveRate()
		case e.Held() == nil && !e.Covered() && o.directory.Missing(e):
			sum++
		}
	}
	if d := sum - o.FalseMatches(); d > 1e-9 || d < -1e-9 {
		t.Fatalf("at %v: false matches %v, want %v", w.now, o.FalseMatches(), sum)
	}
}

// compared is with how many peers of the old seed alone our collection is compared.
func (w *turning) compared() (n int) {
	for _, e := range w.o.directory.Others() {
		if e != nil && e.Held() != nil && e.Held().Header().Seed == oldSeed.Tag() && !e.Covered() && e.Judged() {
			n++
		}
	}
	return n
}

func checkRotation(t *testing.T, seed uint64) (compared int) {
	w := newTurning(t, seed)
	var effects []event.Effect
	for range 150 {
		effects = w.step(effects)
		for _, e := range effects {
			if r, ok := e.(event.Report); ok && r.Fault != event.FaultUnasked {
				t.Fatalf("seed %d: %v of an honest peer", seed, r)
			}
		}
		compared += w.compared()
		w.check(t)
	}
	if w.now > w.end+time.Second && (w.o.Unrotated() > 0 || w.o.directory.Rotating()) {
		t.Fatalf("seed %d: the old seed is not gone at %v", seed, w.now)
	}
	return compared
}

// A directory of two seeds says what a look at every summary would, while the old seed lasts, and after it.
func TestRotationAgainstSlowTwin(t *testing.T) {
	compared := 0
	for seed := range uint64(40) {
		compared += checkRotation(t, seed)
	}
	if compared < 1000 {
		t.Errorf("only %d comparisons under the old seed", compared)
	}
}

func FuzzRotationAgainstSlowTwin(f *testing.F) {
	f.Add(uint64(175)) // a summary asked for, and not yet come, when the old seed ends
	f.Fuzz(func(t *testing.T, seed uint64) { checkRotation(t, seed) })
}
