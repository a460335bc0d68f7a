package admission

import (
	"math"
	"slices"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/venn-p2p/venn/overlay/bound"
)

const (
	maxGroups = bound.Many // most groups that a pool remembers
	maxPeers  = bound.Few  // most peers that a group remembers

	// window is the time over which demand is averaged. With twice as long a window, a flood is served for another second
	// before its share binds.
	window = time.Second
	// ahead is the time of its share by which a user may be ahead of it. Work of a whole window at once takes the
	// processors from the node's own.
	ahead = window / 4
	// lookEvery is the time between two computations of the level. The level is computed sooner after as much admitted
	// work: whoever asks for everything within an instant does not get it.
	lookEvery = 10 * time.Millisecond
	// known is the part of a group's share that its peers share. The rest is for new peers, and pays off what the group
	// owes. Without it, a group that owes a window's worth always does. Then the peer that asks for least at a time, and
	// most often, gets all.
	known = 15. / 16
)

// pool shares a rate of work over its users: the groups of a pool, or the peers of a group.
type pool struct {
	rate   float64                       // seconds of work a second
	most   int                           // most users that are remembered
	users  *simplelru.LRU[string, *user] // the one without work for longest goes first
	inner  func() *pool                  // makes the pool of peers of a new user; nil: users are peers
	level  float64                       // most that a user may have, in seconds a second; the rate while all ask for less
	looked time.Duration                 // when the level was last computed
	done   float64                       // seconds of work admitted since then
}

func newPool(rate float64, most int, inner func() *pool) *pool {
	users, err := simplelru.NewLRU[string, *user](most, nil)
	if err != nil {
		panic(err) // most is not above 0
	}
	return &pool{rate: rate, most: most, users: users, inner: inner, level: rate}
}

// user is a group or a peer.
type user struct {
	asked float64 // seconds of work asked for, fading over the window: the user's demand, in seconds a second
	at    time.Duration
	owed  float64       // seconds of work that the user has had, and that its share has not paid off yet
	paid  time.Duration // when the share last paid
	peers *pool         // peers of a group; nil for a peer
}

// user notes that a user asks for work, and returns it.
func (p *pool) user(now time.Duration, name string, work float64) *user {
	u := p.account(name)
	if u == nil {
		u = &user{at: now, paid: now}
		if p.inner != nil {
			u.peers = p.inner()
		}
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
		p.users.RemoveOldest()
		p.users.Add(name, u)
	}
}

// demand returns the work that a user asks for, in seconds a second.
func (u *user) demand(now time.Duration) float64 {
	return u.asked * math.Exp(-(now-u.at).Seconds()/window.Seconds())
}

// look computes the level: the most that one user may have, so that all users together have no more than the rate.
func (p *pool) look(now time.Duration) {
	p.looked, p.done = now, 0
	demands := make([]float64, 0, p.users.Len())
	for _, u := range p.users.Values() {
		demands = append(demands, u.demand(now))
	}
	p.level = level(demands, p.rate)
}

// spread gives a group's pool of peers the group's rate.
func (p *pool) spread(now time.Duration, rate float64) {
	if rate != p.rate {
		p.rate = rate
		p.look(now)
	}
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
	u.owed = max(0, u.owed-float64(level*(now-u.paid).Seconds()))
	u.paid = now
}

// lacks returns the seconds until a user may have work, at a level; 0 if it may now. It may be [ahead] of its share.
// However dear the work is, half of that may be owed before.
func (u *user) lacks(work, level float64) float64 {
	most := float64(level * ahead.Seconds())
	return max(0, u.owed-max(most/2, most-work)) / level
}
