package testnet

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/cache"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/workload"
)

const (
	meshLinks   = 2                      // links that every peer has once the mesh has formed
	meshTimeout = 30 * time.Second       // for the mesh to form; then the run goes on, and says so
	pollEvery   = 500 * time.Millisecond // of the nodes' status
	parallel    = 16                     // queries under way at one time, and nodes asked for their status
	cacheBytes  = 1 << 25                // of decoded summaries that no node holds just now, shared by all
	settleTime  = time.Minute            // for goroutines to end: it is waited for only while some are left
)

// Phase is what a run is at.
type Phase string

// The phases, in their order.
const (
	Starting  Phase = "peers start"
	Meshing   Phase = "mesh forms"
	Spreading Phase = "summaries spread"
	Querying  Phase = "queries run"
	Closing   Phase = "peers close"
)

// Progress says how far a run is.
type Progress struct {
	Phase       Phase
	Done, Total int // peers started, peers linked, pairs with one holding the other's sample, queries answered
}

// Address is how to reach a peer.
type Address struct{ Name, Class, Multiaddr string }

// run is a run under way.
type run struct {
	cfg     Config
	started time.Time
	before  int // goroutines before the first peer

	ring    *keyring
	truth   *judge.Truth
	logged  []holdings.Logged[int32] // queries to replay; nil: they are drawn
	churn   *churn                   // nil: collections stay as they are
	adds    *adds                    // nil: nobody adds new keys
	classes []int                    // of links, by peer
	wires   *wires
	parts   *parts          // nil: all peers are members
	members []*member       // peers of this process, ascending
	roster  []peer.AddrInfo // of all peers
	faulty  []*faulty
	number  map[peer.ID]int

	mu        sync.Mutex // what polling finds while queries run
	converged time.Duration
	scores    []judge.Score // by class of the asker's link
	failed    int           // queries that ended with an error
	asking    time.Duration // that queries have taken
	notes     []string
}

// Run runs a testnet: peers start, their mesh forms, summaries spread, queries run, all is closed. When ctx ends
// before, what is known by then is reported, and Report.Interrupted says so. Errors: a Config that cannot be run
// (ErrConfig), data that cannot be loaded (see package workload), peers that cannot be started.
//
// Where Config.Part says so, the peers run in several processes. Part 0 reports on all of them; see Report.Part for the
// others. When a part is lost, or has ended early, all end and report what is known.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	r, err := newRun(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, cfg.Timeout)
		defer cancel()
	}
	ctx, err = r.join(ctx)
	if err != nil {
		return nil, err
	}
	reached, err := r.phases(ctx)
	if err != nil && ctx.Err() == nil {
		r.close()
		return nil, err
	}
	report := r.told(r.partial(reached, context.Cause(ctx)))
	if cfg.Hold != nil && ctx.Err() == nil {
		cfg.Hold(report, r.addresses())
	}
	r.progress(Closing, 0, 1)
	r.close()
	left := r.goroutinesLeft()
	report.GoroutinesLeft, report.WallSeconds = &left, time.Since(r.started).Seconds()
	return report, nil
}

// newRun loads the data and draws what follows from the seed.
func newRun(cfg Config) (*run, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	r := &run{cfg: cfg, started: time.Now(), before: runtime.NumGoroutine(), number: make(map[peer.ID]int)}
	data, err := workload.Load(workload.Config{Path: cfg.Data, Chunk: cfg.Chunk, Peers: cfg.Peers, Rand: cfg.random(dealing)})
	if err != nil {
		return nil, err
	}
	if len(data.Peers()) < 2 {
		return nil, fmt.Errorf("%w: %s has one peer, a network needs 2", ErrConfig, cfg.Data)
	}
	r.ring = newKeyring(data, summary.Seed{Network: Network}.Hasher())
	r.truth = judge.New(data.Keys(), data.Collections())
	if err := r.readLog(); err != nil {
		return nil, err
	}
	if cfg.Churn > 0 {
		r.churn = newChurn(r)
	}
	if cfg.Adds > 0 {
		r.ring.open = true
		r.adds = newAdds(r)
	}
	r.classes = cfg.Links.Assign(len(data.Peers()), cfg.random(linking))
	r.scores = make([]judge.Score, len(cfg.Links))
	return r, nil
}

// phases goes through the phases and returns the one it got to.
func (r *run) phases(ctx context.Context) (Phase, error) {
	if err := r.start(ctx); err != nil {
		return Starting, err
	}
	if err := r.mesh(ctx); err != nil {
		return Meshing, err
	}
	if err := r.spread(ctx); err != nil {
		return Spreading, err
	}
	if err := r.ask(ctx); err != nil {
		return Querying, err
	}
	return Closing, nil
}

// here says whether a peer is one of this process.
func (r *run) here(peer int) bool { return r.cfg.Part.has(peer) }

// member is a peer of this process by its number.
func (r *run) member(peer int) *member { return r.members[peer/max(1, r.cfg.Part.Of)] }

func (r *run) progress(p Phase, done, total int) {
	if r.cfg.Progress != nil {
		r.cfg.Progress(Progress{p, done, total})
	}
}

