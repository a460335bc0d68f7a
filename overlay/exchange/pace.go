package exchange

import (
	"time"
)

// Where a peer declares no rate for what it receives, its links begin at [FirstRate] and go on at what arrives there.
// The sender marks messages that follow each other at once, a train, and the receiver times them. The receiver says in
// its hello what it measured, and both ends use it alike. A link is lowered to that at once, and raised to twice what
// it had at most. Lost messages halve a link, declared or not, until it has lost none for a while.
const (
	// FirstRate is the rate, in bit/s, that the line of a receiver that declares none counts as having at first.
	FirstRate = 1_000_000
	// leastRate is the lowest to which measurements and losses bring a link, in bit/s.
	leastRate = 64_000
	// trainBytes is how much must have come in trains for a measurement.
	trainBytes = 16 << 10
	// trainGap is how much later the next message of a train may come at most: the largest on the slowest line.
	trainGap = 8 * time.Second
	// trainRun is the approximate size of messages to a peer that declares no rate: a few of them make a train.
	trainRun = 8 << 10
	// regainAfter is how long a link that lost messages stays lowered after the last loss, each time it is doubled.
	regainAfter = 30 * time.Second
)

// pace is the rate that one end of a link may send to the other.
type pace struct {
	rate  float64 // bit/s that the receiver's line counts as having
	lost  float64 // by how much it is divided for losses; at least 1
	until time.Duration
}

func newPace() pace { return pace{rate: FirstRate, lost: 1} }

// report takes in what the receiver measured.
func (p *pace) report(measured uint64) {
	if measured > 0 {
		p.rate = max(leastRate, min(float64(measured), 2*p.rate))
	}
}

// lose takes in that a message was lost, once a second at most.
func (p *pace) lose(now time.Duration) {
	if now >= p.until-regainAfter+time.Second {
		p.lost = min(16, 2*p.lost)
		p.until = now + regainAfter
	}
}

// regain takes half of what losses cost back when there were none for a while.
func (p *pace) regain(now time.Duration) {
	if p.lost > 1 && now >= p.until {
		p.lost /= 2
		p.until = now + regainAfter
	}
}

// of is the rate of summaries, in bytes a second, from a line that sends up bit/s to one that declares down bit/s. If
// down is 0, the rate of this pace stands for it.
func (p *pace) of(up, down uint64, share float64) float64 {
	if down == 0 {
		down = uint64(p.rate)
	}
	return LinkRate(up, down, share) / p.lost
}

// train measures the rate at which the messages of one peer come in. Only those that follow another at once count, from
// when that one came: the line was busy with nothing else.
type train struct {
	last           time.Duration // when the last message came
	more           bool          // it said that another follows at once
	bytes, seconds float64
}

// came takes in a message.
func (t *train) came(at time.Duration, bytes int, more bool) {
	if t.more && at >= t.last && at-t.last <= trainGap {
		t.bytes += float64(bytes)
		t.seconds += (at - t.last).Seconds()
	}
	t.last, t.more = at, more
}

// measured is the rate in bit/s, 0 while too little has come in trains.
func (t *train) measured() uint64 {
	if t.bytes < trainBytes {
		return 0
	}
	return max(1, uint64(8*t.bytes/max(t.seconds, 1e-6)))
}

// forget lets later trains count for more.
func (t *train) forget() { t.bytes, t.seconds = t.bytes/4, t.seconds/4 }
