package routing_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
	"github.com/venn-p2p/venn/summary"
)

// driver feeds a machine with inputs decoded from bytes, of any order and sense, and checks what must hold of its
// effects.
type driver struct {
	data   []byte
	router *routing.Router
	now    time.Duration
	trace  strings.Builder
	fail   func(format string, args ...any)

	open     map[routing.QueryID]*ledger // own queries started and not yet done
	served   map[uint64]bool             // requests: true once the final answer went out
	requests uint64
	nextID   routing.QueryID
	confirms []event.Ask
	asks     []event.Ask // for candidates
	forwards []event.Ask
	wants    []event.ContactsWanted // not yet answered with how many are asked

	ranged bool          // the directory covers a part of the network
	wake   time.Duration // when the machine wants to be called again
	quiet  time.Duration // from when on it is called just then; 0: not yet
}

// ledger is what a query may have spent at least.
type ledger struct {
	budget, spent int
	deadline      time.Duration
	asked         map[wire.PeerID]int  // to confirm
	spoke         map[wire.PeerID]bool // for candidates, itself among them
	found         map[wire.PeerID]bool
	set           map[wire.PeerID]int           // aside for children
	usual         bool                          // the budget is the usual one, which grows with contacts
	contacts      map[wire.PeerID]time.Duration // asked for candidates and silent so far, and when they were asked
	wants         int                           // for more contacts
	inquiries     int                           // peers asked for more contacts
}

// mostMessages is how many messages a query may take: what contacts add counts, and as much again for referrers.
func (l *ledger) mostMessages() int {
	if !l.usual {
		return l.budget
	}
	return l.budget + 2*fuzzContacts
}

const (
	fuzzPeers    = 12
	fuzzAny      = 12 // messages of the usual budgets
	fuzzAll      = 40
	fuzzContacts = 16 // that contacts add
	fuzzTimeout  = 10 * time.Second
)

func peer(i int) wire.PeerID { return wire.PeerID(rune('a' + i%fuzzPeers)) }

func (d *driver) byte() int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b)
}

// Candidates and the other methods of routing.View are drawn from the same bytes.
func (d *driver) Candidates(_ []byte, _ summary.Fingerprint) []overlay.Candidate {
	var out []overlay.Candidate
	for i := range fuzzPeers {
		if b := d.byte(); b&1 == 1 {
			rate := []float64{0, 0.001, 0.05, 0.3, 1}[b>>1%5]
			out = append(out, overlay.Candidate{Peer: peer(i), Rate: rate, Misses: b >> 5, Connected: b&16 != 0})
		}
	}
	return out
}

func (d *driver) FalseMatches() float64 { return float64(d.byte()) / 16 }

func (d *driver) Covers() space.Range {
	if !d.ranged {
		return space.Range{}
	}
	return space.Around(wire.PeerID("a").Place(), 1+d.byte()%5)
}

func (d *driver) Precise() space.Range { return d.Covers() }

func (d *driver) HasSummary(p wire.PeerID) bool { return p[0]&1 == 1 }

// contacts draws who is a contact, and of which range.
func (d *driver) contacts() (out []region.Contact) {
	if !d.ranged {
		return nil
	}
	for i := range 2 * fuzzPeers {
		if b := d.byte(); b&1 == 1 {
			p := peer(i)
			out = append(out, region.Contact{
				Peer: string(p), Record: []byte{1}, Place: p.Place(), Depth: region.ContactDepth(b >> 1 % 8),
				Right: int32(b >> 6),
			})
		}
	}
	return out
}

func (d *driver) Peers() []region.Contact    { return d.contacts() }
func (d *driver) Contacts() []region.Contact { return d.contacts() }

func (d *driver) Knowledge() []overlay.Knowledge {
	b := d.byte()
	if b&3 == 0 {
		return nil
	}
	return []overlay.Knowledge{{Peer: peer(b), Origins: 1, FalseMatches: float64(b) / 32}}
}

func (d *driver) Fresh(wire.PeerID) (time.Duration, bool) {
	b := d.byte()
	return time.Duration(b) * 20 * time.Millisecond, b&1 == 1
}

