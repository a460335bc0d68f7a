package testnet

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/node"
)

const (
	// MaxAdds is the largest number of keys a second that a peer may be asked to add.
	MaxAdds = 1000

	addedWithin = 10 * time.Second // longest time for which a finder looks for a key
	mostSought  = 24               // added keys a second that others look for: each finder dials the holder
	mostLookups = 4096             // lookups under way at one time; at the limit, peers wait before they add more
	mostAdded   = 1 << 16          // most keys that a peer adds: the plan has all of them
)

// Adds measures how soon keys are found that peers added while queries ran.
type Adds struct {
	Rate    float64              `json:"keys_per_second"`                    // keys a second, as planned for each peer
	Minutes float64              `json:"minutes"`                            // time until the last lookup was over
	Added   int                  `json:"keys_added"`                         // keys added; fewer if the host was slow
	Changed int                  `json:"keys_changed"`                       // keys added here, or changed by churn
	Within  float64              `json:"within_seconds"`                     // longest time of a lookup
	Tails   float64              `json:"tail_bytes_per_change_and_receiver"` // the part of All.Bytes that tails take
	Asked   float64              `json:"messages_a_key"`                     // query messages of all peers, per key waited for
	All     Freshness            `json:"all"`
	Classes map[string]Freshness `json:"classes"` // figures by the class of the finder's link
}

// Freshness measures how soon the peers of some links found keys that others had just added. A time that is null is
// longer than Adds.Within.
type Freshness struct {
	Keys      int      `json:"keys"`          // keys waited for
	Never     int      `json:"never_found"`   // keys not found within Adds.Within
	Wrong     int      `json:"wrong_holders"` // peers named, other than the one that added the key
	Recall    *float64 `json:"recall"`
	P50       *float64 `json:"p50_ms"` // time from the end of Add to the find that named the holder
	P99       *float64 `json:"p99_ms"`
	Bytes     float64  `json:"bytes_per_change_and_receiver"` // bytes of summaries and tails, with pubsub's own bytes
	BudgetUse float64  `json:"link_budget_use_max"`           // largest share of a link's budget used in a window
}

// adds has every peer add new keys while queries run, and others wait for each at once.
type adds struct {
	r       *run
	length  time.Duration
	randoms []*rand.Rand // sources of randomness, by member
	byClass [][]*member  // finders, by class of link
	lookups errgroup.Group

	began  time.Time
	before uint64        // messages of queries that all peers had sent before start
	asked  uint64        // messages of queries that all peers sent from start to stop
	tails  uint64        // bytes of tails that all peers sent: before start; once stopped, since start
	ended  time.Duration // since began
	mu     sync.Mutex
	added  int
	sought []sought // counts, by class of the finder's link
}

// sought counts the lookups by peers of one class of link.
type sought struct {
	took         []time.Duration // times of the lookups that found the holder
	never, wrong int

	bytes uint64  // bytes of summaries and tails sent to these peers
	use   float64 // largest share of its budget that a link to them used
}

func newAdds(r *run) *adds {
	a := &adds{r: r, length: r.cfg.length(), sought: make([]sought, len(r.cfg.Links))}
	seeds := r.cfg.random(adding)
	for range r.data.Peers() {
		a.randoms = append(a.randoms, rand.New(rand.NewPCG(seeds.Uint64(), seeds.Uint64())))
	}
	a.lookups.SetLimit(mostLookups)
	return a
}

// start has all peers begin to add keys. stop waits until all peers have ended that and the last lookup is over.
func (a *adds) start(ctx context.Context) (stop func()) {
	a.byClass = make([][]*member, len(a.sought))
	for _, m := range a.r.members {
		a.byClass[m.class] = append(a.byClass[m.class], m)
		m.meter.mark()
	}
	a.began, a.before = time.Now(), a.r.queryMessages()
	a.tails = a.r.tailBytes(ctx)
	var adders sync.WaitGroup
	for i, m := range a.r.members {
		adders.Go(func() { a.run(ctx, m, a.randoms[i]) })
	}
	return func() {
		adders.Wait()
		_ = a.lookups.Wait()
		a.ended = time.Since(a.began)
		a.tails = max(a.tails, a.r.tailBytes(ctx)) - a.tails
		a.count()
	}
}

// addsEach returns the largest number of keys that each peer adds: keys of the plan that nobody holds.
func (c *Config) addsEach() int {
	if c.Adds == 0 {
		return 0
	}
	return min(int(c.Adds*c.length().Seconds())+1, mostAdded)
}

// run has a peer add its keys at their times. Peers begin at different times.
func (a *adds) run(ctx context.Context, m *member, rng *rand.Rand) {
	pause, each := 1/a.r.cfg.Adds, a.r.cfg.addsEach()
	own := a.r.plan.Keys[a.r.plan.Held()+m.number*each:][:each]
	next := rng.Float64() * pause
	for _, key := range own {
		at := time.Duration(next * float64(time.Second))
		if at >= a.length || sleep(ctx, at-time.Since(a.began)) != nil || time.Since(a.began) > a.length {
			return
		}
		a.add(ctx, m, key, rng)
		next += pause
	}
}

