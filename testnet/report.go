package testnet

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/testnet/judge"
)

// Report is what a run has shown. A null figure is one that is not known.
type Report struct {
	Peers     int       `json:"peers"`
	Keys      int       `json:"keys"` // distinct
	Holdings  int       `json:"holdings"`
	Seed      uint64    `json:"seed"`
	Transport Transport `json:"transport"`
	Shaped    bool      `json:"shaped,omitempty"` // lines carried what their classes say, both ways

	Phase       Phase    `json:"phase"`                 // that the run got to
	Interrupted string   `json:"interrupted,omitempty"` // why it ended before its end
	Notes       []string `json:"notes,omitempty"`       // what else a reader should know

	WallSeconds        float64  `json:"wall_seconds"`
	ConvergenceSeconds *float64 `json:"convergence_seconds"` // from the start until every peer holds every other's sample

	Queries          int     `json:"queries"`
	QueryErrors      int     `json:"query_errors"`  // of them, those that ended with an error
	WrongHolders     int     `json:"wrong_holders"` // named by answers, but without the key
	FindOne          FindOne `json:"find_one"`
	FindAll          FindAll `json:"find_all"`
	Costs                    // of all queries
	LatencyMillis    Latency `json:"latency_ms"` // of all queries, from start to end
	QueriesPerSecond float64 `json:"queries_per_second"`

	Classes map[string]Class `json:"classes"` // of links, by name

	SummaryBytes  float64           `json:"summary_bytes_per_peer"` // sent: summaries with all that pubsub needs
	PubsubBytes   uint64            `json:"pubsub_bytes"`           // of parts of summaries that came by pubsub
	DirectBytes   uint64            `json:"direct_bytes"`           // of those fetched directly
	LinkBudgetUse float64           `json:"link_budget_use_max"`    // worst window of any pair of peers and direction
	ProtocolBytes map[string]uint64 `json:"protocol_bytes"`         // sent, by libp2p protocol

	ConnectionsMax int              `json:"connections_max"` // of any peer at any time
	Neighbours     judge.Neighbours `json:"neighbours"`

	EpochsPublished int    `json:"epochs_published"` // summaries that the peers made of their own
	Deltas          int    `json:"deltas"`           // epochs of others that peers learned by deltas
	DeltaBytes      uint64 `json:"delta_bytes"`      // of these, with headers
	FullBytes       uint64 `json:"full_bytes"`       // of the parts in whose place they came
	Churn           *Churn `json:"churn,omitempty"`  // nil: collections stayed as they were

	Faulty  int               `json:"faulty,omitempty"` // peers that misbehaved, beside the others; convergence is not known then
	Refused map[string]uint64 `json:"refused"`          // messages of all nodes, by reason
	Dropped map[string]uint64 `json:"dropped"`          // by the queue that was full; "connections" counts those closed for others

	MemoryBytes    uint64 `json:"memory_bytes"` // obtained from the system
	GoroutinesLeft *int   `json:"goroutines_left"`
}

// Costs are means over queries.
type Costs struct {
	ProbesPerQuery   float64 `json:"probes_per_query"`       // confirmations asked
	FalseProbes      float64 `json:"false_probes_per_query"` // of them, those that found nothing
	MessagesPerQuery float64 `json:"messages_per_query"`     // requests and answers
	HoldersPerQuery  float64 `json:"holders_per_query"`      // found
}

// FindOne sums up the queries that want one holder.
type FindOne struct {
	Queries  int      `json:"queries"`
	Answered int      `json:"answered"`
	Recall   *float64 `json:"recall"`
}

// FindAll sums up the queries that want all holders.
type FindAll struct {
	Queries int      `json:"queries"`
	Recall  *float64 `json:"recall"`
}

// Latency is in milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// Class sums up the peers of one link class: what they hold at the end of the run, as means over the peers, and the
// queries they asked.
type Class struct {
	Rate          uint64   `json:"rate"` // bit/s
	Peers         int      `json:"peers"`
	PartsHeld     float64  `json:"parts_held"`
	BytesHeld     float64  `json:"bytes_held"`
	FalseMatches  float64  `json:"expected_false_matches"`
	FindOneRecall *float64 `json:"find_one_recall"`
	FindAllRecall *float64 `json:"find_all_recall"`
	Costs
}

// report puts together what is known of the run.
func (r *run) report(reached Phase, cause error) *Report {
	// The run's context may have ended; the nodes are still there to be asked.
	ctx, cancel := context.WithTimeout(context.Background(), reportTime)
	defer cancel()
	rep := &Report{
		Peers: len(r.ring.Peers()), Keys: r.ring.Keys(), Holdings: r.ring.Holdings(),
		Seed: r.cfg.Seed, Transport: r.cfg.Transport, Shaped: r.cfg.Shape,
		Phase: reached, Interrupted: reason(cause), Notes: r.notes,
		MemoryBytes: memory(),
	}
	all := r.poll(ctx)
	r.known(all)
	r.reportQueries(rep)
	r.reportClasses(rep, all)
	r.reportTraffic(rep, all)
	if r.churn != nil {
		rep.Churn = r.churn.report()
		r.truth = r.churn.now()
	}
	rep.Neighbours = r.neighbours(ctx)
	if r.converged > 0 {
		rep.ConvergenceSeconds = pointer(r.converged.Seconds())
	}
	rep.WallSeconds = time.Since(r.started).Seconds()
	return rep
}

const reportTime = 10 * time.Second

