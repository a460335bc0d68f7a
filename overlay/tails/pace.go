package tails

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
)

// tailBytes is the number of bytes that a tail takes of a line, roughly. A tail is paid for with three times as much of
// its owner's line for each link, or with half as much for each origin, whichever is more. So tails of a line's owner
// take up to a third of its budget, and tails of all origins up to twice the budget: a line that cannot carry all tails
// gets fewer, of more changes.
const tailBytes = 130

// Pause returns the time that an origin waits after a tail. line is the rate of its line for summaries, in bytes a
// second. The line must carry tails of all other origins as often as their lines must carry tails of this one.
func Pause(line float64, links, origins int) time.Duration {
	return time.Duration(float64(max(3*tailBytes*links, tailBytes/2*origins)) / line * float64(time.Second))
}

const (
	// paceLags is the number of driver's lags between two messages to a link, or two tails of the node's own.
	paceLags = 4
	// maxLag caps the lag from a single message: the machine may have slept.
	maxLag = agenda.Soon
)

// waited notes the time that a message of the link has waited in the driver. The link's lag is a mean over the last
// few. After a pause a message that has waited less counts alone: the driver may have caught up meanwhile.
func (l *link) waited(now, d time.Duration) {
	d = min(d, maxLag)
	if pause := now - l.came; d < l.lag && pause >= agenda.Beat {
		l.lag = d
	}
	l.lag += (d - l.lag) / 4
	l.came, l.spoke = now, true
}

// behind returns the lag of the driver: the median of the lags of links heard recently, or the quantile Limits.Behind.
// A link was heard recently if its last message is at most twice as old as the longest pause between two messages of a
// paced link. All messages wait in the same queue, so a driver that is behind keeps all links waiting. A link that
// sends more than its share waits alone.
func (m *Machine) behind() time.Duration {
	var lags []time.Duration // lags that are not 0; in a simulation all are 0
	none := 0
	for _, l := range m.links {
		switch {
		case !l.spoke || m.now >= l.came+2*paceLags*maxLag:
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

// Pace returns the least time between two messages to a link, and between two tails of the node's own. If the driver is
// behind, messages come less often and hold more, and each tail has more changes, so that there is less to do for each
// change. 0: the driver keeps up.
func (m *Machine) Pace() time.Duration {
	if p := paceLags * m.lag; p > tickEvery {
		return p
	}
	return 0
}
