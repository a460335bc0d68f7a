package directory

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// hear brings all of a summary, from a peer that announced it; false if nothing of it was taken in.
func hear(d *Directory, now time.Duration, from wire.PeerID, s plain.Origin) (Result, bool) {
	e := d.Add(now, from, wire.GroupOf(s.Stream.Header()).OriginTag())
	if e == nil || e.Unwanted(now) {
		return Result{}, false
	}
	run, err := s.Stream.Run(0, s.Stream.Parts())
	if err != nil {
		return Result{}, false
	}
	r := d.Take(now, e, event.PartsReceived{
		From: from, Group: wire.GroupOf(s.Stream.Header()), Bytes: 500, Parts: wire.Parts{Envelope: s.Envelope, Record: s.Record, Run: run},
	})
	return r, r.Learned != nil
}

func record(p wire.PeerID) wire.Record { return wire.Record{Peer: p, Envelope: []byte(p)} }

// keep lets time pass as package overlay does, with nothing offered by anybody.
func keep(d *Directory, now time.Duration) {
	d.Shed(now, nobody, noCall)
	for _, s := range d.Step(now) {
		d.Remove(s.Index)
	}
	d.Tidy(now)
	d.Changes()
}

// ghosts returns how many entries stay, and whether an honest origin is taken in, some time after an attack. In the
// attack a link names peers that do not exist, in sessions without end.
func ghosts(t *testing.T, cfg Config, later time.Duration) (stay int, taken bool) {
	cfg.Memory, cfg.MaxOrigins = 64<<20, maxNamed
	d := alone(rand.New(rand.NewPCG(1, 3)), cfg)
	for i := range 3 * maxNamed {
		if i%100 == 0 {
			d.Close("sybil")
			d.Open("sybil", "")
		}
		if fault := d.LearnRecord(0, "sybil", record(wire.PeerID(fmt.Sprint("ghost", i)))); fault != "" {
			t.Fatal(fault)
		}
	}
	d.Close("sybil")
	keep(d, later)
	d.Open("honest", "")
	_, taken = hear(d, later, "honest", plain.Of("good", []summary.Fingerprint{1, 2, 3}))
	if err := d.Check(later); err != nil {
		t.Error(err)
	}
	return d.Pending(), taken
}

func TestGhosts(t *testing.T) {
	if stay, taken := ghosts(t, Config{}, time.Second); stay > maxNamedLink || !taken {
		t.Errorf("%d ghosts of one link at once, an honest origin is taken in: %v", stay, taken)
	}
	if stay, taken := ghosts(t, Config{}, agenda.Faded); stay > 0 || !taken {
		t.Errorf("%d ghosts after a while, an honest origin is taken in: %v", stay, taken)
	}
	unbounded := Limits{Named: math.MaxInt, NamedLink: math.MaxInt, NamedFor: math.MaxInt64 / 2}
	if stay, taken := ghosts(t, Config{Limits: unbounded}, 24*time.Hour); stay == 0 || taken {
		t.Errorf("without bounds, %d ghosts after a day, an honest origin is taken in: %v", stay, taken)
	}
}

// Many links together name no more than fits, and the oldest go first.
func TestGhostsOfManyLinks(t *testing.T) {
	d := alone(rand.New(rand.NewPCG(1, 3)), Config{Memory: 64 << 20, MaxOrigins: 1 << 17})
	for i := range 100 {
		from := wire.PeerID(fmt.Sprint("sybil", i))
		d.Open(from, "")
		for k := range maxNamedLink {
			d.LearnRecord(0, from, record(wire.PeerID(fmt.Sprint("ghost", i, ".", k))))
		}
	}
	if d.Pending() != maxNamed || d.Lookup("ghost0.0") != nil || d.Lookup("ghost99.0") == nil {
		t.Errorf("%d are known, want the last %d", d.Pending(), maxNamed)
	}
	if s := d.FalseMatches(); s > 0 {
		t.Errorf("a query is said to bring %v false matches, of peers known by a record alone", s)
	}
	if err := d.Check(0); err != nil {
		t.Error(err)
	}
}