func (d *driver) Origins() int { return d.byte() % 8 }

func (d *driver) Linked() []wire.PeerID {
	var out []wire.PeerID
	for i, b := 0, d.byte(); i < 8; i++ {
		if b>>i&1 == 1 {
			out = append(out, peer(i))
		}
	}
	return out
}

func (d *driver) Record(p wire.PeerID) (wire.Record, bool) {
	return wire.Record{Peer: p, Envelope: []byte{1}}, d.byte()&1 == 1
}

func run(data []byte, fail func(string, ...any)) string {
	d := &driver{data: data, fail: fail, open: map[routing.QueryID]*ledger{}, served: map[uint64]bool{}}
	r, err := routing.New(routing.Config{
		Self: "a", Has: func(key []byte) bool { return len(key) > 0 && key[0]&1 == 1 }, Rand: rand.New(rand.NewPCG(1, 2)), Fingerprint: routinglab.Fingerprint,
		MaxQueries: 4, Limits: routing.Limits{Work: .02},
		Timeout: fuzzTimeout, BudgetAny: fuzzAny, BudgetAll: fuzzAll, BudgetContacts: fuzzContacts, Incomplete: func() bool { return d.byte()&1 == 1 },
	}, d)
	if err != nil {
		panic(err)
	}
	d.router, d.ranged = r, len(data)%2 == 1
	for steps := 0; len(d.data) > 0 && steps < 500; steps++ {
		d.step(d.input())
	}
	d.quiet = d.now + 1
	for range 1000 { // silence: every query must come to its end in time, if the machine is called when it wants to be
		d.now = max(d.now+1, d.wake)
		d.step(event.Tick{})
	}
	if len(d.open) > 0 {
		fail("%d queries never ended", len(d.open))
	}
	for req, final := range d.served {
		if !final {
			fail("request %d never had its final answer", req)
		}
	}
	return d.trace.String()
}

func (d *driver) records() []wire.Record {
	out := make([]wire.Record, d.byte()%12)
	for i := range out {
		out[i] = wire.Record{Peer: wire.PeerID(rune('a' + d.byte()%20))}
	}
	return out
}

// input decodes the next input; answers mostly fit a question that was asked.
func (d *driver) input() event.Input {
	kind := d.byte() % 16
	id, from := routing.QueryID(d.byte()%8), peer(d.byte())
	switch kind {
	case 0, 1, 2:
		d.nextID++
		q := routing.Query{
			ID: d.nextID, Key: []byte{byte(d.byte())}, Mode: wire.Mode(d.byte() % 3), Want: d.byte() % 4,
			Budget: max(0, d.byte()%96-32), Deadline: d.now + time.Duration(d.byte())*100*time.Millisecond,
		}
		return routing.Start{Query: q}
	case 3:
		return routing.Cancel{ID: id}
	case 4:
		return routinglab.Answered(id, from, wire.HaveRequest{}, wire.HaveAnswer{true})
	case 5, 6, 7:
		if len(d.confirms) > 0 {
			c := d.confirms[d.byte()%len(d.confirms)]
			if kind == 7 {
				return event.Answered{Ask: c}
			}
			return event.Answered{Ask: c, Answer: wire.HaveAnswer{kind == 5}}
		}
	case 8, 9:
		if len(d.asks) > 0 {
			a := d.asks[d.byte()%len(d.asks)]
			if kind == 9 {
				return event.Answered{Ask: a}
			}
			return event.Answered{Ask: a, Answer: wire.Answer{Records: d.records(), Messages: d.byte() - 8, Depth: d.byte()%40 - 2}}
		}
	case 10, 11:
		if len(d.forwards) > 0 {
			f := d.forwards[d.byte()%len(d.forwards)]
			return event.Answered{Ask: f, Answer: wire.Answer{Records: d.records(), Messages: d.byte() - 8, Final: kind == 11}}
		}
	case 12, 13:
		d.requests++
		return event.Asked{
			Request: d.requests, From: from, Question: wire.Query{
				Kind: wire.Kind(d.byte() % 3), Nonce: uint64(d.byte()), Origin: peer(d.byte()), Key: make([]byte, d.byte()%3),
				Mode: wire.Mode(d.byte() % 3), Want: d.byte() - 2, Budget: d.byte() - 2, Hops: d.byte() - 2,
				Within: time.Duration(d.byte()-10) * time.Second,
			},
		}
	case 14:
		d.now += time.Duration(d.byte()) * 50 * time.Millisecond
	case 15:
		if d.ranged {
			return event.ContactsNamed{Search: uint64(id), Awaited: d.byte() % 3}
		}
	}
	return event.Tick{}
}