// reason says why a run ended early; "" if it didn't.
func reason(cause error) string {
	switch {
	case cause == nil:
		return ""
	case errors.Is(cause, context.DeadlineExceeded):
		return "timeout"
	case cause == context.Canceled: //nolint:errorlint // a cause that wraps it says more

		return "cancelled"
	}
	return cause.Error()
}

func (r *run) reportQueries(rep *Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all judge.Score
	for i := range r.scores {
		all.Merge(&r.scores[i])
	}
	rep.Queries, rep.QueryErrors, rep.WrongHolders = all.Queries(), r.failed, all.Wrong
	rep.FindOne = FindOne{all.FindOne.Queries, all.FindOne.Answered, recall(all.FindOne)}
	rep.FindAll = FindAll{all.FindAll.Queries, recall(all.FindAll)}
	rep.Costs = costs(&all)
	rep.LatencyMillis = Latency{P50: millis(all.Latency(0.5)), P99: millis(all.Latency(0.99))}
	if r.asking > 0 {
		rep.QueriesPerSecond = float64(rep.Queries) / r.asking.Seconds()
	}
}

func costs(s *judge.Score) Costs {
	return Costs{
		ProbesPerQuery:   s.PerQuery(s.Probes),
		FalseProbes:      s.PerQuery(s.FalseProbes),
		MessagesPerQuery: s.PerQuery(s.Messages),
		HoldersPerQuery:  s.PerQuery(s.FindOne.Found + s.FindAll.Found),
	}
}

// recall is nil where there was nothing to find.
func recall(t judge.Tally) *float64 {
	if t.Findable == 0 {
		return nil
	}
	return pointer(t.Recall())
}

func millis(d time.Duration) float64 { return d.Seconds() * 1000 }

func pointer[T any](v T) *T { return &v }

func (r *run) reportClasses(rep *Report, all []node.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rep.Classes = make(map[string]Class, len(r.cfg.Links))
	for i, l := range r.cfg.Links {
		score := &r.scores[i]
		c := Class{Rate: l.Rate, FindOneRecall: recall(score.FindOne), FindAllRecall: recall(score.FindAll), Costs: costs(score)}
		for p, s := range all {
			if r.classes[p] == i {
				c.Peers++
				c.PartsHeld += float64(s.PartsHeld)
				c.BytesHeld += float64(s.BytesHeld)
				c.FalseMatches += s.FalseMatches
			}
		}
		for _, sum := range []*float64{&c.PartsHeld, &c.BytesHeld, &c.FalseMatches} {
			*sum /= float64(max(1, c.Peers))
		}
		rep.Classes[l.Name] = c
	}
}

func (r *run) reportTraffic(rep *Report, all []node.Status) {
	rep.Faulty = len(r.faulty)
	rep.Refused, rep.Dropped = make(map[string]uint64), make(map[string]uint64)
	for _, s := range all {
		addTo(rep.Refused, s.Refused)
		addTo(rep.Dropped, s.Dropped)
		rep.PubsubBytes += uint64(s.PubsubBytes)
		rep.DirectBytes += uint64(s.DirectBytes)
		rep.EpochsPublished += int(s.Epoch.Sequence)
		rep.Deltas += s.Deltas
		rep.DeltaBytes += uint64(s.DeltaBytes)
		rep.FullBytes += uint64(s.SparedBytes)
	}
	rep.ProtocolBytes = make(map[string]uint64)
	for i, m := range r.members {
		for id, n := range m.meter.sent() {
			rep.ProtocolBytes[string(id)] += n
		}
		rep.ConnectionsMax = max(rep.ConnectionsMax, int(m.conns.most.Load()))
		rep.LinkBudgetUse = max(rep.LinkBudgetUse, r.budgetUse(i))
	}
	rep.SummaryBytes = float64(r.summaryBytes()) / float64(max(1, len(r.members)))
}

// summaryBytes is what all peers have sent of summaries, with all that pubsub needs.
func (r *run) summaryBytes() (sum uint64) {
	for _, m := range r.members {
		for id, n := range m.meter.sent() {
			if carriesSummaries(id) {
				sum += n
			}
		}
	}
	return sum
}

func addTo(sums, counts map[string]uint64) {
	for k, n := range counts {
		sums[k] += n
	}
}

// budgetUse is the worst use of its budget among the links on which the peer sends: the bytes of summaries in a window
// against the link's rate × the window + its declared burst.
func (r *run) budgetUse(from int) float64 {
	use := 0.0
	for to, bytes := range r.members[from].meter.worst() {
		n, ok := r.number[to]
		if !ok {
			continue
		}
		up, down := r.cfg.Links[r.classes[from]].Rate, r.cfg.Links[r.classes[n]].Rate
		rate := overlay.LinkRate(up, down, r.cfg.SummaryShare)
		use = max(use, float64(bytes)/(rate*window.Seconds()+overlay.Burst(rate)))
	}
	return use
}

// neighbours scores the neighbours that the nodes have chosen by overlap.
func (r *run) neighbours(ctx context.Context) judge.Neighbours {
	chosen := make([][]int, len(r.ring.Peers()))
	r.each(func(i int, m *member) {
		ids, err := m.similar(ctx)
		if err != nil {
			return
		}
		for _, p := range ids {
			if n, ok := r.number[p]; ok {
				chosen[i] = append(chosen[i], n)
			}
		}
	})
	return r.truth.Neighbours(chosen)
}

// memory is what the process has got from the system, which is at least what it ever used at one time.
func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