// twins is how many of many identities that sign two summaries each are remembered, and whether an honest origin is
// taken in after some time.
func twins(t *testing.T, cfg Config, later time.Duration) (banned int, taken bool) {
	cfg.Memory, cfg.MaxOrigins = 100_000, 1000
	d := alone(rand.New(rand.NewPCG(1, 2)), cfg)
	d.Open("sybil", "")
	for i := range 2000 {
		p := wire.PeerID(fmt.Sprint("id", i))
		if _, ok := hear(d, 0, "sybil", plain.Of(p, []summary.Fingerprint{summary.Fingerprint(i), 7, 8, 9})); !ok {
			continue
		}
		if r, _ := hear(d, 0, "sybil", plain.Of(p, []summary.Fingerprint{summary.Fingerprint(i), 17, 18, 19, 20})); r.Fault != event.FaultTwin {
			t.Fatalf("%d: %+v", i, r)
		}
		if e := d.Add(0, "sybil", wire.Tag(plain.Tag, string(p))); e != nil {
			t.Fatalf("%v is banned, and known", e)
		}
		d.Shed(0, nobody, noCall)
	}
	banned = len(d.bans.order)
	d.Close("sybil")
	keep(d, later)
	d.Open("honest", "")
	_, taken = hear(d, later, "honest", plain.Of("good", []summary.Fingerprint{1, 2, 3}))
	if err := d.Check(later); err != nil {
		t.Error(err)
	}
	return banned, taken
}

func TestTwins(t *testing.T) {
	if n, taken := twins(t, Config{}, time.Second); n == 0 || n > slack(100_000)/entryMemory || !taken {
		t.Errorf("%d are banned, an honest origin is taken in: %v", n, taken)
	}
	if n, taken := twins(t, Config{Limits: Limits{Bans: math.MaxInt, BanFor: math.MaxInt64 / 2}}, 24*time.Hour); n == 0 || taken {
		t.Errorf("without bounds, %d are banned, an honest origin is taken in a day later: %v", n, taken)
	}
}

func TestBansEnd(t *testing.T) {
	b := newBans(Limits{Bans: 1000, BanFor: banFor})
	b.add(0, 1)
	b.add(time.Hour, 2)
	b.add(2*time.Hour, 1) // no longer for that
	if !b.has(banFor-1, 1) || b.has(banFor, 1) || !b.has(banFor, 2) || b.has(0, 3) {
		t.Errorf("%+v", b)
	}
	b.add(banFor+time.Minute, 3)
	if len(b.order) != 2 || len(b.until) != 2 {
		t.Errorf("what has ended is remembered: %+v", b)
	}
}

// groupLie returns whether two peers are known whose group of addresses a liar has filled with records: a linked one,
// and one with a summary.
func groupLie(t *testing.T, cfg Config) (linked, proven bool) {
	cfg.Memory, cfg.MaxOrigins, cfg.MaxGroup = 64<<20, 1000, 8
	cfg.Group = func(wire.Record) string { return "same" }
	d := alone(rand.New(rand.NewPCG(1, 4)), cfg)
	d.Open("liar", "")
	for i := range 64 {
		d.LearnRecord(0, "liar", record(wire.PeerID(fmt.Sprint("ghost", i))))
	}
	if n := d.groups["same"]; n != 8 {
		t.Fatalf("%d ghosts fill the group, want 8", n)
	}
	_, proven = hear(d, 0, "liar", plain.Of("good", []summary.Fingerprint{1, 2, 3}))
	d.Open("near", "")
	_, linked = hear(d, 0, "near", plain.Of("near", []summary.Fingerprint{4, 5, 6}))
	if err := d.Check(0); err != nil {
		t.Error(err)
	}
	d.Close("near")
	if n := d.groups["same"]; n > 8 {
		t.Errorf("%d of one group that are not linked", n)
	}
	return linked, proven
}

func TestGroupFullOfLies(t *testing.T) {
	if linked, proven := groupLie(t, Config{}); !linked || !proven {
		t.Errorf("a linked peer is known: %v, one with a summary: %v", linked, proven)
	}
}
