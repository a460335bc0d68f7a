package overlay

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// link is what is known of a connected peer, and what it and this node owe each other.
type link struct {
	peer     PeerID
	tag      uint64 // of the peer as an origin, under the present seed
	outbound bool
	mesh     bool  // in the pubsub mesh: announcements go to it
	heard    bool  // it has said hello: its rates are known, and parts may be traded
	hello    Hello // the last one, without records

	out      budget  // summary bytes to the peer
	pace     pace    // of what we send
	inRate   float64 // summary bytes a second that the peer may send us
	inPace   pace    // of what the peer sends
	inTrain  train   // of what the peer sends
	inFlight int     // predicted bytes asked of the peer and not yet come
	train    trainEnd

	notices   notices
	announced time.Duration // when something was last announced
	cursor    int           // directory index last looked at for announcements
	untold    marks         // directory indexes of which there may be something to announce

	useful  bool // it has brought something
	unkept  int  // asks in a row that brought nothing
	brought int  // pending entries that it told of first

	trades ledger
	asked  map[int]summary.Epoch // by directory index: the first epoch that it was asked for. What is older was never asked for
	queue  []int                 // directory indexes that the peer asked for, in order of arrival
	wants  map[int]*want
	blames map[int]*blame

	said   Hello // what we last told it, without records
	saidAt time.Duration
}

// want is what a peer asks of us: parts from..end-1 of an epoch.
type want struct {
	of        summary.Epoch
	from, end uint16
	bases     Bases         // epochs that it holds, to as many parts as it wants
	at        time.Duration // when it asked, or was last sent something
}

// blame is what speaks against asking a peer about an origin.
type blame struct {
	shunned  time.Duration // not asked about this origin before then
	failures uint8         // asks about this origin in a row that brought nothing
	noDelta  summary.Epoch // it is asked for parts of this epoch, for a delta to it did not apply
}

const (
	// maxAsks is the most origins that one link may ask for at a time.
	maxAsks = 1024
	// fewOrigins is how many peers a peer knows at most to be given records for that alone.
	fewOrigins = 4
	// helloShare of a line's burst may go to the records in one hello.
	helloShare = 1.0 / 32
	// patience with a peer that announced and did not deliver, before it is asked about that origin again.
	shunFor = 5 * time.Second
	// forgiveAfter is how long after a peer may be asked again its failures still count.
	forgiveAfter = 8 * shunFor
	// staleAsk is when an ask that could not be served is forgotten: the asker has turned to somebody else by then.
	staleAsk = 8 * time.Second
)

// trade returns the link's trade about directory index i, to be changed.
func (l *link) trade(i int) *trade { return l.trades.at(i) }

// known is a copy of the link's trade about a directory index, for reading.
func (l *link) known(i int) trade { return l.trades.known(i) }

// forget drops what was exchanged about a directory index.
func (l *link) forget(i int) {
	l.trades.forget(i)
	delete(l.asked, i)
	delete(l.wants, i)
	delete(l.blames, i)
}

// asks notes that the peer is asked for parts of an epoch of an origin.
func (l *link) asks(i int, e summary.Epoch) {
	if _, before := l.asked[i]; before {
		return
	}
	if l.asked == nil {
		l.asked = map[int]summary.Epoch{}
	}
	l.asked[i] = e
}

// blame returns what speaks against a peer in an origin's matters, to be changed.
func (l *link) blame(i int) *blame {
	b := l.blames[i]
	if b == nil {
		b = &blame{}
		if l.blames == nil {
			l.blames = map[int]*blame{}
		}
		l.blames[i] = b
		l.trade(i).blamed = true
	}
	return b
}

// shunned says whether a peer is not to be asked about an origin now.
func (l *link) shunned(now time.Duration, i int) bool {
	return l.known(i).blamed && now < l.blames[i].shunned
}

// forgive forgets what speaks against a peer and has long been over.
func (l *link) forgive(now time.Duration) {
	for i, b := range l.blames {
		if now >= b.shunned+forgiveAfter && b.noDelta == (summary.Epoch{}) {
			delete(l.blames, i)
			l.trade(i).blamed = false
		}
	}
}

func (o *Overlay) openLink(now time.Duration, in LinkOpened) {
	if _, ok := o.links[in.Peer]; ok || in.Peer == o.cfg.Self {
		return
	}
	l := &link{peer: in.Peer, tag: o.cfg.Seed.OriginTag(string(in.Peer)), outbound: in.Outbound, mesh: o.meshed[in.Peer], pace: newPace(), inPace: newPace()}
	l.out = newBudget(0, now)
	l.notices, l.cursor = notices{noticeBurst, now}, o.cfg.Rand.IntN(len(o.entries))
	l.untold.addAll(len(o.entries))
	o.links[in.Peer] = l
	at, _ := slices.BinarySearchFunc(o.order, l, byPeer)
	o.order = slices.Insert(o.order, at, l)
	if in.Outbound {
		o.sayHello(now, l, ownRecord) // the peer may not know whom it is talking to
	} else {
		o.sayHello(now, l, noRecords)
	}
}

func (o *Overlay) closeLink(in LinkClosed) {
	l, ok := o.links[in.Peer]
	if !ok {
		return
	}
	delete(o.links, in.Peer)
	delete(o.meshed, in.Peer)
	at, _ := slices.BinarySearchFunc(o.order, l, byPeer)
	o.order = slices.Delete(o.order, at, at+1)
	for _, e := range o.entries {
		if e != nil && e.ask.peer == in.Peer && e.ask.way == Pubsub {
			o.endAsk(e)
		}
	}
	o.loseNeighbour(in.Peer)
}

