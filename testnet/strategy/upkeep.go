package strategy

import "time"

// allowance is what a peer may send for upkeep: so many bytes a second, saved up for allowanceBurst at most. What is sent may
// overdraw it once; then the peer waits. The zero value bounds nothing.
type allowance struct {
	rate  float64 // bytes a second; 0: no bound
	saved float64
	at    time.Duration
}

const allowanceBurst = 10 * time.Second

// ready says whether something may be sent.
func (a *allowance) ready(now time.Duration) bool {
	if a.rate == 0 {
		return true
	}
	a.saved = min(a.saved+float64(a.rate*(now-a.at).Seconds()), a.rate*allowanceBurst.Seconds())
	a.at = now
	return a.saved >= 0
}

// spend takes what is sent off.
func (a *allowance) spend(bytes int) { a.saved -= float64(bytes) }

// wait is how long it takes until something may be sent.
func (a *allowance) wait(now time.Duration) time.Duration {
	if a.ready(now) {
		return 0
	}
	return time.Duration(-a.saved/a.rate*float64(time.Second)) + time.Millisecond
}
