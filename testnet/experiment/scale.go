package experiment

import (
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// scaleOrigins is of how many peers one keeps summaries in a network that grows, if nothing else is said: what memory and the
// line carry doesn't grow with it.
const scaleOrigins = 128

// scaleSession is the median session in a network that grows, if nothing else is said: half of the peers of a public network
// stay so long or less.
const scaleSession = time.Hour

// scale gives a point of Scale what does not grow with the network.
func (p *setting) scale() {
	p.Params.Origins, p.Churn.Median = scaleOrigins, scaleSession
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

// rates are those of the peers' lines; nil: all have the same.
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
