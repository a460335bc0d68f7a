package admission

import (
	"math"
	"slices"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
)

const (
	maxUsers = bound.Many // most networks that a pool remembers
	maxParts = bound.Few  // most parts of a network, or principals, that it remembers

	// window is the time over which demand is averaged. With twice as long a window, a flood is served for another
	// second before its share binds.
	window = agenda.Beat
	// ahead is the time of its share by which a user may be ahead of it. Work of a whole window at once takes the
	// processors from the node's own.
	ahead = agenda.Tick
	// lookEvery is the time between two computations of the level. The level is computed sooner after as much admitted
	// work: whoever asks for everything within an instant does not get it.
	lookEvery = 10 * time.Millisecond
	// known is the part of a network's share that its parts share, if it has several. The rest is for new parts, and pays
	// off what the network owes. Without it, a network that owes a window's worth always does. Then the part that asks
	// for least at a time, and most often, gets all.
	known = 15. / 16
	// idle is the time after which a user that asks for nothing is forgotten. Its demand has faded to a fiftieth.
	idle = agenda.Patience
)

// pool shares a rate of work over its users: networks, the parts of one, or principals.
type pool struct {
	rate   float64                       // seconds of work a second
	lender *pool                         // its users leave this pool what they do not ask for; nil: nothing is left
	most   int                           // most users that are remembered
	users  *simplelru.LRU[string, *user] // the one without work for longest goes first
	level  float64                       // most that a user may have, in seconds a second; all there is while all ask for less
	asked  float64                       // what all asked for when the level was last computed, in seconds a second
	looked time.Duration                 // when the level was last computed
	done   float64                       // seconds of work admitted since then
}

func newPool(rate float64, most int) *pool {
	users, err := simplelru.NewLRU[string, *user](most, nil)
	if err != nil {
		panic(err) // most is not above 0
	}
	return &pool{rate: rate, most: most, users: users, level: rate}
}

// user is a network, or a principal.
type user struct {
	asked float64 // seconds of work asked for, fading over the window: the user's demand, in seconds a second
	at    time.Duration
	owed  float64       // seconds of work that the user has had, and that its share has not paid off yet
	paid  time.Duration // when the share last paid
	parts *pool         // shares the user's rate over its parts; nil: nobody has asked for one
}

// user notes that a user asks for work, and returns it.
func (p *pool) user(now time.Duration, name string, work float64) *user {
	u := p.account(name)
	if u == nil {
		u = &user{at: now, paid: now}
		p.users.Add(name, u)
	}
	u.asked, u.at = max(0, u.demand(now)+work/window.Seconds()), now
	if now >= p.looked+lookEvery || p.done >= p.rate*lookEvery.Seconds() {
		p.look(now)
	}
	u.pay(now, p.level)
	return u
}

// account returns the user of a name. A newcomer to a full pool has the account of the user that has had no work for
// longest, and takes it over with its first work. If each newcomer had a credit of its own, they would have any amount
// of work together. account returns nil if there is room for a new user.
func (p *pool) account(name string) *user {
	u, known := p.users.Peek(name)
	if !known && p.users.Len() == p.most {
		_, u, _ = p.users.GetOldest()
	}
	return u
}

// charge counts work that a user has had.
func (p *pool) charge(name string, u *user, work float64) {
	p.done += work
	u.owed += work
	if _, known := p.users.Get(name); !known {
		u.parts = nil // are the forgotten one's
		p.users.RemoveOldest()
		p.users.Add(name, u)
	}
}

// faded returns what is left of a demand after a time.
func faded(demand float64, after time.Duration) float64 {
	return demand * math.Exp(-after.Seconds()/window.Seconds())
}

// demand returns the work that a user asks for, in seconds a second.
func (u *user) demand(now time.Duration) float64 { return faded(u.asked, now-u.at) }

// left returns the part of the rate for which no user asks. p may be nil.
func (p *pool) left(now time.Duration) float64 {
	if p == nil {
		return 0
	}
	return max(0, p.rate-float64(faded(p.asked, now-p.looked)))
}

// look forgets idle users, and computes the level: the most that one user may have, so that all together have no more
// than the rate, and what the lender has left.
func (p *pool) look(now time.Duration) {
	p.looked, p.done, p.asked = now, 0, 0
	demands := make([]float64, 0, p.users.Len())
	for _, name := range p.users.Keys() {
		u, _ := p.users.Peek(name)
		if now-u.at > idle && u.owes(now, p.level) <= 0 {
			p.users.Remove(name)
			continue
		}
		d := u.demand(now)
		demands = append(demands, d)
		p.asked += d
	}
	p.level = level(demands, p.rate+p.lender.left(now))
}

// share returns the pool of a user's parts, which has the user's rate; see known.
func (u *user) share(now time.Duration, rate float64) *pool {
	if u.parts == nil {
		u.parts = newPool(rate, maxParts)
	}
	if u.parts.users.Len() > 1 {
		rate *= known
	}
	if u.parts.rate != rate {
		u.parts.rate = rate
		u.parts.look(now)
	}
	return u.parts
}

// level returns the most that one user may get, so that all users together get at most the rate. It returns the rate if
// all get what they ask for. It sorts the demands. O(n log n).
func level(demands []float64, rate float64) float64 {
	slices.Sort(demands)
	left := rate
	for i, d := range demands {
		if equal := left / float64(len(demands)-i); d > equal {
			return equal
		}
		left -= d
	}
	return rate
}

// pay pays off what the user owes by the time passed at a level.
func (u *user) pay(now time.Duration, level float64) {
	u.owed, u.paid = u.owes(now, level), now
}

// owes returns what the user owes still after the time passed at a level. It is below 0 if more was given back, up to
// what the user may be ahead.
func (u *user) owes(now time.Duration, level float64) float64 {
	if u.owed < 0 {
		return max(u.owed, -level*ahead.Seconds())
	}
	return max(0, u.owed-float64(level*(now-u.paid).Seconds()))
}

// lacks returns the seconds until a user may have work, at a level; 0 if it may now. It may be [ahead] of its share.
// However dear the work is, half of that may be owed before.
func (u *user) lacks(work, level float64) float64 {
	most := float64(level * ahead.Seconds())
	return max(0, u.owed-max(most/2, most-work)) / level
}