func byPeer(a, b *link) int { return cmp.Compare(a.peer, b.peer) }

// mesh notes that a peer entered or left the pubsub mesh. Pubsub may say so before the connection is known here.
func (o *Overlay) mesh(p PeerID, in bool) {
	if in {
		o.meshed[p] = true
	} else {
		delete(o.meshed, p)
	}
	if l, ok := o.links[p]; ok {
		l.mesh = in
	}
}

// onHello takes in what a peer says of itself.
func (o *Overlay) onHello(now time.Duration, in HelloReceived) {
	l, ok := o.links[in.Peer]
	if !ok {
		return
	}
	for _, r := range in.Hello.Records[:min(len(in.Hello.Records), MaxHelloRecords)] {
		o.learnRecord(l, r)
	}
	restarted := l.heard && l.hello.Session != in.Hello.Session
	if restarted {
		l.trades, l.asked, l.wants, l.blames = nil, nil, nil, nil
		l.untold.addAll(len(o.entries))
		l.queue = l.queue[:0]
	}
	l.hello = in.Hello
	l.hello.Records = nil
	if !l.heard && o.stranger(l) {
		defer o.sayHello(now, l, someRecords)
	}
	l.pace.report(in.Hello.Measured)
	if !l.heard { // what was said before the rate was known counts
		spent := Burst(0) - l.out.tokens
		l.out = newBudget(o.outRate(l), now)
		l.out.tokens -= spent
	}
	l.heard = true
	o.setRates(now, l)
	o.heardNeighbour(now, l)
}

// outRate is what may go to a peer, in bytes a second.
func (o *Overlay) outRate(l *link) float64 {
	return l.pace.of(o.cfg.Up, l.hello.Down, o.cfg.Share)
}

// setRates sets both rates of a link by what its ends declared or measured.
func (o *Overlay) setRates(now time.Duration, l *link) {
	if rate := o.outRate(l); rate != l.out.rate {
		l.out.refill(now)
		l.out.rate = rate
	}
	l.inRate = l.inPace.of(l.hello.Up, o.declaredDown, o.cfg.Share)
}

// onLost lowers a link that loses messages.
func (o *Overlay) onLost(now time.Duration, in Lost) {
	if l, ok := o.links[in.Peer]; ok && l.heard {
		l.pace.lose(now)
		o.setRates(now, l)
	}
}

// regain raises a link that has lost nothing for a while.
func (o *Overlay) regain(now time.Duration, l *link) {
	if l.heard {
		l.pace.regain(now)
		o.setRates(now, l)
	}
}

// trainEnd is the last message to a peer in a step.
type trainEnd struct{ step, effect int }

// sendParts emits a message to a link, and marks the one before it in the same step.
func (o *Overlay) sendParts(l *link, s SendParts) {
	if l.train.step == o.steps {
		before, _ := o.effects[l.train.effect].(SendParts)
		before.More = true
		o.effects[l.train.effect] = before
	}
	l.train = trainEnd{o.steps, len(o.effects)}
	o.emit(s)
}

// records says which records go with a hello.
type records uint8

const (
	noRecords records = iota
	ownRecord
	someRecords // our own and others
)

// sayHello tells a peer who we are.
func (o *Overlay) sayHello(now time.Duration, l *link, with records) {
	_, chosen := o.neighbours[l.peer]
	h := Hello{
		Up: o.declaredUp, Down: o.declaredDown, Measured: o.measured(l), FalseMatches: o.FalseMatches(), Origins: o.origins,
		Neighbour: chosen, Full: o.full(), Session: o.session,
	}
	l.said, l.saidAt = h, now
	if h.Measured > 0 {
		l.inPace.report(h.Measured)
		l.inTrain.forget()
		o.setRates(now, l)
	}
	h.Records = o.recordsFor(with)
	o.emit(SayHello{To: l.peer, Hello: h})
	o.charge(l, HelloBytes(h))
}

// measured is what a hello says of the trains that came in: nothing when our line is declared.
func (o *Overlay) measured(l *link) uint64 {
	if o.declaredDown > 0 || !l.heard {
		return 0
	}
	return l.inTrain.measured()
}

// stranger says whether a peer knows far fewer peers than we: it is given records of some.
func (o *Overlay) stranger(l *link) bool {
	return l.hello.Origins < fewOrigins || 4*l.hello.Origins < o.origins
}

// refreshHello repeats the hello when something in it that a peer acts upon has changed.
func (o *Overlay) refreshHello(now time.Duration, l *link) {
	if now-l.saidAt < helloEvery {
		return
	}
	f := o.FalseMatches()
	switch m := float64(o.measured(l)); {
	case m > 0 && (m > 1.25*l.inPace.rate || m < 0.8*l.inPace.rate && l.inPace.rate > leastRate):
		o.sayHello(now, l, noRecords)
	case l.heard && o.stranger(l) && o.origins > fewOrigins:
		o.sayHello(now, l, someRecords)
	case f < 0.5*l.said.FalseMatches || f > 2*l.said.FalseMatches || o.origins > 2*l.said.Origins:
		o.sayHello(now, l, noRecords)
	}
}

// charge counts bytes that go to a peer against the link's budget and the line's.
func (o *Overlay) charge(l *link, n int) {
	l.out.take(n)
	o.up.take(n)
	o.sent += uint64(n)
}
