package agenda

import "time"

// Pause is the time between two rounds of a task that is repeated in case there is news. It doubles after each round
// without news, as in Trickle (RFC 6206): what does not change is repeated ever more rarely. The zero Pause is over,
// and the next one lasts the least time.
type Pause struct{ since, lasts time.Duration }

// Begin begins the next pause. The first pause lasts for the duration least. Each further pause lasts twice as long as
// the last, but no longer than the duration most.
func (p *Pause) Begin(now, least, most time.Duration) {
	p.since, p.lasts = now, min(max(2*p.lasts, least), most)
}

// Shorten notes news: it cuts the current pause to at most the duration least. The next pause is twice as long.
func (p *Pause) Shorten(least time.Duration) { p.lasts = min(p.lasts, least) }

// Doubled returns the duration wait, doubled the given number of times, but no longer than the duration most.
func Doubled(wait time.Duration, times int, most time.Duration) time.Duration {
	for ; times > 0 && wait < most; times-- {
		wait *= 2
	}
	return min(wait, most)
}

// End returns the time at which the pause is over.
func (p Pause) End() time.Duration { return p.since + p.lasts }
