package overlay

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// signed is an origin's summary; its envelope is the header, which nobody signed.
type signed struct {
	stream           *summary.Stream
	envelope, record []byte
}

func sign(t testing.TB, id PeerID, fps []summary.Fingerprint) signed {
	t.Helper()
	s, err := summary.Build(fps, summary.Header{
		Seed: tag, Origin: string(id), Epoch: summary.Epoch{Generation: 1, Sequence: 1}, Lifetime: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := s.Header().AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return signed{s, envelope, []byte(id)}
}

var tag = summary.Seed{Network: "slow"}.Tag()

func alone(t testing.TB, rng *rand.Rand, cfg Config) *Overlay {
	t.Helper()
	cfg.Self, cfg.Seed, cfg.Rand = "self", tag, rng
	cfg.OpenHeader = summary.ParseHeader
	cfg.OpenRecord = func(b []byte) (PeerID, error) { return PeerID(b), nil }
	o, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// world is an overlay, links and origins of which a seed decides what is known and offered.
type world struct {
	o       *Overlay
	rng     *rand.Rand
	origins []signed
	links   []PeerID
	now     time.Duration
}

func newWorld(t testing.TB, seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 5))
	rate := uint64(100_000 << rng.IntN(8))
	w := &world{o: alone(t, rng, Config{Up: rate, Down: rate}), rng: rng}
	keys := func(n int) (fps []summary.Fingerprint) {
		for i := range n {
			f := summary.Fingerprint(i)<<20 | 7 // some that all hold
			if rng.IntN(2) == 0 {
				f = summary.Fingerprint(rng.Uint64() >> 16)
			}
			fps = append(fps, f)
		}
		return fps
	}
	own := sign(t, "self", keys(500))
	w.o.Step(0, Published{Envelope: own.envelope, Record: own.record, Stream: own.stream})
	for i := range 3 + rng.IntN(10) {
		w.origins = append(w.origins, sign(t, PeerID(fmt.Sprint("origin", i)), keys(1+rng.IntN(3000))))
	}
	for i := range 1 + rng.IntN(4) {
		p := PeerID(fmt.Sprint("link", i))
		w.links = append(w.links, p)
		w.o.Step(0, LinkOpened{Peer: p})
		w.o.Step(0, HelloReceived{Peer: p, Hello: Hello{Up: uint64(100_000 << rng.IntN(8)), Down: rate, Session: 1}})
		w.o.Step(0, Grafted{Peer: p})
	}
	return w
}

// step answers some of what was asked, announces something, and lets time pass.
func (w *world) step(effects []Effect) []Effect {
	rng := w.rng
	var answers []Input
	for _, e := range effects {
		c, ok := e.(SendCatalogue)
		if !ok || rng.IntN(5) == 0 {
			continue
		}
		for _, it := range c.Items {
			for _, s := range w.origins {
				p := s.stream.Prefix()
				if it.Want <= it.Have || it.Group != p.Header().Group() || int(it.Have) >= p.Parts() {
					continue
				}
				run, err := p.Run(int(it.Have), min(int(it.Want), p.Parts()))
				if err != nil {
					continue
				}
				in := PartsReceived{From: c.To, Group: it.Group, Run: run, Bytes: RunBytes(run, nil, nil)}
				if it.Have == 0 {
					in.Envelope, in.Record = s.envelope, s.record
				}
				answers = append(answers, in)
			}
		}
	}
	w.now += time.Duration(rng.IntN(300)) * time.Millisecond
	var out []Effect
	for _, in := range answers {
		out = append(out, w.o.Step(w.now, in)...)
	}
	s := w.origins[rng.IntN(len(w.origins))]
	item := Item{Group: s.stream.Header().Group(), Have: uint16(1 + rng.IntN(s.stream.Prefix().Parts()))}
	out = append(out, w.o.Step(w.now, CatalogueReceived{From: w.links[rng.IntN(len(w.links))], Items: []Item{item}, Bytes: 100})...)
	if rng.IntN(10) == 0 {
		out = append(out, w.o.Step(w.now, Outcome{Peer: PeerID(s.record), Hits: rng.IntN(3), Misses: rng.IntN(5)})...)
	}
	if rng.IntN(10) == 0 {
		out = append(out, w.o.Step(w.now, RoundTrip{Peer: PeerID(s.record), RTT: time.Duration(rng.IntN(200)) * time.Millisecond})...)
	}
	return append(out, w.o.Step(w.now, Tick{})...)
}

// slowAsks is planAsks over again: of all origins, by trying all orders of choosing the next best, without what is kept between
// calls. It returns peer, origin and span of each ask.
func slowAsks(o *Overlay) (asks []string) {
	type link struct {
		inFlight int
		budget   float64
	}
	down := o.down.tokens
	links := map[PeerID]*link{}
	for _, l := range o.order {
		links[l.peer] = &link{l.inFlight, l.out.tokens}
	}
	done := map[int]bool{}
	for {
		best, value, size, start, stop := -1, -1.0, 0, 0, 0
		for i, e := range o.entries {
			if i == 0 || e == nil || done[i] || e.banned || e.ask.peer != "" || o.now < e.quiet {
				continue
			}
			from, end, bytes, v, ok := slowOffer(o, e)
			if ok && v > value {
				best, value, size, start, stop = i, v, bytes, from, end
			}
		}
		if best < 0 || !(down-reserve >= min(float64(size), Burst(o.down.rate)-reserve)) {
			return asks
		}
		done[best] = true
		var to *link
		var id PeerID
		least, have := 0.0, 0
		for _, l := range o.order {
			t, at := l.trade(best), links[l.peer]
			if l.shunned(o.now, best) || int(t.have) <= start {
				continue
			}
			wait := float64(at.inFlight+size) / max(1, l.inRate)
			busy := at.inFlight > 0 && (!l.useful && l.unkept >= distrustAfter || float64(at.inFlight) >= 2*max(1, l.inRate))
			if !busy && (to == nil || wait < least) {
				to, id, least, have = at, l.peer, wait, int(t.have)
			}
		}
		if to == nil || to.budget-reserve < float64(CatalogueBytes(1)) {
			continue
		}
		to.inFlight += size
		down -= float64(size)
		asks = append(asks, fmt.Sprintf("%s %d %d-%d", id, best, start, min(stop, have)))
	}
}

// slowOffer is the best next run of an origin of which there is one epoch only.
func slowOffer(o *Overlay, e *entry) (from, end, bytes int, value float64, ok bool) {
	most := 0
	for _, l := range o.order {
		if !l.shunned(o.now, e.index) {
			most = max(most, int(l.trade(e.index).have))
		}
	}
	if e.cur == nil {
		return 0, 1, unknownSample, firstValue / unknownSample, most > 0
	}
	plan := e.cur.Plan()
	from, most = e.cur.Parts(), min(most, plan.Parts())
	if most <= from {
		return 0, 0, 0, 0, false
	}
	for end = from + 1; end < most; end++ {
		if n := plan.EncodedBytes(end+1) - plan.EncodedBytes(from); n > maxRunBytes || n > int(o.down.rate) {
			break
		}
	}
	bytes = plan.EncodedBytes(end) - plan.EncodedBytes(from)
	kept := float64(1+e.hits) / float64(1+e.hits+e.misses)
	value = (1 + float64(e.share.value)) * kept * (plan.FalsePositiveRate(from) - plan.FalsePositiveRate(end)) / float64(bytes)
	return from, end, bytes + rpcOverhead + runOverhead, value, true
}

// planned runs the planner on the overlay as it is, and takes back what it set aside.
func planned(o *Overlay) (asks []string) {
	down := o.down
	type kept struct {
		e     *entry
		quiet time.Duration
	}
	var before []kept
	for _, e := range o.entries[1:] {
		if e != nil && e.ask.peer == "" {
			before = append(before, kept{e, e.quiet})
		}
	}
	byLink := o.planAsks(o.now)
	for p, items := range byLink {
		for _, it := range items {
			i := o.byTag[it.Group.OriginTag()]
			asks = append(asks, fmt.Sprintf("%s %d %d-%d", p, i, it.Have, it.Want))
		}
	}
	for _, k := range before {
		o.endAsk(k.e)
		k.e.quiet = k.quiet
	}
	o.down = down
	return asks
}

func checkPlan(t *testing.T, seed uint64) (asked int) {
	w := newWorld(t, seed)
	var effects []Effect
	for range 40 {
		effects = w.step(effects)
		for _, e := range w.o.entries[1:] {
			e.fetchAt = w.now + time.Hour // what is fetched directly is another choice
		}
		want := map[string]bool{}
		for _, a := range slowAsks(w.o) {
			want[a] = true
		}
		got := planned(w.o)
		for _, a := range got {
			if !want[a] {
				t.Fatalf("seed %d, at %v: asked %q, not among %v", seed, w.now, a, want)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d, at %v: asked %v, want %v", seed, w.now, got, want)
		}
		asked += len(got)
		checkViews(t, w)
		checkLedger(t, w.o)
	}
	return asked
}

// checkViews compares what the overlay says of its directory with a look at all that it holds.
func checkViews(t *testing.T, w *world) {
	t.Helper()
	f := summary.Fingerprint(w.rng.IntN(3000))<<20 | 7
	var want []PeerID
	sum := 0.0
	for _, s := range w.origins {
		e, ok := w.o.lookup(PeerID(s.record))
		if ok && e.cur != nil && e.cur.Contains(f) {
			want = append(want, e.peer)
		}
	}
	for _, e := range w.o.entries[1:] {
		if e != nil && e.cur != nil {
			sum += e.cur.FalsePositiveRate()
		} else if e != nil {
			sum++
		}
	}
	got := w.o.Candidates(nil, f)
	for _, c := range got {
		if !contains(want, c.Peer) {
			t.Fatalf("%s is a candidate, want %v", c.Peer, want)
		}
	}
	if len(got) != len(want) || sum-w.o.FalseMatches() > 1e-9 || w.o.FalseMatches()-sum > 1e-9 {
		t.Fatalf("candidates %v, want %v; false matches %v, want %v", got, want, w.o.FalseMatches(), sum)
	}
}

// checkLedger counts anew what the overlay keeps count of.
func checkLedger(t *testing.T, o *Overlay) {
	t.Helper()
	held, origins, pending, direct := 0, 0, 0, 0
	inFlight := map[PeerID]int{}
	for _, e := range o.others() {
		if e == nil {
			continue
		}
		held += e.memory()
		if e.cur != nil && !o.covered(e) {
			origins++
		}
		if e.pending {
			pending++
		}
		if e.ask.peer != "" && e.ask.way == Direct {
			direct++
		} else if e.ask.peer != "" {
			inFlight[e.ask.peer] += e.ask.bytes
		}
	}
	for _, l := range o.order {
		if l.inFlight != inFlight[l.peer] {
			t.Fatalf("%d bytes in flight on %s, want %d", l.inFlight, l.peer, inFlight[l.peer])
		}
	}
	if o.held != held || o.origins != origins || o.pending != pending || o.direct != direct {
		t.Fatalf("held %d, origins %d, pending %d, direct %d; want %d, %d, %d, %d", o.held, o.origins, o.pending, o.direct, held, origins, pending, direct)
	}
}

func contains(all []PeerID, p PeerID) bool {
	for _, q := range all {
		if q == p {
			return true
		}
	}
	return false
}

// The planner asks for what a plain look at everything would, and what it keeps count of adds up.
func TestPlanAgainstSlowTwin(t *testing.T) {
	asked := 0
	for seed := range uint64(25) {
		asked += checkPlan(t, seed)
	}
	if asked < 100 {
		t.Errorf("only %d asks were compared", asked)
	}
}

func FuzzPlanAgainstSlowTwin(f *testing.F) {
	f.Add(uint64(100))
	f.Fuzz(func(t *testing.T, seed uint64) { checkPlan(t, seed) })
}

// A token bucket lets through what a ledger of all that was taken would: never more than burst + rate × time in any span.
func TestBudgetAgainstSlowTwin(t *testing.T) {
	type payment struct {
		at    time.Duration
		bytes int
	}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 6))
		rate := float64(rng.IntN(100_000))
		b := newBudget(rate, 0)
		var paid []payment
		now := time.Duration(0)
		for range 300 {
			now += time.Duration(rng.IntN(400)) * time.Millisecond
			b.refill(now)
			n := rng.IntN(20_000)
			// The level of a bucket that leaks: each payment since any earlier instant, less what has leaked since.
			allowed := true
			for i := range paid {
				sum := n
				for _, p := range paid[i:] {
					sum += p.bytes
				}
				allowed = allowed && float64(sum) <= Burst(rate)-reserve+rate*(now-paid[i].at).Seconds()+1e-6
			}
			allowed = allowed && float64(n) <= Burst(rate)-reserve
			if got := b.allows(n); got != allowed {
				t.Fatalf("seed %d: %d bytes at %v: allowed %v, want %v", seed, n, now, got, allowed)
			}
			if allowed {
				b.take(n)
				paid = append(paid, payment{now, n})
			}
		}
	}
}