// add has peer m add a key, and a peer of each class wait for it. Above mostSought keys a second, only some are
// awaited.
func (a *adds) add(ctx context.Context, m *member, key []byte, rng *rand.Rand) {
	var finders []*member
	for _, all := range a.byClass {
		others := len(all)
		if slices.Contains(all, m) {
			others--
		}
		if others == 0 {
			continue
		}
		f := all[rng.IntN(others)]
		if f == m {
			f = all[others] // m was drawn: the last one, which no draw gives, takes its place
		}
		finders = append(finders, f)
	}
	look := rng.Float64()*a.r.cfg.Adds*float64(len(a.r.members)) < mostSought
	if n, err := m.node.Add(ctx, key); n == 0 || err != nil {
		return
	}
	began := time.Now()
	a.mu.Lock()
	a.added++
	a.mu.Unlock()
	if !look {
		return
	}
	for _, f := range finders {
		a.lookups.Go(func() error { a.look(ctx, f, m, key, began); return nil })
	}
}

// look has a peer wait for a key. A lookup that was cut off by the end of the run does not count.
func (a *adds) look(run context.Context, finder, holder *member, key []byte, began time.Time) {
	ctx, cancel := context.WithDeadline(run, began.Add(addedWithin))
	defer cancel()
	found, wrong := false, 0
	for _, p := range finder.node.Watch(ctx, key) {
		if found = p.ID == holder.host.ID(); !found {
			wrong++
		}
	}
	took := time.Since(began)
	if !found && run.Err() != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.sought[finder.class]
	s.wrong += wrong
	if found && took <= addedWithin {
		s.took = append(s.took, took)
	} else {
		s.never++
	}
}

// tailBytes returns the number of bytes that all peers have sent in messages of tails.
func (r *run) tailBytes(ctx context.Context) (sum uint64) {
	for _, s := range r.poll(ctx) {
		sum += s.TailBytes
	}
	return sum
}

// queryMessages returns the number of messages of confirmations and queries that all peers have sent.
func (r *run) queryMessages() uint64 {
	return r.sent(func(id protocol.ID) bool { return is(id, node.HaveID, node.QueryID) }).messages
}

// count adds up the bytes sent to the peers of each class since start.
func (a *adds) count() {
	a.asked = a.r.queryMessages() - a.before
	for _, m := range a.r.members {
		for to, sent := range m.meter.marked() {
			n := a.r.roster.number(to)
			if n == stranger {
				continue
			}
			s := &a.sought[a.r.plan.Class[n]]
			s.bytes += sent.bytes
			s.use = max(s.use, a.r.linkUse(m, n, sent.worst))
		}
	}
}

// report sums up the lookups for each class of link, and over all classes.
func (a *adds) report() *Adds {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := &Adds{
		Rate: a.r.cfg.Adds, Minutes: a.ended.Minutes(), Added: a.added, Changed: a.added, Within: addedWithin.Seconds(),
		Classes: make(map[string]Freshness, len(a.sought)),
	}
	if c := a.r.churn; c != nil {
		out.Changed += c.added + c.removed
	}
	peers := len(a.r.plan.Class)
	// Each change has all peers but one as receivers, and all peers make the same number of changes.
	changes := float64(out.Changed) * float64(peers-1) / float64(peers)
	var all sought
	for i := range a.sought {
		class := 0
		for _, c := range a.r.plan.Class {
			if c == i {
				class++
			}
		}
		s := &a.sought[i]
		out.Classes[a.r.cfg.Links[i].Name] = s.report(changes * float64(class))
		all.merge(s)
	}
	out.All = all.report(changes * float64(peers))
	if received := changes * float64(peers); received > 0 {
		out.Tails = float64(a.tails) / received
	}
	out.Asked = float64(a.asked) / float64(max(1, out.All.Keys))
	return out
}

func (s *sought) merge(o *sought) {
	s.took = append(s.took, o.took...)
	s.never += o.never
	s.wrong += o.wrong
	s.bytes += o.bytes
	s.use = max(s.use, o.use)
}

// report returns the figures of some peers. received is the number of changes, each counted once for each receiver.
func (s *sought) report(received float64) Freshness {
	f := Freshness{Keys: len(s.took) + s.never, Never: s.never, Wrong: s.wrong, BudgetUse: s.use}
	slices.Sort(s.took)
	f.P50, f.P99 = s.quantile(0.5), s.quantile(0.99)
	if f.Keys > 0 {
		f.Recall = pointer(float64(len(s.took)) / float64(f.Keys))
	}
	if received > 0 {
		f.Bytes = float64(s.bytes) / received
	}
	return f
}

// quantile returns the time in milliseconds within which a share of all lookups found the holder; nil if fewer did.
// s.took must be sorted.
func (s *sought) quantile(share float64) *float64 {
	n := int(math.Ceil(share * float64(len(s.took)+s.never)))
	if n == 0 || n > len(s.took) {
		return nil
	}
	return pointer(millis(s.took[n-1]))
}
