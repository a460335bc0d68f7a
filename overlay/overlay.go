package overlay

import (
	"fmt"
	"math"
	"time"

	"github.com/venn-p2p/venn/overlay/index"
	"github.com/venn-p2p/venn/summary"
)

// Overlay is the machine. Make one with [New]; the zero value is not usable. It is not safe for concurrent use.
type Overlay struct {
	cfg                      Config
	declaredUp, declaredDown uint64 // 0: not declared
	now                      time.Duration
	session                  uint64
	effects                  []Effect
	steps                    int

	entries []*entry       // by index; nil: free. The first are this node's own: 0, and 1 under the previous seed if there is one
	owns    int            // how many are our own
	byTag   map[uint64]int // origin tag → index
	free    []int
	pending int                // entries of which no summary has come yet
	origins int                // entries with at least a sample, without our own
	held    int                // bytes of prefixes of others
	index   index.Index        // who may hold a key, by the entries' indexes; empty with Config.Loop
	overlap summary.Comparison // of our collection with each entry's sample

	previous *rotation // of the seed before; nil: there is none

	found   []int          // memory of queries
	groups  map[string]int // entries by group of addresses
	records int            // bytes of what is signed about others
	trimmed bool           // parts had to go, and are not asked for again
	crowded bool           // memory is full of samples: no new origin is asked for
	dropped int            // announcements ignored for want of room

	links  map[PeerID]*link
	order  []*link // by peer, so that map order never reaches an effect
	meshed map[PeerID]bool

	up, down budget // the node's own line, all links together
	sent     uint64 // bytes charged to up
	received uint64 // and to down, without what was only foreseen
	requests []request
	turn     int // which link is served first, in turn
	direct   int // direct fetches under way
	ownTurn  time.Duration

	copies  copies     // of our own parts
	notices notices    // of the whole line
	deltas  madeDeltas // of anybody's

	// What saves a look at all that is known when nothing has changed.
	planAt     time.Duration // nothing to ask for before then
	askUntil   time.Duration // no ask times out before then
	expireAt   time.Duration // no summary expires before then
	compactAt  time.Duration // no prefix is to become compact before then
	basesUntil time.Duration // no earlier epoch is forgotten before then
	sigma      float64       // see FalseMatches; unknownSigma when it has changed
	fadeAt     time.Duration // no answers count less before then
	swapAt     time.Duration // no look for a better neighbour before then
	estimate   bool          // there may be overlap to estimate

	neighbours  map[PeerID]*neighbour
	kinds       [kinds]int // of neighbours, how many
	nextTick    time.Duration
	nextChoice  time.Duration
	lastLearned time.Duration // when a new origin was last learned
	started     time.Duration
	begun       bool
}

const (
	forever      = time.Duration(math.MaxInt64)
	unknownSigma = -1.0
)

// New returns an overlay that knows nobody. It returns every fault of the configuration, joined.
func New(cfg Config) (*Overlay, error) {
	up, down := cfg.Up, cfg.Down
	cfg.defaults()
	if err := cfg.check(); err != nil {
		return nil, err
	}
	own := &entry{tag: cfg.Seed.OriginTag(string(cfg.Self)), peer: cfg.Self, ask: noAsk}
	o := &Overlay{
		cfg: cfg, declaredUp: up, declaredDown: down, session: cfg.Rand.Uint64(),
		askUntil: forever, expireAt: forever, basesUntil: forever, sigma: unknownSigma,
		entries: []*entry{own}, owns: 1, byTag: map[uint64]int{own.tag: 0},
		links: map[PeerID]*link{}, meshed: map[PeerID]bool{}, neighbours: map[PeerID]*neighbour{}, groups: map[string]int{},
		up:   newBudget(cfg.Share*float64(cfg.Up)/8, 0),
		down: newBudget(cfg.Share*float64(cfg.Down)/8, 0),
	}
	o.startRotation()
	return o, nil
}

