package exchange

import (
	"time"
)

// copies is the progress of the first copy of our own summary. A line too slow to send many copies sends one, part by
// part to the peers that take them first; the mesh brings them to the others.
type copies struct {
	end  int           // parts that have left us
	last time.Duration // when a part beyond the sample last did
}

// taken notes that parts up to end were sent.
func (c *copies) taken(now time.Duration, end int) {
	c.end = max(c.end, end)
	if end > 1 {
		c.last = now
	}
}
