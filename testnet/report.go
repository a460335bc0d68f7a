package testnet

import (
	"context"
	"errors"
	"time"

	"github.com/venn-p2p/venn/testnet/judge"
)

// Report is the result of a run. A null figure is not known.
type Report struct {
	Peers     int       `json:"peers"`
	Keys      int       `json:"keys"` // number of distinct keys
	Holdings  int       `json:"holdings"`
	Seed      uint64    `json:"seed"`
	Transport Transport `json:"transport"`
	Shaped    bool      `json:"shaped,omitempty"` // lines had their classes' rates, both ways

	Parts  int    `json:"parts,omitempty"`  // processes that the peers ran in, if several
	Part   string `json:"part,omitempty"`   // "I/N" if all figures are of the peers of one part alone
	Merged bool   `json:"merged,omitempty"` // part 0's report includes the figures of this part

	Phase       Phase    `json:"phase"`                 // last phase that the run reached
	Interrupted string   `json:"interrupted,omitempty"` // why the run ended before its end
	Notes       []string `json:"notes,omitempty"`       // further notes for a reader

	WallSeconds        float64  `json:"wall_seconds"`
	ConvergenceSeconds *float64 `json:"convergence_seconds"` // time until every peer holds every other's sample

	Queries          int     `json:"queries"`
	QueriesLike      string  `json:"queries_like"`  // rule by which queries were drawn, or their log
	QueryErrors      int     `json:"query_errors"`  // queries that ended with an error
	WrongHolders     int     `json:"wrong_holders"` // peers named by answers that lacked the key
	FindOne          FindOne `json:"find_one"`
	FindAll          FindAll `json:"find_all"`
	Costs                    // means over all queries
	LatencyMillis    Latency `json:"latency_ms"` // times of all queries, from start to end
	QueriesPerSecond float64 `json:"queries_per_second"`

	Classes map[string]Class `json:"classes"` // figures by the name of the link class

	SummaryBytes float64 `json:"summary_bytes_per_peer"` // bytes sent of summaries, with all that pubsub needs
	Sums
	Churn *Churn `json:"churn,omitempty"` // nil: collections stayed as they were
	Adds  *Adds  `json:"adds,omitempty"`  // nil: nobody added new keys

	Faulty         int  `json:"faulty,omitempty"` // peers that misbehaved, beside the others; convergence is not known then
	GoroutinesLeft *int `json:"goroutines_left"`
}

// Sums are figures of the peers of one process or of several. Merging adds a figure up, or takes the greatest.
type Sums struct {
	PubsubBytes   uint64            `json:"pubsub_bytes"`        // bytes of parts of summaries that came by pubsub
	DirectBytes   uint64            `json:"direct_bytes"`        // bytes of parts fetched directly
	LinkBudgetUse float64           `json:"link_budget_use_max"` // use of a link's budget in the worst window
	ProtocolBytes map[string]uint64 `json:"protocol_bytes"`      // bytes sent, by libp2p protocol

	ConnectionsMax int              `json:"connections_max"` // most connections of any peer at any time
	Neighbours     judge.Neighbours `json:"neighbours"`

	EpochsPublished int    `json:"epochs_published"` // summaries that the peers made of their own
	Deltas          int    `json:"deltas"`           // epochs of others that peers learned by deltas
	DeltaBytes      uint64 `json:"delta_bytes"`      // bytes of these deltas, with headers
	FullBytes       uint64 `json:"full_bytes"`       // bytes of the parts that deltas replaced

	Refused map[string]uint64 `json:"refused"` // messages of all nodes, by reason
	Wronged uint64            `json:"wronged"` // refused messages of members that do not misbehave
	Dropped map[string]uint64 `json:"dropped"` // messages by full queue; "connections": those closed for others

	MemoryBytes uint64 `json:"memory_bytes"` // bytes obtained from the system
}

