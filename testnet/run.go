package testnet

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/strategy"
)

const (
	meshLinks   = 2                      // links that every peer has once the mesh has formed
	meshTimeout = 30 * time.Second       // longest wait for the mesh to form; then the run goes on, with a note
	pollEvery   = 500 * time.Millisecond // time between two polls of the nodes' status
	parallel    = 16                     // queries under way at one time, and nodes asked for their status
	settleTime  = time.Minute            // longest wait for goroutines to end, if some are left
)

// Phase is a phase of a run.
type Phase string

// The phases, in their order.
const (
	Starting  Phase = "peers start"
	Meshing   Phase = "mesh forms"
	Spreading Phase = "summaries spread"
	Querying  Phase = "queries run"
	Closing   Phase = "peers close"
)

// Progress is the progress of a run.
type Progress struct {
	Phase       Phase
	Done, Total int // peers started, peers linked, pairs with one holding the other's sample, queries answered
}

// Address has the address of a peer.
type Address struct{ Name, Class, Multiaddr string }

// run is a run under way.
type run struct {
	*stage
	judge  *judge.Truth[strategy.ID]
	before int    // goroutines before the first peer
	churn  *churn // nil: collections stay as they are
	adds   *adds  // nil: nobody adds new keys

	mu        sync.Mutex // figures polled while queries run
	converged time.Duration
	asked     [][]asked     // queries asked, by class of the asker's link
	failed    int           // queries that ended with an error
	asking    time.Duration // time that queries have taken
	notes     []string
}

// Run runs a testnet: peers start, their mesh forms, summaries spread, queries run, all is closed. When ctx ends
// before, it reports the figures so far, with the reason in Report.Interrupted. Errors: a Config that cannot be run
// (ErrConfig), data that cannot be loaded (see package workload), peers that cannot be started.
//
// With Config.Part, the peers run in several processes. Part 0 reports on all of them; see Report.Part for the others.
// When a part is lost, or has ended early, all end and report their figures so far.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	r, err := newRun(cfg)
	if err != nil {
		return nil, err
	}
	ctx, cancel := cfg.limit(ctx)
	defer cancel()
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
	if cfg.Hold != nil {
		cfg.Hold(report, r.addresses())
	}
	r.progress(Closing, 0, 1)
	r.close()
	left := r.goroutinesLeft()
	report.GoroutinesLeft, report.WallSeconds = &left, time.Since(r.began).Seconds()
	return report, nil
}

// newRun loads the data and draws from the seed.
func newRun(cfg Config) (*run, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	r, began := &run{before: runtime.NumGoroutine()}, time.Now()
	plan, err := cfg.plan()
	if err != nil {
		return nil, err
	}
	r.stage, r.judge = newStage(cfg, plan), judge.New(plan.Data.Table, changeGrace)
	r.began = began
	if r.cast, err = r.nodes(false); err != nil {
		return nil, err
	}
	if cfg.Churn > 0 {
		r.churn = newChurn(r)
	}
	if cfg.Adds > 0 {
		r.adds = newAdds(r)
	}
	r.asked = make([][]asked, len(cfg.Links))
	return r, nil
}

