package agenda

import "time"

// Pause is the time between two rounds of something that is repeated in case there is news. It doubles after each
// round without news, as in Trickle (RFC 6206): what does not change is repeated ever more rarely. The zero Pause is
// over, and the next one lasts the least time.
type Pause struct{ since, lasts time.Duration }

// Begin begins the next pause. The first pause lasts least; each further one lasts twice as long as the last, at most
// most.
func (p *Pause) Begin(now, least, most time.Duration) {
	p.since, p.lasts = now, min(max(2*p.lasts, least), most)
}

// Shorten notes news: the current pause lasts no longer than least, and the next one doubles from there.
func (p *Pause) Shorten(least time.Duration) { p.lasts = min(p.lasts, least) }

// End returns the time at which the pause is over.
func (p Pause) End() time.Duration { return p.since + p.lasts }
