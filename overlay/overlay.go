package overlay

import (
	"fmt"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/topology"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Overlay is the machine. Make one with [New]; the zero value is not usable. It is not safe for concurrent use.
type Overlay struct {
	cfg     Config
	session uint64
	now     time.Duration
	begun   bool
	effects event.Effects

	directory *directory.Directory
	exchange  *exchange.Exchange
	topology  *topology.Topology
	region    *region.Region

	due agenda.Agenda
}

// The tasks that are done only when due.
const (
	dueTick   = iota // budgets are credited, and waiting messages are sent
	dueChoice        // entries are tidied, and neighbours are chosen
	dueTasks         // number of tasks
)

// New returns an overlay without other peers, or an error that joins every fault of the configuration.
func New(cfg Config) (*Overlay, error) {
	up, down := cfg.Up, cfg.Down
	cfg.defaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	o := &Overlay{cfg: cfg, session: cfg.Rand.Uint64(), directory: directory.New(cfg.directory()), due: agenda.New(dueTasks)}
	o.topology = topology.New(cfg.topology(), o.directory)
	o.exchange = exchange.New(cfg.exchange(up, down), &o.effects, o.directory)
	o.region = region.New(o.cfg.region(), o.directory, o.exchange)
	return o, nil
}

// Step takes an input and its time, counted from a moment of the driver's choice, and returns the effects that the
// driver must carry out. They are valid until the next Step. It panics when time goes back, and on an input of an
// unknown type.
func (o *Overlay) Step(now time.Duration, in event.Input) []event.Effect {
	if now < o.now {
		panic(fmt.Sprintf("overlay: time goes back from %v to %v", o.now, now))
	}
	o.effects.Begin()
	o.now = now
	o.region.At(now)
	if !o.begun {
		o.begun = true
		o.exchange.Begin(now)
		o.region.Begin(now)
		o.topology.Begin(now)
	}
	o.take(now, in)
	o.directory.Shed(now, o.topology.IsNeighbour, o.noRoomFor)
	o.pass()
	o.tick(now)
	return o.effects.List()
}

// take passes an input to the machines that it concerns.
func (o *Overlay) take(now time.Duration, in event.Input) {
	switch in := in.(type) {
	case event.Published:
		o.publish(now, in)
	case event.LinkOpened:
		o.openLink(now, in)
	case event.LinkClosed:
		o.directory.Close(in.Peer)
		o.pass()
	case event.Meshed:
		if l := o.directory.Link(in.Peer); l != nil {
			l.Meshed = in.In
		}
	case event.HelloReceived:
		o.onHello(now, in)
	case event.LinkRefused:
		o.onLinkRefused(now, in)
	case event.CatalogueReceived:
		o.onCatalogue(now, in)
	case event.PartsReceived:
		o.onParts(now, in)
	case event.DialFailed:
		if !in.Here {
			o.directory.DialFailed(in.Peer)
		}
		o.topology.DialFailed(now, in.Peer)
	case event.Charged:
		o.exchange.Charge(in.Peer, in.Bytes)
	case event.Outcome:
		if o.directory.Outcome(now, in.Peer, in.Hits, in.Misses) {
			o.topology.Refuted(now)
		}
		if e := o.directory.Lookup(in.Peer); e != nil && in.Misses > 0 {
			o.topology.Missed(now, e)
			o.act(now)
		}
	case event.Lost:
		if !in.Tails {
			o.exchange.Lost(now, in.Peer)
		}
	case event.RoundTrip:
		o.directory.RoundTrip(in.Peer, in.RTT)
	case event.Asked:
		o.onAsked(now, in)
	case event.Answered:
		o.onAnswered(now, in)
	case event.ContactAnswered:
		o.region.ContactAnswered(in)
	case event.ContactsWanted:
		o.onContactsWanted(in)
	case event.Tick:
	default:
		panic(fmt.Sprintf("overlay: unknown input %T", in))
	}
}

// onAsked passes a question of a peer to the machine that answers it.
func (o *Overlay) onAsked(now time.Duration, in event.Asked) {
	switch q := in.Question.(type) {
	case wire.PartsRequest:
		o.exchange.Request(now, in, q, o.directory.Tagged(q.Group.OriginTag()))
	case wire.Inquiry:
		o.onInquiry(now, in, q)
	case wire.Hello:
		o.onHelloRefused(now, in, q)
	}
}

// onAnswered passes on the answer to a question of ours, or the failure of the question.
func (o *Overlay) onAnswered(now time.Duration, in event.Answered) {
	from := in.To.Peer
	switch q := in.Question.(type) {
	case wire.PartsRequest:
		if p, ok := in.Answer.(wire.Parts); ok && !p.Refused {
			o.onParts(now, event.PartsReceived{From: from, Transport: event.Direct, Group: q.Group, Parts: p, Bytes: in.Bytes})
		} else if e := o.directory.Tagged(q.Group.OriginTag()); e != nil {
			o.exchange.FetchFailed(now, from, e.Index())
		}
	case wire.Inquiry:
		if names, ok := in.Answer.(wire.Names); ok {
			o.onNames(now, from, names)
		} else {
			o.onNoNames(from, in.Here)
		}
	}
}

// pass informs the other machines of the changes in the directory.
func (o *Overlay) pass() {
	for _, c := range o.directory.Changes() {
		switch c.Kind {
		case directory.Added:
			o.exchange.Added(c.Entry, o.directory.Place(c.Entry))
			o.region.Changed()
			continue
		case directory.Renewed:
			o.topology.Renewed(c.Entry.Index())
			o.region.Changed()
		case directory.Removed:
			o.topology.Removed(c.Entry.Index())
			o.region.Changed()
		case directory.Unlinked:
			o.topology.Close(c.Link.Peer)
		}
		o.exchange.Changed(o.now, c)
	}
}

// act carries out the acts of the topology. A hello that only refuses a neighbour is sent only while the line and the
// link have bytes left: a peer could ask without end.
func (o *Overlay) act(now time.Duration) {
	for _, a := range o.topology.Acts() {
		switch {
		case a.Effect != nil:
			o.effects.Emit(a.Effect)
		case a.Neighbour || !a.Full || o.exchange.Room(now, a.To) > 0:
			o.sayHello(now, a.To, exchange.NoRecords, a.Neighbour, a.Full)
		}
	}
}

// publish makes a new epoch of our own known to the directory, the exchange and the region.
func (o *Overlay) publish(now time.Duration, in event.Published) {
	if e := o.directory.Publish(now, in); e != nil {
		o.exchange.Published(now, e.Index())
		o.region.Published(now)
	}
}

func (o *Overlay) openLink(now time.Duration, in event.LinkOpened) {
	if o.directory.Open(in.Peer, in.Group) == nil {
		return
	}
	o.pass()
	with := exchange.NoRecords
	if in.Outbound {
		with = exchange.OwnRecord // the peer may not have our record
	}
	o.hello(now, in.Peer, with)
}

// onCatalogue handles the items of a linked peer's catalogue.
func (o *Overlay) onCatalogue(now time.Duration, in event.CatalogueReceived) {
	if !o.exchange.Came(now, in.From, in.Bytes) {
		return
	}
	for _, it := range in.Items {
		asked := it.Want > it.Have && o.directory.Tagged(it.Group.OriginTag()) != nil
		if !asked && !o.exchange.Hears(in.From) {
			continue
		}
		e := o.directory.Add(now, in.From, it.Group.OriginTag())
		o.pass()
		if e == nil {
			continue
		}
		if !o.exchange.Line(in.From, e.Index(), it) {
			return
		}
		o.directory.Offer(e, o.exchange.Offers(e))
	}
	o.exchange.ServeAtOnce(now, in.From)
}

// onParts has the directory verify and keep a run or a delta that came. The exchange learns the outcome.
func (o *Overlay) onParts(now time.Duration, in event.PartsReceived) {
	of := o.directory.Foreign(in.Group.OriginTag())
	o.exchange.Arrived(now, in, of)
	a, ok := o.exchange.Admit(in, of)
	if !ok {
		return
	}
	r := o.directory.Take(now, a.Entry(), in)
	o.pass()
	if r.Learned != nil {
		o.effects.Emit(*r.Learned)
	}
	o.exchange.Took(now, a, r)
}

// tick does what is due, at most every tickEvery.
func (o *Overlay) tick(now time.Duration) {
	if o.due.Take(dueTick, now) {
		o.due.By(dueTick, now+tickEvery)
		o.exchange.Refill(now)
		o.chooseDepth(now)
		o.forgetOutside(now)
		o.keepToRoom()
		if o.due.Take(dueChoice, now) {
			o.due.By(dueChoice, now+agenda.Beat)
			o.tidy(now)
			o.comeBack(now)
			o.forgetInquiries(now)
			o.region.Survey()
			o.exchange.SetFocus(o.region.Focus())
			o.choose(now)
			o.refreshLinks(now)
		}
		o.acquaint(now)
		o.exchange.Round(now, o.region.SlowStart(now))
		for _, i := range o.exchange.Asked() {
			o.directory.Asked(now, i)
		}
	}
	o.effects.Emit(event.Wake{At: o.nextWake()})
}

// tidy removes stale entries, unless a link still offers parts of them. It has the directory compact prefixes, drop old
// bases and fade answers. It forgets deltas to epochs that are no longer the newest.
func (o *Overlay) tidy(now time.Duration) {
	stale := o.directory.Step(now)
	o.pass()
	for _, s := range stale {
		if !s.Offerable || !o.exchange.Offered(s.Index) {
			o.directory.Remove(s.Index)
		}
	}
	o.directory.Tidy(now)
	o.pass()
	for _, e := range o.directory.Others() {
		if e != nil {
			o.directory.Offer(e, o.exchange.Offers(e))
		}
	}
	o.exchange.ForgetDeltas()
}

// choose makes the directory estimate overlaps, and the topology choose neighbours.
func (o *Overlay) choose(now time.Duration) {
	if o.directory.Estimate() {
		o.topology.Estimated(now)
	}
	o.topology.Choose(now, topology.Known{
		Idle: o.exchange.Idle, Within: o.region.Within(), Starting: o.region.Starting(now),
		Parts: o.region.Parts(), Depth: o.region.Depth(),
	})
	o.act(now)
}

// refreshLinks repeats hellos whose contents have changed, and lets links recover from old losses.
func (o *Overlay) refreshLinks(now time.Duration) {
	for _, l := range o.directory.Links() {
		if with, due := o.exchange.HelloDue(now, l.Peer, o.directory.FalseMatches(), o.directory.Origins(), int(o.region.Size()), o.region.FarWider()); due {
			o.hello(now, l.Peer, with)
		}
		o.exchange.Settle(now, l.Peer)
	}
}

// nextWake returns the time at which there is something to do, unless an input comes: the next tick, or later if
// nothing waits for budget, for an answer or for its turn.
func (o *Overlay) nextWake() time.Duration {
	if o.exchange.Waiting() {
		return o.due.At(dueTick)
	}
	return max(o.due.At(dueTick), min(o.due.At(dueChoice), o.exchange.Due(), o.region.Due()))
}
