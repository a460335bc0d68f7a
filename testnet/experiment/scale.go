package experiment

import (
	"runtime/metrics"
	"time"
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

// memory is the most memory that the program has had: of runs beside each other, all have the same.
type memory struct {
	most    uint64
	samples []metrics.Sample
}

func newMemory() *memory {
	return &memory{samples: []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}}
}

// look notes how much it is now.
func (m *memory) look() {
	metrics.Read(m.samples)
	m.most = max(m.most, m.samples[0].Value.Uint64()-m.samples[1].Value.Uint64())
}
