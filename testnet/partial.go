package testnet

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// partial is the report of the peers of one process. It holds sums, so that the reports of several processes add up.
type partial struct {
	Phase       Phase
	Interrupted string        // why the run ended before its end
	Notes       []string      // notes for the reader
	Members     int           // peers that were started
	Converged   time.Duration // time from the start until each member held every other's sample; 0: not known
	Failed      int           // queries that ended with an error
	Asking      time.Duration // time that queries have taken
	Classes     []classSums   // sums by class, in the order of Config.Links

	Summaries uint64 // bytes sent of summaries, with all that pubsub needs
	Sums
}

// classSums are sums over the peers of one link class.
type classSums struct {
	Peers                      int
	Parts, Bytes, FalseMatches float64 // held at the end of the run
	Asked                      []asked // queries of these peers
}

const reportTime = 10 * time.Second

// partial sums up the run so far.
func (r *run) partial(reached Phase, cause error) *partial {
	// The run's context may have ended; the nodes are still there to be asked.
	ctx, cancel := context.WithTimeout(context.Background(), reportTime)
	defer cancel()
	all := r.poll(ctx)
	r.known(all)
	p := &partial{
		Phase: reached, Interrupted: reason(cause), Members: len(r.members), Summaries: r.summaryBytes(),
		Sums: Sums{
			ProtocolBytes: make(map[string]uint64), Refused: make(map[string]uint64), Dropped: make(map[string]uint64), MemoryBytes: memory(),
		},
	}
	r.mu.Lock()
	p.Notes, p.Converged, p.Failed, p.Asking = r.notes, r.converged, r.failed, r.asking
	for _, of := range r.asked {
		p.Classes = append(p.Classes, classSums{Asked: of})
	}
	r.mu.Unlock()
	for i, m := range r.members {
		p.addNode(m.class, all[i])
		for id, n := range all[i].Blamed {
			if r.roster.number(id) != stranger {
				p.Wronged += n
			}
		}
		p.ConnectionsMax = max(p.ConnectionsMax, int(m.conns.most.Load()))
		p.LinkBudgetUse = max(p.LinkBudgetUse, r.budgetUse(m))
	}
	for id, v := range r.volumes() {
		p.ProtocolBytes[string(id)] = v.bytes
	}
	p.Neighbours = r.neighbours(ctx)
	return p
}

// addNode adds the status of a node to the sums, and to its class.
func (p *partial) addNode(class int, s node.Status) {
	c := &p.Classes[class]
	c.Peers++
	c.Parts += float64(s.PartsHeld)
	c.Bytes += float64(s.BytesHeld)
	c.FalseMatches += s.FalseMatches
	p.PubsubBytes += uint64(s.PubsubBytes)
	p.DirectBytes += uint64(s.DirectBytes)
	p.EpochsPublished += s.Epochs
	p.Deltas += s.Deltas
	p.DeltaBytes += uint64(s.DeltaBytes)
	p.FullBytes += uint64(s.SparedBytes)
	addTo(p.Refused, s.Refused)
	addTo(p.Dropped, s.Dropped)
}

func addTo(sums, counts map[string]uint64) {
	for k, n := range counts {
		sums[k] += n
	}
}

// phases in their order.
var phases = []Phase{Starting, Meshing, Spreading, Querying, Closing}

// merge adds the report of other peers of the same run.
func (p *partial) merge(o *partial) {
	p.Phase = phases[min(slices.Index(phases, p.Phase), max(0, slices.Index(phases, o.Phase)))]
	p.Interrupted = cmp.Or(p.Interrupted, o.Interrupted)
	p.Notes = append(p.Notes, o.Notes...)
	p.Members += o.Members
	if p.Converged > 0 && o.Converged > 0 {
		p.Converged = max(p.Converged, o.Converged)
	} else {
		p.Converged = 0
	}
	p.Failed += o.Failed
	p.Asking = max(p.Asking, o.Asking)
	for i := range p.Classes {
		p.Classes[i].merge(&o.Classes[i])
	}
	p.Summaries += o.Summaries
	p.PubsubBytes += o.PubsubBytes
	p.DirectBytes += o.DirectBytes
	addTo(p.ProtocolBytes, o.ProtocolBytes)
	p.LinkBudgetUse = max(p.LinkBudgetUse, o.LinkBudgetUse)
	p.ConnectionsMax = max(p.ConnectionsMax, o.ConnectionsMax)
	p.Neighbours.Merge(o.Neighbours)
	p.EpochsPublished += o.EpochsPublished
	p.Deltas += o.Deltas
	p.DeltaBytes += o.DeltaBytes
	p.FullBytes += o.FullBytes
	addTo(p.Refused, o.Refused)
	addTo(p.Dropped, o.Dropped)
	p.Wronged += o.Wronged
	p.MemoryBytes += o.MemoryBytes
}

func (c *classSums) merge(o *classSums) {
	c.Peers += o.Peers
	c.Parts += o.Parts
	c.Bytes += o.Bytes
	c.FalseMatches += o.FalseMatches
	c.Asked = append(c.Asked, o.Asked...)
}

// summaryBytes returns the bytes that all peers have sent of summaries, with all that pubsub needs.
func (r *run) summaryBytes() uint64 { return r.sent(carriesSummaries).bytes }

// budgetUse returns the worst use of its budget among the links on which the peer sends. It compares the bytes of
// summaries in a window with the link's rate × the window + its declared burst.
func (r *run) budgetUse(m *member) float64 {
	use := 0.0
	for to, bytes := range m.meter.worst() {
		if n := r.roster.number(to); n != stranger {
			use = max(use, r.linkUse(m, n, bytes))
		}
	}
	return use
}

// linkUse returns the bytes that a member sent to a peer in one window as a share of the link's budget for a window.
func (r *run) linkUse(from *member, to int, bytes uint64) float64 {
	up, down := r.cfg.Links[from.class].Rate, r.cfg.Links[r.plan.Class[to]].Rate
	rate := exchange.LinkRate(up, down, r.cfg.SummaryShare)
	return float64(bytes) / (rate*window.Seconds() + exchange.Burst(rate))
}

// neighbours scores the neighbours that the nodes have chosen by overlap, by the collections that all peers hold now.
func (r *run) neighbours(ctx context.Context) judge.Neighbours {
	chosen := make([][]int, r.data.Peers())
	r.each(parallel, func(_ int, m *member) {
		ids, err := m.similar(ctx)
		if err != nil {
			return
		}
		for _, p := range ids {
			if n := r.roster.number(p); n != stranger {
				chosen[m.number] = append(chosen[m.number], n)
			}
		}
	})
	var collections [][]uint32
	for p := range chosen {
		collections = append(collections, r.collection(strategy.ID(p)))
	}
	return judge.Chosen(r.data.Keys(), collections, chosen)
}

// memory returns the bytes that the process has got from the system, at least the most that it ever used at one time.
func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Sys
}