func (d *driver) step(in event.Input) {
	switch in := in.(type) {
	case routing.Start:
		d.open[in.Query.ID] = &ledger{
			budget: in.Query.Budget, deadline: in.Query.Deadline, asked: map[wire.PeerID]int{}, spoke: map[wire.PeerID]bool{}, found: map[wire.PeerID]bool{}, set: map[wire.PeerID]int{},
			contacts: map[wire.PeerID]time.Duration{},
		}
		if in.Query.Deadline == 0 {
			d.open[in.Query.ID].deadline = d.now + fuzzTimeout
		}
		if in.Query.Budget == 0 {
			d.open[in.Query.ID].usual = true
			d.open[in.Query.ID].budget = map[wire.Mode]int{wire.Any: fuzzAny, wire.All: fuzzAll}[in.Query.Mode]
		}
	case event.Asked:
		d.served[in.Request] = false
	case event.Answered:
		const askTimeout = 4 * time.Second
		l, from := d.open[routing.QueryID(in.Search)], in.To.Peer
		q, _ := in.Question.(wire.Query)
		switch a, named := in.Answer.(wire.Answer); {
		case l == nil || !named:
		case q.Kind == wire.Search && a.Final:
			l.spent -= l.set[from] // what it really spent isn't known here
			l.set[from] = 0
		case q.Kind == wire.Candidates && d.now < l.contacts[from]+askTimeout:
			delete(l.contacts, from)
		}
	}
	fmt.Fprintln(&d.trace, d.now, in)
	for _, e := range d.router.Step(d.now, in) {
		fmt.Fprintln(&d.trace, "  ", e)
		d.check(e)
	}
	wants := d.wants
	d.wants = nil
	for _, w := range wants { // the overlay says at once how many it asks
		asked := d.byte() % (w.Ask + 1)
		if l := d.open[routing.QueryID(w.Search)]; l != nil {
			l.spent += 2 * asked
			l.inquiries += asked
		}
		d.step(event.ContactsNamed{Search: w.Search, Asked: asked, Awaited: asked})
	}
}

func (d *driver) check(e event.Effect) {
	switch e := e.(type) {
	case event.Ask:
		d.checkAsk(e)
	case event.ContactAnswered:
		for _, l := range d.open {
			if _, asked := l.contacts[e.Peer]; asked && e.Failed {
				l.contacts[e.Peer] = -time.Hour // what it says later comes too late
			}
		}
	case event.ContactsWanted:
		d.wants = append(d.wants, e)
		if l := d.ledger(routing.QueryID(e.Search)); l != nil {
			if l.wants++; l.wants > 4 {
				d.fail("wants more contacts a fifth time: %v", e)
			}
		}
	case routing.Found:
		l := d.ledger(e.ID)
		if l == nil || l.found[e.Provider.Peer] || l.asked[e.Provider.Peer] == 0 && !l.spoke[e.Provider.Peer] {
			d.fail("found twice, after the end, or unasked: %v", e)
			return
		}
		l.found[e.Provider.Peer] = true
	case routing.Done:
		d.done(e)
	case event.Answer:
		if final, known := d.served[e.Request]; !known || final {
			d.fail("answer to nothing, or after the final one: %v", e)
		}
		a, served := e.Answer.(wire.Answer)
		d.served[e.Request] = !served || a.Final
	case event.Wake:
		if e.At <= d.now {
			d.fail("wakes in the past at %v: %v", d.now, e)
		}
		d.wake = e.At
	}
}

