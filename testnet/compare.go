package testnet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// ErrBroken is matched by errors that end a system's run.
var ErrBroken = errors.New("the system cannot go on")

// Comparison is the result of several systems, one after the other, with the same peers, collections and queries.
type Comparison struct {
	Peers     int         `json:"peers"`
	Keys      int         `json:"keys"`
	Holdings  int         `json:"holdings"`
	Queries   int         `json:"queries"` // number of queries of each kind
	Seed      uint64      `json:"seed"`
	Transport Transport   `json:"transport"`
	Rows      []SystemRow `json:"rows"`
	Stopped   string      `json:"interrupted,omitempty"` // why the comparison ended before its end
}

// SystemRow is the result of one system. Messages are writes to its streams, bytes the bytes written, both counted by
// the sender. They leave out multiplexing, encryption and TCP or QUIC, which are the same for all systems.
type SystemRow struct {
	System           string    `json:"strategy"`
	Note             string    `json:"note,omitempty"`
	Padded           bool      `json:"padded,omitempty"`    // see System
	JoinBytes        float64   `json:"join_bytes_per_peer"` // bytes sent to join the network, before any announcement
	Announced        int       `json:"announced"`           // number of holdings announced
	AnnounceSeconds  float64   `json:"announce_seconds"`
	AnnounceBytes    float64   `json:"announce_bytes_per_holding"` // if Marginal, the slope between two announcements
	AnnounceMessages float64   `json:"announce_messages_per_holding"`
	FindOne          FindStats `json:"find_one"`
	FindAll          FindStats `json:"find_all"`
	HostBytes        float64   `json:"memory_bytes_per_host"` // growth from before the hosts open to after announcing
}

// FindStats are figures of the queries of one kind. Messages and Bytes are all that was sent meanwhile, for queries and
// for upkeep: some systems cannot tell the two apart.
type FindStats struct {
	Queries  int     `json:"queries"`
	Recall   float64 `json:"recall"`
	Wrong    int     `json:"wrong_holders"`
	P50      float64 `json:"latency_ms_p50"` // time until the last holder found was known, or the asker gave up
	P99      float64 `json:"latency_ms_p99"`
	Over     float64 `json:"over_ms_p50,omitempty"` // time until the asker knew that it was over; 0: most never did
	Messages float64 `json:"messages_per_query"`
	Bytes    float64 `json:"bytes_per_query"`
}

