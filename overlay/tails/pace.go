package tails

import (
	"slices"
	"time"
)

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
	// lagPause is the silence of a link after which its lag may fall at once.
	lagPause = time.Second
	// lagWithin is how long the lag of a silent link counts. Links that are paced most are heard within it.
	lagWithin = 15 * time.Second
)

// waited takes in how long a message of the link has waited in the driver. The link's lag is a mean over the last few.
// After a pause a message that has waited less counts alone: the driver may have caught up meanwhile.
func (l *link) waited(now, d time.Duration) {
	d = min(d, maxLag)
	if pause := now - l.came; d < l.lag && pause >= lagPause {
		l.lag = d
	}
	l.lag += (d - l.lag) / 4
	l.came, l.spoke = now, true
}

// behind is how far the driver is behind: the median of the lags of the links heard of late, unless
// limits say otherwise. Everything waits in the
// same queue, so a driver that is behind keeps all links waiting. A link that sends more than its share waits alone.
func (m *Machine) behind() time.Duration {
	var lags []time.Duration // that are not 0: in a simulation all are
	none := 0
	for _, l := range m.links {
		switch {
		case !l.spoke || m.now >= l.came+lagWithin:
		case l.lag == 0:
			none++
		default:
			lags = append(lags, l.lag)
		}
	}
	at := int(m.cfg.Limits.Behind * float64(none+len(lags)-1))
	if len(lags) == 0 || at < none {
		return 0
	}
	slices.Sort(lags)
	return lags[at-none]
}

// Pace is the least time between two messages to a link, and between two tails of the node's own. A driver that is
// behind has too much to do. Then messages come less often and say more, and each tail has more changes, so that there
// is less to do for each change. 0: the driver keeps up.
func (m *Machine) Pace() time.Duration {
	if p := paceLags * m.lag; p > leastPace {
		return p
	}
	return 0
}
