package region

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

func sign(id wire.PeerID, fps []summary.Fingerprint) plain.Origin {
	return plain.New(id, fps, summary.Header{Lifetime: 2 * time.Hour})
}

// world is a region beside a directory and an exchange. It passes inputs on as package overlay does, as far as these
// tests need it.
type world struct {
	*Region
	effects event.Effects
	second  time.Duration // when a second is over
}

func alone(t testing.TB, rng *rand.Rand, cfg Config) *world {
	t.Helper()
	const line = 16_000_000
	if cfg.Self == "" {
		cfg.Self = "self"
	}
	cfg.Memory, cfg.MaxOrigins, cfg.OpenRecord, cfg.Rand = 64<<20, 1<<17, plain.OpenRecord, rng
	d := directory.New(directory.Config{
		Self: cfg.Self, Seed: plain.Tag, Memory: cfg.Memory, MaxOrigins: cfg.MaxOrigins, Rand: rng, Compared: 12,
		OpenHeader: summary.ParseHeader, OpenRecord: plain.OpenRecord,
	})
	w := &world{}
	x := exchange.New(exchange.Config{Self: cfg.Self, Up: line, Down: line, Share: 1.0 / 3, Rand: rng}, &w.effects, d)
	w.Region = New(cfg, d, x)
	t.Cleanup(func() {
		if err := w.check(); err != nil {
			t.Errorf("at the end: %v", err)
		}
	})
	return w
}

func (o *world) check() error {
	return errors.Join(o.directory.Check(o.now), o.exchange.Check(o.now), o.Check())
}

// pass tells the exchange and the region what has changed in the directory.
func (o *world) pass() {
	for _, c := range o.directory.Changes() {
		switch c.Kind {
		case directory.Added:
			o.exchange.Added(c.Entry, o.directory.Place(c.Entry))
			o.Changed()
			continue
		case directory.Renewed, directory.Removed:
			o.Changed()
		}
		o.exchange.Changed(o.now, c)
	}
}

// step gives a world an input, and holds it to its invariants.
func step(t testing.TB, o *world, now time.Duration, in event.Input) []event.Effect {
	t.Helper()
	o.effects.Begin()
	o.At(now)
	switch in := in.(type) {
	case event.Published:
		o.exchange.Published(now, o.directory.Publish(now, in).Index())
		o.Published(now)
	case event.LinkOpened:
		o.directory.Open(in.Peer, in.Group)
	case event.LinkClosed:
		o.directory.Close(in.Peer)
	case event.HelloReceived:
		o.exchange.Hear(now, in.Peer, in.Hello)
		o.Hear(now, in.Peer)
	case event.DialFailed:
		o.directory.DialFailed(in.Peer)
	case event.Answered:
		if names, ok := in.Answer.(wire.Names); ok {
			o.onNames(now, in.To.Peer, names)
		} else {
			o.onNoNames(in.To.Peer, in.Here)
		}
	case event.Tick:
		o.tick(now)
	default:
		t.Fatalf("unknown input %T", in)
	}
	o.pass()
	if err := o.check(); err != nil {
		t.Fatalf("at %v, after %T: %v", now, in, err)
	}
	return o.effects.List()
}

func (o *world) tick(now time.Duration) {
	o.At(now)
	o.exchange.Refill(now)
	o.Fit(now)
	if now >= o.second {
		o.second = now + time.Second
		for _, p := range o.Overdue(now) {
			o.onNoNames(p, true)
		}
		o.Survey()
	}
	o.acquaint(now)
}

func (o *world) acquaint(now time.Duration) {
	if to, q, ok := o.Inquire(now); ok {
		o.effects.Emit(event.Ask{To: to, Question: q})
	}
}

// ask has a peer asked out of turn.
func (o *world) ask(to wire.PeerID) { o.awaited[to] = inquiry{since: o.now} }

func (o *world) onNames(now time.Duration, from wire.PeerID, names wire.Names) {
	if !o.Answered(now, from, names.Depth) {
		return
	}
	for _, n := range names.Peers {
		o.Nearer(from, n.Record)
		switch {
		case o.directory.Lookup(n.Record.Peer) != nil || string(n.Record.Envelope) != string(n.Record.Peer):
		case !o.Range().Contains(n.Record.Peer.Place()):
			o.Learned(o.Elsewhere(now, n))
		default:
			o.directory.LearnRecord(now, from, n.Record)
			if _, known := o.directory.RecordOf(n.Record.Peer); known {
				o.Learned(OneNear)
			}
		}
		o.pass()
	}
	for _, i := range names.Introductions {
		if o.introduce(now, from, i) {
			o.Learned(OneAlike)
		}
	}
	o.contactsNamed(from)
}

func (o *world) introduce(now time.Duration, from wire.PeerID, i wire.Parts) bool {
	h, err := summary.ParseHeader(i.Envelope)
	if err != nil || h.Origin == string(o.cfg.Self) {
		return false
	}
	e := o.directory.Invite(now, from, wire.GroupOf(h).OriginTag())
	o.pass()
	if e == nil || e.Unwanted(now) {
		return false
	}
	r := o.directory.Take(now, e, event.PartsReceived{
		From: from, Transport: event.Direct, Group: wire.GroupOf(h), Parts: wire.Parts{Envelope: i.Envelope, Record: i.Record, Run: i.Run},
	})
	o.directory.Judge(e)
	o.pass()
	return r.Learned != nil
}

func (o *world) onNoNames(from wire.PeerID, here bool) {
	if o.Silent(from, here) {
		if !here {
			o.directory.DialFailed(from)
		}
		o.contactsNamed(from)
	}
}

func (o *world) onContactsWanted(in event.ContactsWanted) {
	to, q := o.Want(in.Search, in.Ask)
	for _, r := range to {
		o.effects.Emit(event.Ask{To: r, Question: q, Search: in.Search})
	}
	o.effects.Emit(event.ContactsNamed{Search: in.Search, Asked: len(to), Awaited: o.AwaitedBy(in.Search)})
}

func (o *world) contactsNamed(from wire.PeerID) {
	for _, search := range o.Release(from) {
		o.effects.Emit(event.ContactsNamed{Search: search, Awaited: o.AwaitedBy(search)})
	}
}