// Compare runs systems one after the other on the same hosts, with the same draws from the seed. When ctx ends, it
// returns the rows so far, and Comparison.Stopped has the reason. The errors are those of Run. A Config with Churn,
// Adds, Faulty, Hold or Part is an error, too. A system that cannot go on is an error: Compare returns the rows of the
// systems before it.
func Compare(ctx context.Context, cfg Config, systems ...System) (*Comparison, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	var f faults
	f.plain(&cfg, "a comparison", "a comparison")
	f.note(cfg.Part != (Part{}), "a part of a comparison")
	if err := errors.Join(f...); err != nil {
		return nil, err
	}
	ctx, cancel := cfg.limit(ctx)
	defer cancel()
	plan, err := cfg.plan()
	if err != nil {
		return nil, err
	}
	cfg.Warmup = cmp.Or(cfg.Warmup, DefaultWarmup(plan.Data.Peers(), cfg.Links))
	c := &contest{judge: judge.New(plan.Data.Table, 0)}
	for _, q := range queries(plan) {
		of := &c.one
		if q.all {
			of = &c.all
		}
		*of = append(*of, q)
	}
	out := &Comparison{
		Peers: plan.Data.Peers(), Keys: plan.Data.Keys(), Holdings: plan.Data.Holdings(), Queries: cfg.Queries, Seed: cfg.Seed,
		Transport: cfg.Transport,
	}
	for _, s := range systems {
		row, err := c.run(ctx, cfg, plan, s)
		if ctx.Err() != nil {
			out.Stopped = reason(context.Cause(ctx))
			return out, nil
		}
		if err != nil {
			return out, fmt.Errorf("testnet: %s: %w", s.Name, err)
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// contest is the systems of a comparison, one after the other. The fields but stage and system are the same for all.
type contest struct {
	*stage
	system   System
	judge    *judge.Truth[strategy.ID]
	one, all []query
}

// run runs one system from its start to its end.
func (t *contest) run(ctx context.Context, cfg Config, plan *scenario.Plan, s System) (row SystemRow, err error) {
	before := inUse() // memory used by the data and the rest of the process
	t.stage, t.system = newStage(cfg, plan), s
	defer func() {
		t.close()
		t.stage = nil // the next system's memory is counted without it
	}()
	row = SystemRow{System: s.Name, Note: s.Note, Padded: s.Padded}
	if t.cast, err = s.castOn(t.stage); err != nil {
		return row, err
	}
	if err := t.open(ctx); err != nil {
		return row, err
	}
	row.JoinBytes = float64(t.sent(t.cast.upkeep).bytes) / float64(len(t.members))
	if err := t.announce(ctx, &row); err != nil {
		return row, err
	}
	row.HostBytes = max(0, inUse()-before) / float64(len(t.members))
	row.FindOne, row.FindAll, err = t.query(ctx)
	return row, err
}

// query runs the queries of both kinds in turns, so that each kind finds about as many connections open. As queries
// run, ever fewer need a new connection. The order in a turn follows the Thue–Morse sequence: it evens out a steady
// fall between the kinds, and a fall that slows down.
func (t *contest) query(ctx context.Context) (one, all FindStats, err error) {
	kinds := [2]*series{{queries: t.one}, {queries: t.all}}
	const turns = 16
	for turn := range turns {
		first := bits.OnesCount(uint(turn))
		for k := range kinds {
			a := kinds[(first+k)%2]
			n := len(a.queries)
			if err := t.ask(ctx, a, n*turn/turns, n*(turn+1)/turns); err != nil {
				return one, all, err
			}
		}
	}
	return kinds[0].stats(), kinds[1].stats(), nil
}

// announce has all peers announce the keys to be announced.
func (t *contest) announce(ctx context.Context, row *SystemRow) error {
	what := t.announced()
	keys := make([][][]byte, len(t.members))
	for i := range keys {
		for _, k := range t.data.Collection(strategy.ID(i)) {
			if what == nil || what[k] {
				keys[i] = append(keys[i], t.key(k))
				row.Announced++
			}
		}
	}
	if row.Announced == 0 {
		return nil
	}
	var before announcement
	if t.system.Marginal {
		var err error
		if before, err = t.spread(ctx, t.half(keys)); err != nil {
			return err
		}
	}
	began := time.Now()
	a, err := t.spread(ctx, keys)
	if err != nil {
		return err
	}
	row.AnnounceSeconds = time.Since(began).Seconds()
	n := float64(max(1, a.holdings-before.holdings))
	row.AnnounceMessages = (float64(a.messages) - float64(before.messages)) / n
	row.AnnounceBytes = (float64(a.bytes) - float64(before.bytes)) / n
	return nil
}

// announcement is the cost of an announcement.
type announcement struct {
	holdings int
	volume
}

// spread has each peer announce its keys, and returns the cost.
func (t *contest) spread(ctx context.Context, keys [][][]byte) (announcement, error) {
	before := t.sent(t.cast.upkeep)
	if err := t.cast.begin(ctx, keys); err != nil {
		return announcement{}, err
	}
	if err := t.cast.settle(ctx, t.cfg.Warmup); err != nil {
		return announcement{}, err
	}
	a := announcement{volume: t.sent(t.cast.upkeep).minus(before)}
	for _, k := range keys {
		a.holdings += len(k)
	}
	return a, nil
}

// half returns about half of the keys of each peer, drawn at random.
func (t *contest) half(keys [][][]byte) [][][]byte {
	rng := t.cfg.random(sampling)
	out := make([][][]byte, len(keys))
	for i, all := range keys {
		for _, k := range all {
			if rng.IntN(2) == 0 {
				out[i] = append(out[i], k)
			}
		}
	}
	return out
}

// announced returns the keys to be announced: the keys that will be looked for, and random others. nil: all.
func (t *contest) announced() map[uint32]bool {
	if t.system.Announce == 0 {
		return nil
	}
	keys := map[uint32]bool{}
	for _, q := range slices.Concat(t.one, t.all) {
		keys[q.Key] = true
	}
	holdings := 0
	for _, k := range t.cfg.random(sampling).Perm(t.data.Keys()) {
		if holdings += len(t.holders(uint32(k))); holdings > t.system.Announce {
			break
		}
		keys[uint32(k)] = true
	}
	return keys
}

// series collects the answers to the queries of one kind.
type series struct {
	queries []query
	asked   []asked
	over    []time.Duration
	volume  // messages and bytes sent meanwhile
	done    int
}

func (a *series) stats() FindStats {
	n, all := float64(max(1, a.done)), of(a.asked, anyKind)
	return FindStats{
		Queries: all.queries, Recall: *cmp.Or(all.recall(), pointer(1.0)), Wrong: all.Wrong, P50: latency(a.asked, 0.5), P99: latency(a.asked, 0.99),
		Over: millis(median(a.over)), Messages: float64(a.messages) / n, Bytes: float64(a.bytes) / n,
	}
}

// ask runs the queries of a series whose numbers k satisfy from ≤ k < to.
func (t *contest) ask(ctx context.Context, a *series, from, to int) error {
	ours := func(id protocol.ID) bool { return t.cast.upkeep(id) || t.cast.query(id) }
	before := t.sent(ours)
	var mu sync.Mutex
	err := feed(ctx, to-from, parallel, 0, func(i int) error {
		answer, end, err := t.find(ctx, a.queries[from+i])
		mu.Lock()
		defer mu.Unlock()
		a.asked = append(a.asked, answer)
		a.over = append(a.over, end)
		t.progress(Querying, len(a.over), len(a.queries))
		return err
	})
	a.volume, a.done = a.plus(t.sent(ours).minus(before)), to
	return cmp.Or(err, ctx.Err())
}

// find runs a query. It returns its record and the time until the asker knew that the query was over; 0: it never did.
func (t *contest) find(ctx context.Context, q query) (asked, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.FindTimeout)
	defer cancel()
	began := time.Now()
	found, err := t.cast.ask(ctx, int(q.Peer), q.Key, q.all)
	if !errors.Is(err, ErrBroken) {
		err = nil
	}
	took := found.Found
	if len(found.Holders) == 0 {
		took = time.Since(began)
	}
	mark := t.judge.Mark(q.Peer, q.Key, q.all, t.numbers(found.Holders), 0, 0)
	return q.ended(mark, 0, millis(took)), found.Over, err
}

// median returns the median of durations, the lower of two in the middle; 0 without durations. A duration of 0 counts
// as endless.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.SortFunc(all, func(a, b time.Duration) int { return cmp.Compare(uint64(a-1), uint64(b-1)) })
	return all[(len(all)-1)/2]
}

// inUse returns the bytes of heap and stack in use, without garbage.
func inUse() float64 {
	runtime.GC()
	runtime.GC() // a sync.Pool frees its memory at the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse + m.StackInuse)
}
