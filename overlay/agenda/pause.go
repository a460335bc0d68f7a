package agenda

import "time"

// Pause is the time between two rounds of something that is repeated in case of news. It doubles after each round
// without news, as in Trickle (RFC 6206): what does not change is repeated ever more rarely. The zero Pause is over,
// and the next begins with the least time.
type Pause struct{ since, lasts time.Duration }

// Begin begins the next pause: of the least time at first, then twice as long as the one before, up to most.
func (p *Pause) Begin(now, least, most time.Duration) {
	p.since, p.lasts = now, min(max(2*p.lasts, least), most)
}

// Shorten notes news: the pause under way lasts no longer than least, and later ones begin there.
func (p *Pause) Shorten(least time.Duration) { p.lasts = min(p.lasts, least) }

// End returns the time at which the pause is over.
func (p Pause) End() time.Duration { return p.since + p.lasts }
