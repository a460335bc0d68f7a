package exchange

import (
	"cmp"
	"time"

	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Exchange is the machine. Make one with [New]; the zero value is not usable. It is not safe for concurrent use.
type Exchange struct {
	cfg       Config
	directory *directory.Directory // only read
	out       *event.Effects
	now       time.Duration

	focus focus // range whose summaries are asked for first

	origins []origin // origins by directory index
	owns    int      // number of our own origins; they come first

	links []*link // the directory's links, in the same order

	up, down  budget          // the node's own line, all links together
	uninvited budget          // the part of down that messages without an ask may use
	sent      uint64          // bytes charged to up
	came      uint64          // bytes that came, asked for or not
	news      uint64          // the part of came that was announcements
	served    *admission.Gate // admits answers to other peers, in seconds of our own line
	requests  []*request
	turn      int // picks the link that is served first
	direct    int // direct fetches under way
	ownTurn   time.Duration
	asked     []int           // entries that links were asked about in the last round
	offers    []offer         // memory that each plan uses again
	gathers   time.Duration   // no plan before this time: our own line is used up
	doubted   bool            // there are links without credit
	rests     []time.Duration // by directory index: when the planner considers the origin again; Never: once woken

	notices budget     // bytes that announcements may take of the whole line
	deltas  madeDeltas // the latest deltas made, of any origin

	parted []*standing // standings of peers whose links have closed, the first to close first

	due agenda.Agenda
}

// The tasks that are done only when due.
const (
	duePlan  = iota // the planner may find something to ask for
	dueAsks         // an ask times out
	dueTasks        // number of tasks
)

// Config holds the parameters of an [Exchange]. All must be set, unless their comments say otherwise; package overlay
// has the defaults.
type Config struct {
	Self                     wire.PeerID
	Up, Down                 uint64       // assumed rates of our own line, bit/s
	DeclaredUp, DeclaredDown uint64       // declared rates of our own line, bit/s; 0: not declared
	Share                    float64      // share of a line's rate that summaries may use, in (0, 1]
	Cache                    *cache.Cache // relative runs that are shared with other exchanges; nil: none
	Rand                     Rand
	Limits                   Limits
}

// Limits bounds what others can make an exchange believe, and how long it remembers them. Zero values mean the stated
// defaults, and nodes use no other values. Tests and experiments loosen a limit to show the attack that it withstands.
type Limits struct {
	Credit   float64       // number of broken claims from which on a link is asked only after others; 0: 8
	Remember time.Duration // how long a peer's standing outlives its session and link; 0: 10 min. Below 0: not at all
	Boasters int           // one in this number of linked peers may overstate how many peers it knows; 0: 3
}

func (l *Limits) defaults() {
	l.Credit, l.Remember = cmp.Or(l.Credit, fullCredit), cmp.Or(l.Remember, agenda.Faded)
	l.Boasters = cmp.Or(l.Boasters, space.Voices)
}

// Rand is the only source of randomness.
type Rand interface {
	IntN(n int) int
	Int64N(n int64) int64
}

// New returns an exchange without links, beside a directory. It appends its effects to out.
func New(cfg Config, out *event.Effects, d *directory.Directory) *Exchange {
	cfg.Limits.defaults()
	x := &Exchange{
		cfg: cfg, directory: d, out: out, owns: d.Owns(), due: agenda.New(dueTasks),
		up:      newBudget(cfg.Share*float64(cfg.Up)/8, 0),
		served:  admission.New(0.5, 2*bound.Few), // so many requests of links may wait, and as many of other peers
		notices: budget{least: noticeBurst},
		down:    newBudget(cfg.Share*float64(cfg.Down)/8, 0), uninvited: newBudget(unaskedShare*cfg.Share*float64(cfg.Down)/8, 0),
	}
	for _, e := range d.Owned() {
		x.origins, x.rests = append(x.origins, origin{Entry: e, place: cfg.Self.Place()}), append(x.rests, agenda.Never)
	}
	return x
}

// Begin starts the clock of the budgets.
func (x *Exchange) Begin(now time.Duration) { x.up.last, x.down.last, x.uninvited.last = now, now, now }

func (x *Exchange) at(now time.Duration) { x.now = now }

// Changed notes a change in the directory, except an added entry.
func (x *Exchange) Changed(now time.Duration, c directory.Change) {
	switch c.Kind {
	case directory.Linked:
		x.open(now, c.Link)
		return
	case directory.Unlinked:
		x.close(now, c.Link.Peer)
		return
	}
	e := x.originOf(c.Entry)
	if e == nil {
		return
	}
	switch c.Kind {
	case directory.Renewed:
		x.renewed(e)
	case directory.Grown:
		x.toTell(e)
		x.wake(e)
	case directory.Reopened:
		x.wake(e)
	case directory.Withdrawn:
		x.endAsk(e)
	case directory.Removed:
		x.endAsk(e)
		x.forget(e)
	}
}

// forget drops all that was exchanged about an origin.
func (x *Exchange) forget(e *origin) {
	for _, l := range x.links {
		l.forget(e.Index())
	}
	x.rests[e.Index()] = agenda.Never
	*e = origin{}
}

// renewed notes a newer epoch of an origin, which we have announced to no link.
func (x *Exchange) renewed(e *origin) {
	e.refusals = 0
	for _, l := range x.links {
		l.tellsNone(e.Index())
	}
}

// toTell marks an origin for every link as one to announce, if need be.
func (x *Exchange) toTell(e *origin) {
	for _, l := range x.links {
		l.untold.add(e.Index())
	}
}

// Published notes a new epoch of an entry of our own.
func (x *Exchange) Published(now time.Duration, i int) {
	e := &x.origins[i]
	x.renewed(e)
	if i > 0 {
		x.toTell(e)
		return
	}
	x.ownTurn = now
}

// Refill credits the budgets of the line and of all links for the time passed, and ends the asks past their deadline.
func (x *Exchange) Refill(now time.Duration) {
	x.at(now)
	x.up.refill(now)
	x.down.refill(now)
	for _, l := range x.links {
		l.out.refill(now)
	}
	x.timeOut(now)
	x.deltas.keys = 0
}

// Asked returns the entries that links were asked about in the last round.
func (x *Exchange) Asked() []int { return x.asked }

// Asking returns the number of origins with an outstanding ask.
func (x *Exchange) Asking() (n int) {
	for i := range x.origins {
		if x.origins[i].ask.open() {
			n++
		}
	}
	return n
}

// Waiting reports whether the next round has something to do: something waits for budget or for its turn.
func (x *Exchange) Waiting() bool {
	if len(x.requests) > 0 || !x.ownTold() {
		return true
	}
	for _, l := range x.links {
		if len(l.wants) > 0 || x.tells(l) && !l.untold.empty() {
			return true
		}
	}
	return false
}

// Due returns the earlier of two times: the next plan's, if nothing happens before, and the next deadline of an ask.
func (x *Exchange) Due() time.Duration {
	return min(max(x.due.At(duePlan), x.gathers), x.due.At(dueAsks))
}
