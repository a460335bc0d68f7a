package strategy

import "time"

// Allowance bounds the bytes a second that a peer sends for upkeep. It saves up at most ten seconds' worth. A
// message may overdraw it; then the peer waits until that is made up for. The zero value sets no bound.
type Allowance struct {
	Rate  float64 // bytes a second; 0: no bound
	saved float64
	at    time.Duration
}

const burst = 10 * time.Second

// Ready reports whether a message may be sent: the allowance is not overdrawn.
func (a *Allowance) Ready(now time.Duration) bool {
	if a.Rate == 0 {
		return true
	}
	a.saved = min(a.saved+float64(a.Rate*(now-a.at).Seconds()), a.Rate*burst.Seconds())
	a.at = now
	return a.saved >= 0
}

// Covers reports whether a number of bytes can be sent without overdrawing.
func (a *Allowance) Covers(bytes int) bool { return a.Rate == 0 || float64(bytes) < a.saved }

// Spend subtracts the bytes of a message.
func (a *Allowance) Spend(bytes int) { a.saved -= float64(bytes) }

// Wait returns the time until a message may be sent; 0: now.
func (a *Allowance) Wait(now time.Duration) time.Duration {
	if a.Ready(now) {
		return 0
	}
	return time.Duration(-a.saved/a.Rate*float64(time.Second)) + time.Millisecond
}