// Step takes an input at a time (since an origin of the driver's choice; it never goes back) and returns what the
// driver must do. The effects are valid until the next Step. It panics on an input of an unknown type.
func (o *Overlay) Step(now time.Duration, in Input) []Effect {
	o.effects = o.effects[:0]
	o.steps++
	o.now = max(o.now, now)
	now = o.now
	if !o.begun {
		o.begun, o.started, o.lastLearned = true, now, now
		o.up.last, o.down.last = now, now
	}
	switch in := in.(type) {
	case Published:
		o.publish(now, in)
	case LinkOpened:
		o.openLink(now, in)
	case LinkClosed:
		o.closeLink(in)
	case Grafted:
		o.mesh(in.Peer, true)
	case Pruned:
		o.mesh(in.Peer, false)
	case HelloReceived:
		o.onHello(now, in)
	case CatalogueReceived:
		o.onCatalogue(now, in)
	case PartsReceived:
		o.onParts(now, in)
	case PartsRequested:
		o.onRequest(now, in)
	case FetchFailed:
		o.onFetchFailed(now, in)
	case DialFailed:
		o.onDialFailed(now, in)
	case Charged:
		o.onCharged(in)
	case Outcome:
		o.onOutcome(in)
	case Lost:
		o.onLost(now, in)
	case RoundTrip:
		o.onRoundTrip(in)
	case Tick:
	default:
		panic(fmt.Sprintf("overlay: unknown input %T", in))
	}
	o.shed()
	o.tick(now)
	return o.effects
}

// tick does what time brings, at most every tickEvery.
func (o *Overlay) tick(now time.Duration) {
	if now < o.nextTick {
		o.emit(Wake{At: o.nextWake()})
		return
	}
	o.nextTick = now + tickEvery
	o.up.refill(now)
	o.down.refill(now)
	for _, l := range o.order {
		l.out.refill(now)
	}
	o.timeOut(now)
	o.deltas.keys = 0
	if now >= o.nextChoice {
		o.nextChoice = now + neighbourEvery
		o.endRotation(now)
		o.expire(now)
		o.restore()
		o.compact(now)
		o.expireBases(now)
		o.deltas.expire(o.isNewest)
		o.fadeAnswers(now)
		o.chooseNeighbours(now)
		for _, l := range o.order {
			o.refreshHello(now, l)
			l.forgive(now)
			o.regain(now, l)
		}
	}
	o.trade(now)
	o.emit(Wake{At: o.nextWake()})
}

// nextWake is when there will be something to do, unless an input comes: at the next tick, or later if nothing waits for
// budget, for an answer or for its turn.
func (o *Overlay) nextWake() time.Duration {
	if len(o.requests) > 0 || !o.ownTold() {
		return o.nextTick
	}
	for _, l := range o.order {
		if len(l.queue) > 0 || l.heard && l.mesh && !l.untold.empty() {
			return o.nextTick
		}
	}
	return max(o.nextTick, min(o.nextChoice, o.planAt, o.askUntil))
}

func (o *Overlay) emit(e Effect) { o.effects = append(o.effects, e) }

// fault reports a linked peer's misbehaviour.
func (o *Overlay) fault(l *link, f Fault) { o.emit(Report{Peer: l.peer, Fault: f}) }

func (o *Overlay) onCharged(in Charged) {
	if l, ok := o.links[in.Peer]; ok {
		o.charge(l, in.Bytes)
	}
}

func (o *Overlay) onOutcome(in Outcome) {
	if e, ok := o.lookup(in.Peer); ok {
		e.add(in.Hits, in.Misses)
		if in.Misses > 0 && e.audit().Refuted() {
			o.swapSoon(0)
		}
	}
}

func (o *Overlay) onRoundTrip(in RoundTrip) {
	if e, ok := o.lookup(in.Peer); ok {
		e.rtt = in.RTT
	}
}

func (o *Overlay) onDialFailed(now time.Duration, in DialFailed) {
	_, linked := o.links[in.Peer]
	if !linked {
		o.loseNeighbour(in.Peer)
	}
	e, ok := o.lookup(in.Peer)
	if !ok {
		return
	}
	e.dialFails++
	e.retryAt = now + time.Duration(min(e.dialFails, 6))*redialAfter
}