// Costs are means over queries; nil where there were none.
type Costs struct {
	ProbesPerQuery   *float64 `json:"probes_per_query"`       // confirmations asked
	FalseProbes      *float64 `json:"false_probes_per_query"` // confirmations that found nothing
	MessagesPerQuery *float64 `json:"messages_per_query"`     // requests and answers
	HoldersPerQuery  *float64 `json:"holders_per_query"`      // holders found
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

// Latency has percentiles of the latency of queries, in milliseconds; nil where there were no queries.
type Latency struct {
	P50 *float64 `json:"p50"`
	P99 *float64 `json:"p99"`
}

// Class sums up the peers of one link class: their queries and, as means over the peers, their knowledge at the end of
// the run.
type Class struct {
	Rate          uint64   `json:"rate"` // rate of the links, bit/s
	Peers         int      `json:"peers"`
	PartsHeld     float64  `json:"parts_held"`
	BytesHeld     float64  `json:"bytes_held"`
	FalseMatches  float64  `json:"expected_false_matches"`
	FindOneRecall *float64 `json:"find_one_recall"`
	FindAllRecall *float64 `json:"find_all_recall"`
	Costs
}

// report makes the report of all peers.
func (r *run) report(p *partial) *Report {
	rep := &Report{
		Peers: r.data.Peers(), Keys: r.plan.Held(), Holdings: r.data.Holdings(),
		QueriesLike: r.cfg.queriesLike(),
		Seed:        r.cfg.Seed, Transport: r.cfg.Transport, Shaped: r.cfg.Shape,
		Phase: p.Phase, Interrupted: p.Interrupted, Notes: p.Notes,
		WallSeconds:  time.Since(r.began).Seconds(),
		SummaryBytes: float64(p.Summaries) / float64(max(1, p.Members)),
		Sums:         p.Sums,
		Faulty:       len(r.aside),
	}
	if r.churn != nil {
		rep.Churn = r.churn.report()
	}
	if r.adds != nil {
		rep.Adds = r.adds.report()
	}
	if p.Converged > 0 {
		rep.ConvergenceSeconds = pointer(p.Converged.Seconds())
	}
	rep.Classes = make(map[string]Class, len(p.Classes))
	var queries []asked
	for i := range p.Classes {
		rep.Classes[r.cfg.Links[i].Name] = p.Classes[i].report(r.cfg.Links[i].Rate)
		queries = append(queries, p.Classes[i].Asked...)
	}
	all, one, every := of(queries, anyKind), of(queries, forOne), of(queries, forAll)
	rep.Queries, rep.QueryErrors, rep.WrongHolders = all.queries, p.Failed, all.Wrong
	rep.FindOne = FindOne{one.queries, one.answered, one.recall()}
	rep.FindAll = FindAll{every.queries, every.recall()}
	rep.Costs = all.costs()
	if len(queries) > 0 {
		rep.LatencyMillis = Latency{P50: pointer(latency(queries, 0.5)), P99: pointer(latency(queries, 0.99))}
	}
	if p.Asking > 0 {
		rep.QueriesPerSecond = float64(rep.Queries) / p.Asking.Seconds()
	}
	return rep
}

// report returns the means over the peers of a class. rate is the rate of its links in bit/s.
func (c *classSums) report(rate uint64) Class {
	peers := float64(max(1, c.Peers))
	return Class{
		Rate: rate, Peers: c.Peers,
		PartsHeld: c.Parts / peers, BytesHeld: c.Bytes / peers, FalseMatches: c.FalseMatches / peers,
		FindOneRecall: of(c.Asked, forOne).recall(), FindAllRecall: of(c.Asked, forAll).recall(), Costs: of(c.Asked, anyKind).costs(),
	}
}

// reason returns the reason why a run ended early; "" if it didn't.
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

func millis(d time.Duration) float64 { return d.Seconds() * 1000 }

func pointer[T any](v T) *T { return &v }
