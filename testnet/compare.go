package testnet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/workload"
)

// System is a way of finding holders that runs on libp2p hosts, to be compared with others by [Compare].
type System struct {
	Name string
	Note string // what a reader should know of how it is run

	// Padded says that messages are padding of their sizes, and what they say is passed within the process: see package
	// drive.
	Padded bool

	// Announce is how many holdings of the whole network are announced at most, besides those of the keys that will be
	// looked for. It is for systems that pay for each. 0: all of them.
	Announce int
	// Marginal says that a holding costs less the more there are. What it costs is then the slope between two
	// announcements: of half of Announce and of Announce, one after the other.
	Marginal bool
	// Upkeep and Query say which protocols are for announcing, and for queries. The same may be for both.
	Upkeep, Query func(protocol.ID) bool

	// Open makes the peer of a place. It knows nothing of others but those to begin from.
	Open func(Place) (Peer, error)
}

// Place is where a peer of a System runs.
type Place struct {
	Number int
	Host   host.Host
	Begin  []peer.AddrInfo // peers before it
	Rate   uint64          // of its line, bit/s
	Config *Config

	all  *comparison
	keys *collection
}

// peers is how many there are.
func (p *Place) peers() int { return len(p.all.ring.Peers()) }

// Peer is a peer of a System. Its methods are called from several goroutines, but Join and Announce once, in this
// order.
type Peer interface {
	// Join joins the network, as far as a system separates that from announcing: all hosts are there.
	Join(context.Context) error
	// Announce makes keys known, and returns when that is done as far as it will be. All peers have joined.
	Announce(ctx context.Context, keys [][]byte) error
	// Find finds one holder, or all. What fails finds nothing, except that an error that matches ErrBroken ends the
	// run.
	Find(ctx context.Context, key []byte, all bool) (Answer, error)
	// Close ends it. It is called before its host is closed, with some other peers at the same time.
	Close() error
}

// Answer is what a query has brought.
type Answer struct {
	Holders []peer.ID
	Found   time.Duration // until the last of them was known
	Over    time.Duration // until the asker knew that there was nothing more to wait for; 0: it never does
}

// ErrBroken is matched by errors that end a system's run.
var ErrBroken = errors.New("the system cannot go on")

// Comparison is what several systems have shown, one after the other, with the same peers, collections and queries.
type Comparison struct {
	Peers     int         `json:"peers"`
	Keys      int         `json:"keys"`
	Holdings  int         `json:"holdings"`
	Queries   int         `json:"queries"` // of each kind
	Seed      uint64      `json:"seed"`
	Transport Transport   `json:"transport"`
	Rows      []SystemRow `json:"rows"`
	Stopped   string      `json:"interrupted,omitempty"` // why it ended before its end
}

// SystemRow is what one system has shown. Messages are writes to its streams, and bytes what is written, both counted
// where they are sent. Below that are multiplexing, encryption and TCP or QUIC, the same for all.
type SystemRow struct {
	System           string    `json:"strategy"`
	Note             string    `json:"note,omitempty"`
	Padded           bool      `json:"padded,omitempty"`    // see System
	JoinBytes        float64   `json:"join_bytes_per_peer"` // to be part of the network, before anything is announced
	Announced        int       `json:"announced"`           // holdings
	AnnounceSeconds  float64   `json:"announce_seconds"`
	AnnounceBytes    float64   `json:"announce_bytes_per_holding"` // of System.Marginal the slope between two announcements
	AnnounceMessages float64   `json:"announce_messages_per_holding"`
	FindOne          FindStats `json:"find_one"`
	FindAll          FindStats `json:"find_all"`
	HostBytes        float64   `json:"memory_bytes_per_host"` // more in use after announcing than before the hosts were opened
}