func (d *driver) checkAsk(e event.Ask) {
	l := d.ledger(routing.QueryID(e.Search))
	q, query := e.Question.(wire.Query)
	if !query {
		d.checkConfirm(e, l)
		return
	}
	if q.Kind == wire.Search {
		d.forwards = append(d.forwards, e)
		if q.Budget < 0 || q.Hops < 0 || q.Within <= 0 || e.To.Peer == q.Origin {
			d.fail("bad forward: %v", e)
		}
		if l != nil {
			l.spent += 2 + q.Budget
			l.set[e.To.Peer] = q.Budget
		}
		return
	}
	d.asks = append(d.asks, e)
	if l == nil {
		return
	}
	l.spent += 2
	if l.spoke[e.To.Peer] {
		d.fail("asked for candidates twice: %v", e)
	}
	l.spoke[e.To.Peer] = true
	if len(e.To.Envelope) > 0 {
		l.contacts[e.To.Peer] = d.now
	}
}

func (d *driver) checkConfirm(e event.Ask, l *ledger) {
	d.confirms = append(d.confirms, e)
	if e.To.Peer == "a" {
		d.fail("asked itself: %v", e)
	}
	if l != nil {
		l.spent += 2
		if l.asked[e.To.Peer]++; l.asked[e.To.Peer] > 1 {
			d.fail("asked twice: %v", e)
		}
	}
}

// ledger is that of an own query; nil for searches of others.
func (d *driver) ledger(id routing.QueryID) *ledger {
	if id >= routing.MaxQueryID {
		return nil
	}
	l := d.open[id]
	if l == nil {
		d.fail("effect for query %v, which isn't open", id)
	}
	return l
}

func (d *driver) done(e routing.Done) {
	l := d.ledger(e.ID)
	if l == nil {
		return
	}
	delete(d.open, e.ID)
	if d.quiet > 0 && d.now > max(l.deadline, d.quiet) {
		d.fail("ended %v after its deadline: %v", d.now-l.deadline, e)
	}
	if e.Stats.Messages > l.mostMessages() || l.spent > e.Stats.Messages {
		d.fail("budget %d, at least %d spent: %v", l.mostMessages(), l.spent, e)
	}
	if s := e.Stats; s.Inquiries != l.inquiries || !(s.Covered >= 0 && s.Covered <= 1) {
		d.fail("%d inquiries, %v of the network is covered: %v", s.Inquiries, s.Covered, e)
	}
	for _, r := range e.Stats.Explain {
		if r.Ranged && r.Why != routing.Contact {
			d.fail("a range without an answer: %v", r)
		}
	}
	if e.Stats.Found != len(l.found) {
		d.fail("%d found, but %v", len(l.found), e)
	}
}

func TestMachineHoldsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 300, 3000).Draw(t, "data")
		first := run(data, t.Fatalf)
		if second := run(data, t.Fatalf); first != second {
			t.Fatalf("two runs differ:\n%s\n---\n%s", first, second)
		}
	})
}

func FuzzMachine(f *testing.F) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 10, 1000, 5000} {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { run(data[:min(len(data), 1<<14)], t.Fatalf) })
}

func TestConfigNamesEveryFault(t *testing.T) {
	_, err := routing.New(routing.Config{Prior: 2, Poor: 5, Useless: 1, Parallel: -1}, nil)
	if !errors.Is(err, routing.ErrConfig) {
		t.Fatalf("got %v", err)
	}
	for _, name := range []string{"Self", "Has", "Rand", "Prior", "Useless", "Parallel"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%v: does not name %s", err, name)
		}
	}
}

func TestCallersMistakesPanic(t *testing.T) {
	panics := func(what string, f func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%s: no panic", what)
			}
		}()
		f()
	}
	d := &driver{}
	r, err := routing.New(routing.Config{Self: "a", Has: func([]byte) bool { return false }, Rand: rand.New(rand.NewPCG(1, 1)), Fingerprint: routinglab.Fingerprint}, d)
	if err != nil {
		t.Fatal(err)
	}
	r.Step(time.Second, event.Tick{})
	panics("time goes back", func() { r.Step(0, event.Tick{}) })
	panics("nil input", func() { r.Step(time.Second, nil) })
}