// start makes the hosts of this process, then a node on each.
func (r *run) start(ctx context.Context) error {
	r.wires = newWires(&r.cfg)
	identities := r.cfg.random(identifying)
	for i, name := range r.ring.Peers() {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, err := identity(identities)
		if err != nil {
			return fmt.Errorf("testnet: identity of peer %s: %w", name, err)
		}
		var info peer.AddrInfo
		if r.here(i) {
			info, err = r.startHost(i, key)
		} else {
			info, err = r.parts.peer(i, key)
		}
		if err != nil {
			return err
		}
		r.number[info.ID] = i
		r.roster = append(r.roster, info)
	}
	if err := r.parts.reach(ctx, hostsListen); err != nil {
		return err
	}
	return r.startNodes(ctx)
}

// startHost makes the host of a peer.
func (r *run) startHost(i int, key crypto.PrivKey) (peer.AddrInfo, error) {
	m := &member{number: i, name: r.ring.Peers()[i], class: r.classes[i], meter: newMeter(r.started)}
	var err error
	if m.host, err = r.wires.host(i, key, r.cfg.Links[m.class], m.meter, r.parts.listen(i)); err != nil {
		return peer.AddrInfo{}, err
	}
	m.host.Network().Notify(&m.conns)
	r.members = append(r.members, m)
	return *host.InfoFromHost(m.host), nil
}

func (r *run) startNodes(ctx context.Context) error {
	shared := []node.Option{}
	if !r.cfg.NoShare {
		shared = append(shared, node.WithSummaryCache(cache.New(cacheBytes)), node.WithHeaderCache(signed.NewCache(8*len(r.roster))))
	}
	decides := r.cfg.random(deciding)
	started := 0
	for i := range r.roster {
		if err := ctx.Err(); err != nil {
			return err
		}
		begin, random := r.roster[:min(i, r.cfg.Begin)], decides.Uint64()
		if !r.here(i) {
			continue
		}
		m := r.member(i)
		if err := m.start(&r.cfg, r.cfg.Links[m.class].Rate, newCollection(r.ring, i), shared, random, begin); err != nil {
			return err
		}
		r.observeStarted(i)
		started++
		r.progress(Starting, started, len(r.members))
	}
	return r.startFaulty()
}

