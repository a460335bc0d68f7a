package exchange

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// link is the exchange's part of a link's record: knowledge of the peer, and debts in both directions. Parts are traded
// once the peer is heard: its rates are known then.
type link struct {
	*directory.Link
	*standing
	cursor int32        // directory index last considered for announcements
	trades []*tradePage // trades by directory index, in pages; nil: no trades
	out    budget       // budget of summary bytes to the peer
	untold marks        // directory indexes with perhaps something to announce

	pace     pace        // rate at which we may send to the peer
	inRate   float64     // summary bytes a second that the peer may send us
	inPace   pace        // rate at which the peer may send to us
	inTrain  train       // measures the rate at which the peer's messages come in
	inFlight int         // predicted bytes asked of the peer and not yet come
	train    event.Place // place of the last parts sent to the peer, among the effects

	notices   budget        // bytes that announcements to the peer may take now
	theirs    budget        // bytes that the peer's announcements to us may take now
	announced time.Duration // when something was last announced

	asks  []wire.Item // our asks of this round, to go out with the catalogue
	wants []*want     // the peer's asks of us, in order of arrival

	said   said // values in our last hello to the peer
	saidAt time.Duration
}

// said holds the values in our last hello to a peer that change. The next hello is due when they have changed much.
type said struct {
	falseMatches            float64
	origins, network, depth int
}

// want is a peer's ask of us: parts from..end-1 of an epoch.
type want struct {
	index     int // directory index of the origin
	of        summary.Epoch
	from, end uint16        // end is 0 when nothing is left to send
	given     wire.Given    // the base: a summary of any origin that the peer holds
	at        time.Duration // when the peer asked, or was last sent something
}

const (
	// maxWants is the most origins that one link may want at a time.
	maxWants = bound.Many
	// staleWant is the age at which an unserved want is forgotten: the peer has asked another link by then.
	staleWant = agenda.Attempt
)

// trade has the announcements about one origin that one link and this node have made to each other. It takes 24 bytes.
type trade struct {
	theirs   summary.Epoch // newest epoch that the peer claims to hold
	have     uint16        // number of its parts that the peer claims to hold
	toldHave uint16        // parts of the newest epoch held here, as last announced to the peer; 0: none
	toldAt   time.Duration // when toldHave was announced
}

// claims notes that the peer claims to hold parts of an epoch. It reports whether that is more than was known.
func (t *trade) claims(e summary.Epoch, have uint16) bool {
	switch {
	case e.After(t.theirs):
		t.theirs, t.have = e, have
	case e == t.theirs && have > t.have:
		t.have = have
	default:
		return false
	}
	return true
}

// tells notes that we announced to the peer the number of parts that we hold of the newest epoch.
func (t *trade) tells(have int, now time.Duration) { t.toldHave, t.toldAt = uint16(have), now }

// tradePage holds the trades about consecutive directory indexes. A link has only pages in which it claimed or was told
// something. So origins that one link invents take no memory for the others.
type tradePage [32]trade

// trade returns the link's trade about a directory index.
func (l *link) trade(i int) trade {
	if page := i / len(tradePage{}); page < len(l.trades) && l.trades[page] != nil {
		return l.trades[page][i%len(tradePage{})]
	}
	return trade{}
}

// traded returns the link's trade about a directory index, to be changed.
func (l *link) traded(i int) *trade {
	page := i / len(tradePage{})
	if more := page + 1 - len(l.trades); more > 0 {
		l.trades = append(l.trades, make([]*tradePage, more)...)
	}
	if l.trades[page] == nil {
		l.trades[page] = new(tradePage)
	}
	return &l.trades[page][i%len(tradePage{})]
}

// tellsNone forgets what we announced to the peer about a directory index.
func (l *link) tellsNone(i int) {
	if l.trade(i).toldHave > 0 {
		l.traded(i).toldHave = 0
	}
}

// forget drops what was exchanged about a directory index.
func (l *link) forget(i int) {
	if l.trade(i) != (trade{}) {
		*l.traded(i) = trade{}
	}
	l.wants = slices.DeleteFunc(l.wants, func(w *want) bool { return w.index == i })
}

