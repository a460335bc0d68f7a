package experiment

import (
	"context"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/attenuated"
	"github.com/venn-p2p/venn/testnet/strategy/kademlia"
	"github.com/venn-p2p/venn/testnet/strategy/planetp"
	"github.com/venn-p2p/venn/testnet/strategy/qrp"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// Scale runs venn in networks of several sizes and, in the same networks, attenuated filters, QRP, gossip of whole
// filters and a DHT. The others may send as many bytes a second for upkeep, while they are there, as venn's peers have sent there, to connect
// included. What they take to connect comes on top.

const (
	// leastScale is the smallest network of Scale's own sweep.
	leastScale = 100.0
	// scaleOrigins is the default number of peers whose summaries a peer keeps in a network that grows. What memory and
	// the line carry doesn't grow with it.
	scaleOrigins = 128
	// scaleSession is the default median session in a network that grows: half of the peers of a public network stay
	// that long or less.
	scaleSession = time.Hour
)

// scaled are the strategies of Scale, if none are named. A recording is of venn alone.
func (o *NetworkOptions) scaled() []strategy.Strategy {
	if o.Look != nil {
		return []strategy.Strategy{venn.Strategy}
	}
	return []strategy.Strategy{venn.Strategy, attenuated.Strategy, qrp.Strategy, planetp.Strategy, kademlia.Strategy}
}

// scale gives a point of Scale what does not grow with the network.
func (p *setting) scale() {
	p.Params.Origins, p.Churn.Median = scaleOrigins, scaleSession
}

// beside is the strategy whose upkeep bounds that of the others; "": none does. What is said about upkeep otherwise
// goes before.
func (o *NetworkOptions) beside(name string, said []value) string {
	isVenn := func(s strategy.Strategy) bool { return s.Name == venn.Strategy.Name }
	saysUpkeep := func(v value) bool { return v.Name == strategy.Upkeep.Name }
	if name != Scale || o.Free || !slices.ContainsFunc(o.Strategies, isVenn) || slices.ContainsFunc(said, saysUpkeep) {
		return ""
	}
	return venn.Strategy.Name
}

// pace bounds a point's upkeep by that of the strategy beside it, in the same network. That one is run first.
func (n *networkRuns) pace(ctx context.Context, p *setting) error {
	if p.Beside == "" {
		return nil
	}
	i := slices.IndexFunc(n.points, func(q setting) bool {
		return q.Strategy == p.Beside && q.Trial == p.Trial && slices.Equal(q.At, p.At)
	})
	row, err := n.row(ctx, i)
	if err != nil {
		return err
	}
	p.Params.Upkeep = row.pace()
	return nil
}

// pace is the bytes a second that a peer sent for upkeep while it was there, to connect included.
func (r NetworkRow) pace() float64 {
	return r.UpkeepBytesPerPeer * float64(r.Peers) / max(1, r.Online) / r.VirtualSeconds
}

// lines are the classes of the peers' lines; nil: all have the same.
func (p *setting) lines() (link.Mix, error) {
	if p.Links == "" {
		return nil, nil
	}
	return link.ParseMix(p.Links)
}

// classes says whether the peers' lines are of several classes.
func (p *setting) classes() bool {
	mix, err := p.lines()
	return err == nil && len(mix) > 1 || p.Params.Strong > 0
}

// live is the memory in use, without what is only waiting to be collected.
func live() float64 {
	runtime.GC()
	runtime.GC() // pools let go at the second
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64())
}

// The lines of a network in which some peers are strong, in bit/s.
const (
	strongRate = 100_000_000
	weakRate   = 1_000_000
)

// rates are those of the peers' lines; nil: as their classes have it.
func (p *setting) rates() func(strategy.ID) (up, down uint64) {
	if p.Params.Strong == 0 {
		return nil
	}
	return func(id strategy.ID) (up, down uint64) {
		if strategy.Drawn(p.Params.Strong, p.Seed, id) {
			return strongRate, strongRate
		}
		return weakRate, weakRate
	}
}