// phases goes through the phases and returns the one it got to.
func (r *run) phases(ctx context.Context) (Phase, error) {
	if err := r.peers(ctx); err != nil {
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

// peers opens the hosts and starts the nodes, and faulty peers beside them.
func (r *run) peers(ctx context.Context) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	if err := r.cast.begin(ctx, nil); err != nil {
		return err
	}
	return r.disturb(r.cfg.Faulty)
}

// mesh waits until every peer has links to two others. It fails if nobody reaches anybody: that is no network.
func (r *run) mesh(ctx context.Context) error {
	want := min(meshLinks, len(r.all)-1)
	deadline := time.Now().Add(meshTimeout)
	for {
		linked, most := 0, 0
		for _, s := range r.poll(ctx) {
			most = max(most, s.Links)
			if s.Links >= want {
				linked++
			}
		}
		r.progress(Meshing, linked, len(r.members))
		if linked == len(r.members) {
			return r.parts.reach(ctx, meshFormed)
		}
		if time.Now().After(deadline) {
			if most == 0 {
				return fmt.Errorf("testnet: after %v no peer has reached another: do programs on this machine reach each other?", meshTimeout)
			}
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
	end := time.Now().Add(cmp.Or(r.cfg.Warmup, DefaultWarmup(len(r.all), r.cfg.Links)))
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
	r.each(parallel, func(i int, m *member) {
		if s, err := m.node.Status(ctx); err == nil {
			all[i] = s
		}
	})
	return all
}

// held counts the pairs of peers in which one holds the other's sample. wanted is the largest possible number: a peer
// keeps the samples of the peers that it is linked with, and of [Config.Origins] others.
func (r *run) held(all []node.Status) (held, wanted int) {
	for _, s := range all {
		most := len(r.all) - 1
		if r.cfg.Origins > 0 {
			most = min(most, s.Links+r.cfg.Origins)
		}
		held += min(s.Origins, most)
		wanted += most
	}
	return held, wanted
}

// known notes the time at which every peer first holds the samples of all others.
func (r *run) known(all []node.Status) {
	n := 0
	for _, s := range all {
		n += s.Origins
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.converged == 0 && len(all) > 0 && len(r.aside) == 0 && n == len(all)*(r.data.Peers()-1) {
		r.converged = time.Since(r.began)
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

// ask runs the queries.
func (r *run) ask(ctx context.Context) error {
	queries := queries(r.plan)
	if len(queries) == 0 {
		r.notes = append(r.notes, "no queries: every peer holds every key")
	}
	queries = slices.DeleteFunc(queries, func(q query) bool { return !r.here(int(q.Peer)) })
	done := make(chan struct{}, len(queries))
	began := time.Now()
	stops := []func(){}
	if r.churn != nil {
		stops = append(stops, r.churn.start(ctx))
	}
	if r.adds != nil {
		stops = append(stops, r.adds.start(ctx))
	}
	go func() {
		defer close(done)
		limit := max(1, parallel/max(1, r.cfg.Part.Of)) // about the same over all parts
		_ = feed(ctx, len(queries), limit, r.cfg.length()/time.Duration(max(1, len(queries))), func(i int) error {
			r.query(ctx, queries[i])
			done <- struct{}{}
			return nil
		})
	}()
	r.watch(ctx, done, len(queries))
	for _, stop := range stops {
		stop()
	}
	r.asking = time.Since(began)
	return r.parts.reach(ctx, queriesOver)
}

// watch reports progress, and checks for convergence, until all queries are over.
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

// query runs one query and has its answer judged. It skips a query that was cut off by the end of the run.
func (r *run) query(ctx context.Context, q query) {
	began := time.Now()
	asker := int(q.Peer)
	m := r.member(asker)
	a, err := r.cast.ask(ctx, asker, q.Key, q.all)
	took := time.Since(began)
	if ctx.Err() != nil {
		return
	}
	stats := *cmp.Or(a.Stats, &node.QueryStats{})
	if r.cfg.Observer != nil {
		r.cfg.Observer.Answered(Answered{Asker: asker, Key: r.key(q.Key), All: q.all, Found: a.Holders, Stats: stats, Err: err})
	}
	from := time.Duration(0)
	if r.churn != nil {
		from = began.Sub(r.churn.began)
	}
	e := q.ended(r.judge.Mark(q.Peer, q.Key, q.all, r.numbers(a.Holders), from, from+took), from.Seconds(), millis(took))
	e.Probes, e.Wasted, e.Messages = stats.Probes, stats.FalseProbes, stats.Messages
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.failed++
	}
	r.asked[m.class] = append(r.asked[m.class], e)
}

// goroutinesLeft counts the goroutines that the run has started and that have not ended. Goroutines about to end get
// some time.
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
		all[i] = Address{Name: m.name, Class: r.class(m)}
		if a := m.host.Addrs(); len(a) > 0 {
			all[i].Multiaddr = fmt.Sprintf("%s/p2p/%s", a[0], m.host.ID())
		}
	}
	return all
}