// open begins to trade with a linked peer.
func (x *Exchange) open(now time.Duration, of *directory.Link) {
	x.at(now)
	l := &link{Link: of, standing: x.recall(now, of.Peer), pace: newPace(), inPace: newPace()}
	l.out = newBudget(0, now)
	l.cursor = int32(x.cfg.Rand.IntN(len(x.origins)))
	l.notices = budget{least: noticeBurst, tokens: noticeBurst, last: now}
	l.theirs = newBudget(0, now)
	l.untold.addAll(len(x.origins))
	at, _ := x.linkAt(of.Peer)
	x.links = slices.Insert(x.links, at, l)
}

// close ends all trade with a peer whose connection has ended.
func (x *Exchange) close(now time.Duration, p wire.PeerID) {
	at, _ := x.linkAt(p)
	x.part(now, x.links[at].standing)
	x.links = slices.Delete(x.links, at, at+1)
	for i := range x.origins {
		if e := &x.origins[i]; e.ask.peer == p && e.ask.way == event.Pubsub {
			x.endAsk(e)
		}
	}
}

// linkAt returns the index of the link to a peer among all links, and whether it is there.
func (x *Exchange) linkAt(p wire.PeerID) (at int, linked bool) {
	return slices.BinarySearchFunc(x.links, p, func(l *link, p wire.PeerID) int { return cmp.Compare(l.Peer, p) })
}

// link returns the link to a peer; nil if there is none.
func (x *Exchange) link(p wire.PeerID) *link {
	if at, linked := x.linkAt(p); linked {
		return x.links[at]
	}
	return nil
}

// outRate returns the rate at which summaries may go to a peer, in bytes a second.
func (x *Exchange) outRate(l *link) float64 {
	return l.pace.of(x.cfg.Up, l.Hello.Down, x.cfg.Share)
}

// setRates sets both rates of a link by what its ends declared or measured.
func (x *Exchange) setRates(now time.Duration, l *link) {
	if rate := x.outRate(l); rate != l.out.rate {
		l.out.refill(now)
		l.out.rate = rate
	}
	l.inRate = l.inPace.of(l.Hello.Up, x.cfg.DeclaredDown, x.cfg.Share)
}

// Lost lowers the rate of a link that lost a message.
func (x *Exchange) Lost(now time.Duration, p wire.PeerID) {
	if l := x.link(p); l != nil && l.Heard {
		l.pace.lose(now)
		x.setRates(now, l)
	}
}

// Settle lets a link recover from old losses and old failures to deliver.
func (x *Exchange) Settle(now time.Duration, p wire.PeerID) {
	l := x.link(p)
	l.age(now)
	if l.Heard {
		l.pace.regain(now)
		x.setRates(now, l)
	}
}

// Charge counts bytes that go to a peer against the link's budget and the line's.
func (x *Exchange) Charge(p wire.PeerID, n int) {
	if l := x.link(p); l != nil {
		x.charge(l, n)
	}
}

func (x *Exchange) charge(l *link, n int) {
	l.out.take(n)
	x.up.take(n)
	x.sent += uint64(n)
}

// received counts bytes that answer an ask. However many they are, the line's debt is one burst at most.
func (x *Exchange) received(n int) {
	x.down.take(n)
	x.down.tokens = max(x.down.tokens, -Burst(x.down.rate))
}

// unaskedShare is the share of our own line that messages without an ask may use up, all links together.
const unaskedShare = bound.Half

// receivedUnasked counts bytes that came without an ask against our own line, up to unaskedShare of it.
func (x *Exchange) receivedUnasked(n int) {
	x.uninvited.refill(x.now)
	n = min(n, int(max(0, x.uninvited.tokens)))
	x.uninvited.take(n)
	x.received(n)
}

// fault reports a linked peer's misbehaviour.
func (x *Exchange) fault(l *link, f event.Fault) { x.out.Emit(event.Report{Peer: l.Peer, Fault: f}) }
