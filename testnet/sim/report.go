package sim

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Report is what a run has shown.
type Report struct {
	Strategy   string
	Peers      int
	Online     float64 // peers that are there, on average over the queries' begins
	Components int     // into which the topology falls
	Queries    int
	Answered   int     // that found a holder
	Recall     float64 // holders found ÷ holders findable when the query began; of a query for one, one is findable
	Wrong      int     // peers named as holders that hold nothing of the kind

	MessagesPerQuery     float64 // all that were sent for queries
	ProbesPerQuery       float64 // looks into a collection other than the asker's
	WastedProbesPerQuery float64 // that found nothing
	QueryBytes           float64 // per query, without what it took to connect
	Covered              float64 // share of the peers that a query asked or knew of, on average of the queries that said it; below 0: none did
	Known                Known   // of those there at the end; zero: the strategy does not say
	Lines                []Known // and by the rate of their lines, slowest first

	UpkeepBytesPerPeer float64 // sent in all of the run, on average of all peers, to connect included
	ConnectBytes       float64 // of that to connect, for queries, too
	UpkeepBytesP99     float64 // and by the peer that 99 of 100 stay below

	Hops                   float64       // to the first holder found, on average of the queries answered
	LatencyP50, LatencyP99 time.Duration // until the first holder is found, of the queries answered

	// LoadP99 and LoadMax are messages for queries that a peer sent, as multiples of the mean. LoadP99 is what 99 of
	// 100 peers stay below, LoadMax is of the one that sent most.
	LoadP99, LoadMax float64

	Virtual   time.Duration // how far the run got
	Events    int           // that were recorded
	TraceHash string        // SHA-256 of the trace

	Detail *Detail // where Config.Detail asks for it
}

// outcome is what has become of a query.
type outcome struct {
	asker    strategy.ID
	key      uint32
	findable int
	start    time.Duration
	first    time.Duration // when the first holder was found; negative: none yet
	hops     int           // to that
	holders  []strategy.ID // found
	covered  covered
	sums     // known at the end
}

// covered is the share of the peers that a query says it has asked or knows of; the zero value says nothing.
type covered struct {
	query strategy.QueryID
	share float64
}

// tally adds up what peers do. A peer's part is changed by its own shard only, and so is a query's by that of its
// asker; what all may change at a time are accounts and handshakes.
type tally struct {
	sim        *Sim
	queries    []outcome
	upkeep     []int64        // bytes, by peer, without those of handshakes
	load       []int32        // messages for queries, by peer
	handshakes []atomic.Int32 // upkeep, by peer
	online     int
}

func newTally(s *Sim) tally {
	n := len(s.nodes)
	return tally{sim: s, upkeep: make([]int64, n), load: make([]int32, n), handshakes: make([]atomic.Int32, n)}
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

// settle adds the accounts of all shards up.
func (s *Sim) settle() (all account) {
	all = s.own
	all.queries = make([]sums, len(s.tally.queries))
	for i := range s.shards {
		all.merge(&s.shards[i].account)
	}
	for i := range s.tally.queries {
		s.tally.queries[i].sums = all.queries[i]
	}
	return all
}

// report sums up.
func (s *Sim) report(stopped error) (*Report, error) {
	t, all := &s.tally, s.settle()
	r := &Report{
		Strategy: s.cfg.Strategy.Name, Peers: len(s.nodes), Components: s.parts, Queries: len(t.queries), Wrong: all.wrong,
		Virtual: min(s.window, s.end), Events: all.events,
	}
	var want, have, messages, bytes, probes, wasted, hops int
	var latencies []time.Duration
	for i := range t.queries {
		q := &t.queries[i]
		messages, bytes, probes, wasted = messages+q.messages, bytes+q.bytes, probes+q.probes, wasted+q.wasted
		mark := judge.MarkOf(len(q.holders), q.findable, s.cfg.All)
		want, have = want+mark.Findable, have+mark.Found
		if q.first != never {
			r.Answered++
			hops += q.hops
			latencies = append(latencies, q.first-q.start)
		}
	}
	n := float64(max(1, len(t.queries)))
	r.Recall = float64(have) / float64(max(1, want))
	r.MessagesPerQuery, r.QueryBytes = float64(messages)/n, float64(bytes)/n
	r.ProbesPerQuery, r.WastedProbesPerQuery = float64(probes)/n, float64(wasted)/n
	r.Hops, r.Online = float64(hops)/float64(max(1, r.Answered)), float64(t.online)/n
	r.LatencyP50, r.LatencyP99 = judge.Quantile(latencies, 0.5), judge.Quantile(latencies, 0.99)
	upkeep, connecting := make([]int64, len(s.nodes)), make([]int64, len(s.nodes))
	for i := range upkeep {
		connecting[i] = HandshakeBytes * int64(t.handshakes[i].Load())
		upkeep[i] = t.upkeep[i] + connecting[i]
	}
	r.UpkeepBytesPerPeer, r.UpkeepBytesP99, r.ConnectBytes = mean(upkeep), float64(judge.Quantile(upkeep, 0.99)), mean(connecting)
	if m := mean(t.load); m > 0 {
		r.LoadP99, r.LoadMax = float64(judge.Quantile(t.load, 0.99))/m, float64(slices.Max(t.load))/m
	}
	r.Covered = t.coverage()
	r.Known, r.Lines = s.known()
	r.Detail = s.detail(all.watch)
	for window := range 2 { // one of them is not recorded yet
		s.record(window)
	}
	var err error
	if r.TraceHash, err = s.trace.end(); err != nil {
		return r, err
	}
	return r, stopped
}

// coverage is the mean share of the queries that said theirs; below 0: none did.
func (t *tally) coverage() float64 {
	sum, n := 0.0, 0
	for i := range t.queries {
		if c := t.queries[i].covered; c.query != 0 {
			sum, n = sum+c.share, n+1
		}
	}
	if n == 0 {
		return -1
	}
	return sum / float64(n)
}

// Known is what peers keep about others.
type Known struct {
	Rate           uint64  `json:"bits_per_second"` // of their lines, at the start, downwards; 0: any
	Peers          int     `json:"peers"`           // that were there at the end and said so
	Covers         float64 `json:"covers"`          // share of the network whose collections one knows, on average; below 0: none
	DirectoryBytes float64 `json:"directory_bytes"` // of all that one keeps, as on the wire, on average
}

// known is what the peers that are there keep about others: all of them, and those of each rate of lines, slowest
// first.
func (s *Sim) known() (all Known, lines []Known) {
	byRate := map[uint64]*Known{}
	for i := range s.nodes {
		p, ok := s.nodes[i].peer.(strategy.Measured)
		if !ok {
			continue
		}
		_, rate := s.cfg.Rates(strategy.ID(i))
		if byRate[rate] == nil {
			byRate[rate] = &Known{Rate: rate}
		}
		for _, k := range []*Known{&all, byRate[rate]} {
			k.Peers++
			k.Covers += p.Covers()
			k.DirectoryBytes += float64(p.DirectoryBytes())
		}
	}
	for _, rate := range slices.Sorted(maps.Keys(byRate)) {
		lines = append(lines, byRate[rate].mean())
	}
	return all.mean(), lines
}

// mean is k as means of what was summed up.
func (k Known) mean() Known {
	n := float64(max(1, k.Peers))
	k.Covers, k.DirectoryBytes = k.Covers/n, k.DirectoryBytes/n
	return k
}

func mean[T int32 | int64](xs []T) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += float64(x)
	}
	return sum / float64(max(1, len(xs)))
}
