package overlay

import "time"

// copies remembers which neighbour was sent which part of our own summary first. A line too slow to send many copies sends
// one, to different neighbours in turn; whoever else asks is left to hear of another holder.
type copies struct {
	first []firstCopy // by part
	held  int         // parts that some neighbour has announced
}

type firstCopy struct {
	to PeerID
	at time.Duration
}

const (
	// holdBack is how long after the first copy of a part another one is held back.
	holdBack = 5 * time.Second
	// holdBackHeld is the same once a neighbour has announced the part.
	holdBackHeld = 20 * time.Second
)

// until returns the end of the run of parts from..end-1 that a peer may be sent now.
func (c *copies) until(now time.Duration, to PeerID, from, end int) int {
	for k := from; k < min(end, len(c.first)); k++ {
		wait := holdBack
		if k < c.held {
			wait = holdBackHeld
		}
		if f := c.first[k]; f.to != "" && f.to != to && now-f.at < wait {
			return k
		}
	}
	return end
}

// sent notes that a peer was sent parts from..end-1.
func (c *copies) sent(now time.Duration, to PeerID, from, end int) {
	for len(c.first) < end {
		c.first = append(c.first, firstCopy{})
	}
	for k := from; k < end; k++ {
		if c.first[k].to == "" {
			c.first[k] = firstCopy{to, now}
		}
	}
}
