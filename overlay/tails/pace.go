package tails

import "time"

const (
	// ownShare is the part of a line's budget that its owner's tails may take, of paceBytes for each link.
	ownShare  = 1.0 / 3
	paceBytes = 130
	// allShare is the part of it that the tails of all origins may take, if all make them as often. It may be more than
	// there is: a line that does not bear all tails gets fewer, of more changes.
	allShare = 2.0
)

// Pause is how long an origin waits after a tail, whose line bears so many bytes a second for summaries. What it makes
// all others carry, it has to carry of them.
func Pause(line float64, links, origins int) time.Duration {
	times := max(float64(links)/ownShare, float64(origins)/allShare)
	return time.Duration(paceBytes * times / line * float64(time.Second))
}

const (
	// paceLags is how many times the driver's lag lies between two messages to a link, or two tails of its own.
	paceLags = 4
	// leastPace is what the pace is worth while the driver keeps up.
	leastPace = 100 * time.Millisecond
	// maxLag bounds what a single message tells: the machine may have slept.
	maxLag = 2 * time.Second
)

// waited takes in how long a message has waited in the driver. The lag is a mean over the last few.
func (m *Machine) waited(d time.Duration) { m.lag += (min(d, maxLag) - m.lag) / 4 }

// Pace is the least time between two messages to a link, and between two tails of the node's own. A driver that is
// behind has too much to do. Then messages come less often and say more, and each tail has more changes, so that there is
// less to do for each change. 0: the driver keeps up.
func (m *Machine) Pace() time.Duration {
	if p := paceLags * m.lag; p > leastPace {
		return p
	}
	return 0
}
