package exchange

import (
	"time"
)

// copies tells how far the first copy of our own summary has got. A line too slow to send many copies sends one, part
// by part to whoever takes them first; the mesh brings them to the others.
type copies struct {
	end  int           // parts that have left us
	last time.Duration // when one last did, beyond the sample
}

// taken notes that parts up to end were sent.
func (c *copies) taken(now time.Duration, end int) {
	c.end = max(c.end, end)
	if end > 1 {
		c.last = now
	}
}