// Neighbours are those that a comparison of every pair would choose.
func TestRankAgainstSlowTwin(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 7))
		draw := func(n, from int) (out []rank.Candidate) {
			for i := range n {
				v := float64(rng.IntN(10)) / 10
				c := rank.Candidate{Index: from + i, Known: rng.IntN(4) > 0, RTT: time.Duration(rng.IntN(4))}
				c.Share = estimate.Interval{Value: v, Low: v - float64(rng.IntN(3))/10, High: v + float64(rng.IntN(3))/10}
				out = append(out, c)
			}
			return out
		}
		cands, n := draw(rng.IntN(12), 1), rng.IntN(6)
		better := func(a, b rank.Candidate) bool {
			return a.Share.Value > b.Share.Value || a.Share.Value == b.Share.Value && a.Index < b.Index
		}
		chosen := rank.Similar(cands, n)
		for _, c := range cands {
			above := 0
			for _, d := range cands {
				if d.Known && better(d, c) {
					above++
				}
			}
			in := false
			for _, d := range chosen {
				in = in || d.Index == c.Index
			}
			if want := c.Known && above < n; in != want {
				t.Fatalf("seed %d: %+v chosen: %v, want %v", seed, c, in, want)
			}
		}
		old := draw(rng.IntN(4), 100)
		out, in, ok := rank.Swap(old, cands, rank.Shared)
		can := false
		for _, a := range old {
			for _, c := range cands {
				can = can || c.Known && c.Share.Low > a.Share.High
			}
		}
		if ok != can {
			t.Fatalf("seed %d: swap %v, want %v", seed, ok, can)
		}
		if ok && !(in.Share.Low > out.Share.High) {
			t.Fatalf("seed %d: %+v for %+v", seed, in, out)
		}
	}
}