// mesh waits until every peer has links to two others.
func (r *run) mesh(ctx context.Context) error {
	want := min(meshLinks, len(r.roster)-1)
	deadline := time.Now().Add(meshTimeout)
	for {
		linked := 0
		for _, s := range r.poll(ctx) {
			if s.Links >= want {
				linked++
			}
		}
		r.progress(Meshing, linked, len(r.members))
		if linked == len(r.members) {
			return r.parts.reach(ctx, meshFormed)
		}
		if time.Now().After(deadline) {
			r.notes = append(r.notes, fmt.Sprintf("after %v only %d of %d peers had %d links", meshTimeout, linked, len(r.members), want))
			return r.parts.reach(ctx, meshFormed)
		}
		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
}

// spread leaves the peers the warm-up's time to exchange summaries.
func (r *run) spread(ctx context.Context) error {
	end := time.Now().Add(or(r.cfg.Warmup, DefaultWarmup(len(r.roster), r.cfg.Links)))
	for {
		all := r.poll(ctx)
		r.known(all)
		held, wanted := r.held(all)
		r.progress(Spreading, held, wanted)
		left := time.Until(end)
		if left <= 0 {
			return r.parts.reach(ctx, warmedUp)
		}
		if err := sleep(ctx, min(left, pollEvery)); err != nil {
			return err
		}
	}
}

// poll asks all nodes for their status; a node that does not answer before ctx ends has an empty one.
func (r *run) poll(ctx context.Context) []node.Status {
	all := make([]node.Status, len(r.members))
	r.each(func(i int, m *member) {
		if s, err := m.node.Status(ctx); err == nil {
			all[i] = s
		}
	})
	return all
}

// each does something with every member that has a node, several at one time.
func (r *run) each(do func(i int, m *member)) {
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, m := range r.members {
		if m.node != nil {
			group.Go(func() error { do(i, m); return nil })
		}
	}
	_ = group.Wait()
}

// held counts the pairs of peers in which one holds the other's sample. wanted is how many there may be: a peer keeps
// those of the peers that it is linked with, and [Config.Origins] of others.
func (r *run) held(all []node.Status) (held, wanted int) {
	for _, s := range all {
		most := len(r.roster) - 1
		if r.cfg.Origins > 0 {
			most = min(most, s.Links+r.cfg.Origins)
		}
		held += min(s.Origins, most)
		wanted += most
	}
	return held, wanted
}

// known notes when every peer holds the samples of all others.
func (r *run) known(all []node.Status) {
	n := 0
	for _, s := range all {
		n += s.Origins
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.converged == 0 && len(all) > 0 && len(r.faulty) == 0 && n == len(all)*(len(r.roster)-1) {
		r.converged = time.Since(r.started)
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// queries draws the queries of both kinds, mixed.
func (r *run) queries() []workload.Query {
	rng := r.cfg.random(asking)
	var queries []workload.Query
	for _, kind := range []workload.Kind{workload.FindOne, workload.FindAll} {
		queries = append(queries, r.drawn(kind, rng)...)
	}
	rng.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
	return queries
}

// ask runs the queries.
func (r *run) ask(ctx context.Context) error {
	queries := r.queries()
	if len(queries) == 0 {
		r.notes = append(r.notes, "no queries: every peer holds every key")
	}
	queries = slices.DeleteFunc(queries, func(q workload.Query) bool { return !r.here(q.Asker) })
	done := make(chan struct{}, len(queries))
	began := time.Now()
	length, stops := time.Duration(0), []func(){}
	if r.churn != nil {
		length, stops = r.churn.length, append(stops, r.churn.start(ctx))
	}
	if r.adds != nil {
		length, stops = r.adds.length, append(stops, r.adds.start(ctx))
	}
	go r.feed(ctx, queries, length/time.Duration(max(1, len(queries))), done)
	r.watch(ctx, done, len(queries))
	for _, stop := range stops {
		stop()
	}
	r.asking = time.Since(began)
	return r.parts.reach(ctx, queriesOver)
}

// feed starts the queries, a limited number at one time and one every interval. It sends to done for each that is over,
// and closes done after the last.
func (r *run) feed(ctx context.Context, queries []workload.Query, every time.Duration, done chan<- struct{}) {
	defer close(done)
	var group errgroup.Group
	group.SetLimit(max(1, parallel/max(1, r.cfg.Part.Of))) // about the same over all parts
	began := time.Now()
	for i, q := range queries {
		if sleep(ctx, time.Until(began.Add(time.Duration(i)*every))) != nil {
			break
		}
		group.Go(func() error {
			r.query(ctx, q)
			done <- struct{}{}
			return nil
		})
	}
	_ = group.Wait()
}

// watch tells of progress, and looks for convergence, until all queries are over.
func (r *run) watch(ctx context.Context, done <-chan struct{}, total int) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for n := 0; ; {
		select {
		case _, more := <-done:
			if !more {
				r.progress(Querying, n, total)
				return
			}
			n++
		case <-ticker.C:
			r.progress(Querying, n, total)
			r.known(r.poll(ctx))
		}
	}
}

// query runs one query and has its answer judged. One that was cut off by the end of the run is not judged.
func (r *run) query(ctx context.Context, q workload.Query) {
	began := time.Now()
	m := r.member(q.Asker)
	key, all := r.ring.Key(q.Key), q.Kind == workload.FindAll
	found, stats, err := m.find(ctx, key, all, r.cfg.FindTimeout)
	took := time.Since(began)
	if ctx.Err() != nil {
		return
	}
	cost := judge.Cost{Probes: stats.Probes, FalseProbes: stats.FalseProbes, Messages: stats.Messages}
	if r.cfg.Observer != nil {
		r.cfg.Observer.Answered(Answered{Asker: q.Asker, Key: key, All: all, Found: found, Stats: stats, Err: err})
	}
	answer := judge.Answer{Asker: q.Asker, Key: q.Key, All: all, Cost: cost, Latency: took}
	for _, p := range found {
		n, ok := r.number[p]
		if !ok {
			n = -1 // a stranger: judged as wrong
		}
		answer.Found = append(answer.Found, n)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed++
	}
	if r.churn == nil {
		r.scores[m.class].Add(r.truth, answer)
		return
	}
	r.churn.judge(&r.scores[m.class], answer, began)
}

// close ends all that was started: all nodes, then all hosts. A node that runs makes up for each link that it loses.
func (r *run) close() {
	r.parts.close()
	var nodes, hosts errgroup.Group
	nodes.SetLimit(32 * runtime.GOMAXPROCS(0)) // a node mostly waits while its goodbye goes out
	for _, m := range r.members {
		nodes.Go(func() error { m.closeNode(); return nil })
	}
	_ = nodes.Wait()
	hosts.SetLimit(4 * runtime.GOMAXPROCS(0))
	for _, m := range r.members {
		hosts.Go(m.host.Close)
	}
	for _, f := range r.faulty {
		hosts.Go(func() error { f.close(); return nil })
	}
	_ = hosts.Wait()
	if r.wires != nil {
		r.wires.close()
	}
}

// goroutinesLeft counts the goroutines that the run has started and that have not ended; those that are about to get
// time.
func (r *run) goroutinesLeft() int {
	for end := time.Now().Add(settleTime); ; time.Sleep(10 * time.Millisecond) {
		left := runtime.NumGoroutine() - r.before
		if left <= 0 || time.Now().After(end) {
			return max(0, left)
		}
	}
}

func (r *run) addresses() []Address {
	all := make([]Address, len(r.members))
	for i, m := range r.members {
		all[i] = Address{Name: m.name, Class: r.cfg.Links[m.class].Name}
		if a := m.host.Addrs(); len(a) > 0 {
			all[i].Multiaddr = fmt.Sprintf("%s/p2p/%s", a[0], m.host.ID())
		}
	}
	return all
}
