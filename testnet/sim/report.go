package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/statistics"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Report is the result of a run, in the simulator or on real hosts. Real hosts leave some fields at zero.
type Report struct {
	Peers    int
	Trace    string // SHA-256 of the simulator's trace; real hosts have none
	Wrong    int    // answers that named a peer without the key
	Messages float64
	// Messages and Bytes are means over queries. Real hosts may know only the sums over all queries: then the
	// counts in Queries are Unknown.
	Bytes float64

	Online     float64 // peers online when a query began, on average over the queries
	Components int     // connected parts of the network that the links at the start make
	Virtual    float64 // virtual seconds that were run

	Connect   float64 // mean bytes of handshakes a peer, a part of its upkeep; handshakes for queries are included
	UpkeepP99 float64 // upkeep in bytes that 99 of 100 peers do not exceed
	LoadP99   float64 // messages for queries that 99 of 100 peers do not exceed, over the mean of all peers
	LoadMax   float64 // messages for queries of the peer that sends the most, over the mean
	// mean share of the peers that a query asked or knew, as queries reported; nil: no query reported
	Covered   *float64
	Directory *float64 // mean bytes that a peer keeps about others, as on the wire; nil: not known
	Lines     []Known  // the peers' knowledge by the rate of their lines, slowest first

	Queries []Query
	Seconds []Second // one for each second, from second 0 on
	Kinds   []Sent   // kinds of upkeep, the most bytes first; connecting is a kind, too
}

// outcome is the state of a query, with its result so far.
type outcome struct {
	asker    strategy.ID
	key      uint32
	findable int
	start    time.Duration
	first    time.Duration // when the first holder was found; negative: none yet
	hops     int           // hops to the first holder
	holders  []strategy.ID // right holders found
	covered  covered
	sums
}

// covered is the share of the peers that a query asked or knew, as its machine reported. The zero value is no
// report.
type covered struct {
	query strategy.QueryID
	share float64
}

// tally adds up what peers do.
type tally struct {
	sim        *Sim
	queries    []outcome
	wrong      int
	upkeep     []int64 // upkeep bytes without handshakes, by peer
	load       []int32 // number of messages for queries, by peer
	handshakes []int64 // number of handshakes, by peer; their bytes are upkeep
	online     int
	watch      watch
}

func newTally(s *Sim) tally {
	n := len(s.nodes)
	return tally{
		sim: s, upkeep: make([]int64, n), load: make([]int32, n), handshakes: make([]int64, n),
		watch: watch{end: s.end, kinds: map[string]*Sent{}},
	}
}

func (t *tally) add(asker strategy.ID, at time.Duration, key uint32, findable int) strategy.QueryID {
	t.queries = append(t.queries, outcome{asker: asker, key: key, findable: findable, start: at, first: never})
	for _, on := range t.sim.churn.online {
		if on {
			t.online++
		}
	}
	return strategy.QueryID(len(t.queries))
}

// report makes the report of the run so far. It returns stopped unless writing the trace failed.
func (s *Sim) report(stopped error) (*Report, error) {
	t := &s.tally
	r := &Report{
		Peers: len(s.nodes), Components: s.components, Wrong: t.wrong, Virtual: min(s.window, s.end).Seconds(),
		Covered: t.coverage(), Seconds: t.watch.seconds, Kinds: t.watch.sorted(),
	}
	var messages, bytes int
	for i := range t.queries {
		q := t.queries[i].query(s.cfg.All)
		messages, bytes = messages+q.Messages, bytes+q.Bytes
		r.Queries = append(r.Queries, q)
	}
	n := float64(max(1, len(t.queries)))
	r.Messages, r.Bytes, r.Online = float64(messages)/n, float64(bytes)/n, float64(t.online)/n
	upkeep, connecting := make([]int64, len(s.nodes)), make([]int64, len(s.nodes))
	for i := range upkeep {
		connecting[i] = HandshakeBytes * t.handshakes[i]
		upkeep[i] = t.upkeep[i] + connecting[i]
	}
	r.UpkeepP99, r.Connect = float64(statistics.Quantile(upkeep, 0.99)), mean(connecting)
	if m := mean(t.load); m > 0 {
		r.LoadP99, r.LoadMax = float64(statistics.Quantile(t.load, 0.99))/m, float64(slices.Max(t.load))/m
	}
	r.Directory, r.Lines = s.known()
	var err error
	if r.Trace, err = s.trace.end(); err != nil {
		return r, err
	}
	return r, stopped
}

// query returns the outcome as the report has it.
func (o *outcome) query(all bool) Query {
	mark := judge.MarkOf(len(o.holders), o.findable, all)
	q := Query{
		At: o.start.Seconds(), Asker: int(o.asker), Key: o.key, Findable: mark.Findable, Found: mark.Found, Latency: -1, Hops: o.hops,
		Messages: o.messages, Bytes: o.bytes, Probes: o.probes, Wasted: o.wasted,
	}
	if o.first != never {
		q.Latency = float64((o.first - o.start).Microseconds()) / 1000
	}
	return q
}

// coverage returns the mean of the shares that queries reported; nil: no query reported one.
func (t *tally) coverage() *float64 {
	sum, n := 0.0, 0
	for i := range t.queries {
		if c := t.queries[i].covered; c.query != 0 {
			sum, n = sum+c.share, n+1
		}
	}
	if n == 0 {
		return nil
	}
	sum /= float64(n)
	return &sum
}

// Known measures what the peers with lines of one rate know of others.
type Known struct {
	Rate  uint64 `json:"bits_per_second"` // rate of their lines down, at the start
	Peers int    `json:"peers"`           // peers online at the end that measured it
	// mean share of the peers whose collections a peer knows; below 0: strategies without collections
	Covers float64 `json:"covers"`
	// mean bytes of all that a peer keeps about others, as on the wire
	DirectoryBytes float64 `json:"directory_bytes"`
}

// known averages what the peers online keep about others, over all peers and by the rate of their lines. It
// returns nil if the strategy does not measure it.
func (s *Sim) known() (directory *float64, lines []Known) {
	byRate := map[uint64]*Known{}
	bytes, peers := 0.0, 0
	for i := range s.nodes {
		p, ok := s.nodes[i].peer.(strategy.Measured)
		if !ok {
			continue
		}
		_, rate := s.cfg.Rates(strategy.ID(i))
		if byRate[rate] == nil {
			byRate[rate] = &Known{Rate: rate}
		}
		k, held := byRate[rate], float64(p.DirectoryBytes())
		k.Peers++
		k.Covers += p.Covers()
		k.DirectoryBytes += held
		bytes, peers = bytes+held, peers+1
	}
	for _, rate := range slices.Sorted(maps.Keys(byRate)) {
		k := *byRate[rate]
		k.Covers, k.DirectoryBytes = k.Covers/float64(k.Peers), k.DirectoryBytes/float64(k.Peers)
		lines = append(lines, k)
	}
	if peers == 0 {
		return nil, nil
	}
	bytes /= float64(peers)
	return &bytes, lines
}

func mean[T int32 | int64](xs []T) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += float64(x)
	}
	return sum / float64(max(1, len(xs)))
}
