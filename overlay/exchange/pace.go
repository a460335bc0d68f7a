package exchange

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/bound"
)

// If a peer declares no receiving rate, its links begin at [FirstRate] and then follow the measured rate. The sender
// marks messages that follow each other at once, a train, and the receiver times them. The receiver reports the
// measured rate in its hello, and both ends use it. A report may lower a link's rate as far as leastRate, and at most
// double it. A lost message halves the rate of a link, declared or measured. It doubles again after each 30 s without
// a loss.
const (
	// FirstRate is the assumed rate at first, in bit/s, of a receiver's line that is not declared.
	FirstRate = 1_000_000
	// leastRate is the lowest rate that measurements can set, in bit/s.
	leastRate = FirstRate / bound.Enough
	// trainGap is the longest time to the next message of a train: the largest takes less on the slowest line.
	trainGap = agenda.Attempt
)

// pace is the rate at which one end of a link may send to the other.
type pace struct {
	rate  float64 // assumed rate of the receiver's line, bit/s
	lost  float64 // divisor of the rate for losses; at least 1
	until time.Duration
}

func newPace() pace { return pace{rate: FirstRate, lost: 1} }

// report follows the receiver's measured rate, in bit/s; 0: not measured. It at most doubles the assumed rate.
func (p *pace) report(measured uint64) {
	if measured > 0 {
		p.rate = max(leastRate, min(float64(measured), 2*p.rate))
	}
}

// lose halves the rate for a lost message, at most once a second, to no less than a sixteenth.
func (p *pace) lose(now time.Duration) {
	if now >= p.until-agenda.Lately+agenda.Beat {
		p.lost = min(16, 2*p.lost)
		p.until = now + agenda.Lately
	}
}

// regain doubles a rate that losses have lowered, 30 s after the last loss or doubling.
func (p *pace) regain(now time.Duration) {
	if p.lost > 1 && now >= p.until {
		p.lost /= 2
		p.until = now + agenda.Lately
	}
}

// of returns the rate of summaries, in bytes a second, from a line that sends up bit/s to one that declares down bit/s.
// If down is 0, this pace's rate stands for it.
func (p *pace) of(up, down uint64, share float64) float64 {
	if down == 0 {
		down = uint64(p.rate)
	}
	return LinkRate(up, down, share) / p.lost
}

// train measures the rate at which messages of one peer come in. It counts only messages that followed another at once,
// and the time between the two: the line was busy with nothing else.
type train struct {
	last           time.Duration // when the last message came
	more           bool          // the last message announced that another follows at once
	bytes, seconds float64
}

// came counts a message if it belongs to a train.
func (t *train) came(at time.Duration, bytes int, more bool) {
	if t.more && at >= t.last && at-t.last <= trainGap {
		t.bytes += float64(bytes)
		t.seconds += (at - t.last).Seconds()
	}
	t.last, t.more = at, more
}

// measured returns the rate in bit/s; 0 while less than a burst has come in trains.
func (t *train) measured() uint64 {
	if t.bytes < Burst(0) {
		return 0
	}
	return max(1, uint64(8*t.bytes/max(t.seconds, 1e-6)))
}

// forget keeps a quarter of the counts, so that later trains weigh more.
func (t *train) forget() { t.bytes, t.seconds = t.bytes/4, t.seconds/4 }