// FindStats are of the queries of one kind. Messages and Bytes are all that was sent meanwhile, for queries and for
// upkeep: some systems cannot tell the two apart.
type FindStats struct {
	Queries  int     `json:"queries"`
	Recall   float64 `json:"recall"`
	Wrong    int     `json:"wrong_holders"`
	P50      float64 `json:"latency_ms_p50"` // until the last of what was found was known; where nothing was: until that was given up
	P99      float64 `json:"latency_ms_p99"`
	Over     float64 `json:"over_ms_p50,omitempty"` // until the asker knew that the query was over; 0: it mostly never does
	Messages float64 `json:"messages_per_query"`
	Bytes    float64 `json:"bytes_per_query"`
}

// Compare runs systems one after the other on the same hosts, in everything that follows from the seed. When ctx ends,
// it returns what is known by then, and Comparison.Stopped says why. The errors are those of Run, of a Config with
// Churn, Adds, Faulty or Hold besides, and those of a system that cannot go on. Then the rows of the systems before it
// are returned.
func Compare(ctx context.Context, cfg Config, systems ...System) (*Comparison, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	switch { // what a comparison would leave out
	case cfg.Churn > 0:
		return nil, fmt.Errorf("%w: churn in a comparison", ErrConfig)
	case cfg.Adds > 0:
		return nil, fmt.Errorf("%w: keys added in a comparison", ErrConfig)
	case cfg.Faulty > 0:
		return nil, fmt.Errorf("%w: %d faulty peers in a comparison", ErrConfig, cfg.Faulty)
	case cfg.Part != (Part{}):
		return nil, fmt.Errorf("%w: a part of a comparison", ErrConfig)
	case cfg.Hold != nil:
		return nil, fmt.Errorf("%w: the peers of a comparison don't stay", ErrConfig)
	}
	data, err := workload.Load(workload.Config{Path: cfg.Data, Chunk: cfg.Chunk, Peers: cfg.Peers, Rand: cfg.random(dealing)})
	if err != nil {
		return nil, err
	}
	if len(data.Peers()) < 2 {
		return nil, fmt.Errorf("%w: %s has one peer, a network needs 2", ErrConfig, cfg.Data)
	}
	cfg.Warmup = or(cfg.Warmup, DefaultWarmup(len(data.Peers()), cfg.Links))
	ring := newKeyring(data, summary.Seed{Network: Network}.Hasher())
	c := &comparison{
		cfg: cfg, ring: ring, truth: judge.New(data.Keys(), data.Collections()),
		classes: cfg.Links.Assign(len(data.Peers()), cfg.random(linking)),
	}
	rng := cfg.random(asking)
	c.one, c.all = ring.Queries(workload.FindOne, cfg.Queries, rng), ring.Queries(workload.FindAll, cfg.Queries, rng)
	out := &Comparison{
		Peers: len(ring.Peers()), Keys: ring.Keys(), Holdings: ring.Holdings(), Queries: cfg.Queries, Seed: cfg.Seed,
		Transport: cfg.Transport,
	}
	for _, s := range systems {
		row, err := c.run(ctx, s)
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

// comparison is what all systems of a comparison have in common.
type comparison struct {
	cfg      Config
	ring     *keyring
	truth    *judge.Truth
	classes  []int
	one, all []workload.Query
}

// contest is a system that runs.
type contest struct {
	*comparison
	system System
	wires  *wires
	hosts  []host.Host
	meters []*meter
	peers  []Peer
	number map[peer.ID]int
}

// run runs one system from its start to its end.
func (c *comparison) run(ctx context.Context, s System) (row SystemRow, err error) {
	before := inUse() // by the data and what else the process holds
	t := &contest{comparison: c, system: s, wires: newWires(&c.cfg), number: map[peer.ID]int{}}
	defer t.close()
	row = SystemRow{System: s.Name, Note: s.Note, Padded: s.Padded}
	if err := t.open(); err != nil {
		return row, err
	}
	if err := t.each(Meshing, func(i int) error { return t.peers[i].Join(ctx) }); err != nil {
		return row, err
	}
	_, joined := t.sent(t.system.Upkeep)
	row.JoinBytes = float64(joined) / float64(len(t.peers))
	if err := t.announce(ctx, &row); err != nil {
		return row, err
	}
	row.HostBytes = max(0, inUse()-before) / float64(len(t.peers))
	row.FindOne, row.FindAll, err = t.query(ctx)
	return row, err
}

// query runs the queries of both kinds in turns, so that each kind finds as many connections open as the other. Which
// kind comes first in a turn follows the Thue–Morse sequence: fewer and fewer connections are cold, and it makes up for
// a steady fall as for one that slows down.
func (t *contest) query(ctx context.Context) (one, all FindStats, err error) {
	kinds := [2]*asked{{queries: t.one}, {queries: t.all}}
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

// open makes the hosts, the same for every system, and the system's peers.
func (t *contest) open() error {
	identities, joins := t.cfg.random(identifying), t.cfg.random(joining)
	var all []peer.AddrInfo
	for i := range t.ring.Peers() {
		key, err := identity(identities)
		if err != nil {
			return err
		}
		m, class := newMeter(time.Now()), t.cfg.Links[t.classes[i]]
		h, err := t.wires.host(i, key, class, m, netip.AddrPort{})
		if err != nil {
			return err
		}
		t.number[h.ID()] = i
		t.hosts, t.meters = append(t.hosts, h), append(t.meters, m)
		all = append(all, *host.InfoFromHost(h))
		p, err := t.system.Open(t.place(i, class, beginnings(all, i, joins)))
		if err != nil {
			return err
		}
		t.peers = append(t.peers, p)
		t.progress(Starting, i+1)
	}
	return nil
}

func (t *contest) place(i int, class link.Class, begin []peer.AddrInfo) Place {
	return Place{
		Number: i, Host: t.hosts[i], Begin: begin, Rate: class.Rate, Config: &t.cfg, all: t.comparison, keys: newCollection(t.ring, i),
	}
}

// announce has all peers announce what is to be announced.
func (t *contest) announce(ctx context.Context, row *SystemRow) error {
	what := t.announced()
	keys := make([][][]byte, len(t.peers))
	for i := range t.peers {
		for _, k := range t.ring.Collection(i) {
			if what == nil || what[k] {
				keys[i] = append(keys[i], t.ring.Key(k))
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

// announcement is what announcing has cost.
type announcement struct {
	holdings        int
	messages, bytes uint64
}

// spread has each peer announce its keys.
func (t *contest) spread(ctx context.Context, keys [][][]byte) (announcement, error) {
	messages, bytes := t.sent(t.system.Upkeep)
	if err := t.each(Spreading, func(i int) error { return t.peers[i].Announce(ctx, keys[i]) }); err != nil {
		return announcement{}, err
	}
	m, b := t.sent(t.system.Upkeep)
	a := announcement{messages: m - messages, bytes: b - bytes}
	for _, k := range keys {
		a.holdings += len(k)
	}
	return a, nil
}

// half is about half of the keys of each peer, drawn at random.
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

// announced are the keys to be announced: those that will be looked for, and others by chance. nil: all.
func (t *contest) announced() map[uint32]bool {
	if t.system.Announce == 0 {
		return nil
	}
	keys := map[uint32]bool{}
	for _, q := range slices.Concat(t.one, t.all) {
		keys[q.Key] = true
	}
	holdings := 0
	for _, k := range t.cfg.random(sampling).Perm(t.ring.Keys()) {
		if holdings += len(t.truth.Holders(uint32(k))); holdings > t.system.Announce {
			break
		}
		keys[uint32(k)] = true
	}
	return keys
}

// asked is what queries of one kind have brought so far.
type asked struct {
	queries         []workload.Query
	score           judge.Score
	over            []time.Duration
	messages, bytes uint64 // sent meanwhile
	done            int
}

func (a *asked) stats() FindStats {
	n := float64(max(1, a.done))
	tally := a.score.FindOne
	if len(a.queries) > 0 && a.queries[0].Kind == workload.FindAll {
		tally = a.score.FindAll
	}
	return FindStats{
		Queries: tally.Queries, Recall: tally.Recall(), Wrong: a.score.Wrong, P50: millis(a.score.Latency(0.5)), P99: millis(a.score.Latency(0.99)),
		Over: millis(median(a.over)), Messages: float64(a.messages) / n, Bytes: float64(a.bytes) / n,
	}
}

// ask runs the queries from one to before another.
func (t *contest) ask(ctx context.Context, a *asked, from, to int) error {
	ours := func(id protocol.ID) bool { return t.system.Upkeep(id) || t.system.Query(id) }
	messages, bytes := t.sent(ours)
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(parallel)
	for n, q := range a.queries[from:to] {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			answer, end, err := t.find(ctx, q)
			mu.Lock()
			defer mu.Unlock()
			a.score.Add(t.truth, answer)
			a.over = append(a.over, end)
			return err
		})
		if t.cfg.Progress != nil {
			t.cfg.Progress(Progress{Querying, from + n + 1, len(a.queries)})
		}
	}
	err := group.Wait()
	m, b := t.sent(ours)
	a.messages, a.bytes, a.done = a.messages+m-messages, a.bytes+b-bytes, to
	return cmp.Or(err, ctx.Err())
}

// find runs a query, and says when the asker knew that it was over.
func (t *contest) find(ctx context.Context, q workload.Query) (judge.Answer, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.FindTimeout)
	defer cancel()
	began := time.Now()
	all := q.Kind == workload.FindAll
	found, err := t.peers[q.Asker].Find(ctx, t.ring.Key(q.Key), all)
	if !errors.Is(err, ErrBroken) {
		err = nil
	}
	a := judge.Answer{Asker: q.Asker, Key: q.Key, All: all, Latency: found.Found}
	if len(found.Holders) == 0 {
		a.Latency = time.Since(began)
	}
	for _, p := range found.Holders {
		n, ok := t.number[p]
		if !ok {
			n = -1 // a stranger: judged as wrong
		}
		a.Found = append(a.Found, n)
	}
	return a, found.Over, err
}

// median is the middle one of durations, where 0 counts as endless; 0 of none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.SortFunc(all, func(a, b time.Duration) int { return cmp.Compare(uint64(a-1), uint64(b-1)) })
	return all[(len(all)-1)/2]
}

// sent is what all peers have sent so far by some protocols.
func (t *contest) sent(by func(protocol.ID) bool) (messages, bytes uint64) {
	for _, m := range t.meters {
		for id, n := range m.sent() {
			if by(id) {
				bytes += n
			}
		}
		for id, n := range m.written() {
			if by(id) {
				messages += n
			}
		}
	}
	return messages, bytes
}

// each does something with every peer, all at one time, and returns what went wrong.
func (t *contest) each(phase Phase, do func(i int) error) error {
	var mu sync.Mutex
	done := 0
	var group errgroup.Group
	for i := range t.peers {
		group.Go(func() error {
			err := do(i)
			mu.Lock()
			defer mu.Unlock()
			done++
			t.progress(phase, done)
			return err
		})
	}
	return group.Wait()
}

func (t *contest) progress(phase Phase, done int) {
	if t.cfg.Progress != nil {
		t.cfg.Progress(Progress{phase, done, len(t.ring.Peers())})
	}
}

func (t *contest) close() {
	var group errgroup.Group
	group.SetLimit(4 * runtime.GOMAXPROCS(0))
	for i, h := range t.hosts {
		group.Go(func() error {
			if i < len(t.peers) {
				_ = t.peers[i].Close()
			}
			return h.Close()
		})
	}
	_ = group.Wait()
	t.wires.close()
}

// inUse is the memory in use, without what is only waiting to be collected.
func inUse() float64 {
	runtime.GC()
	runtime.GC() // pools let go at the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse + m.StackInuse)
}
