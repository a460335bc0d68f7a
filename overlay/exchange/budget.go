package exchange

import (
	"cmp"
	"time"
)

// UndeclaredRate is the rate, in bit/s, that a line counts as having when its owner declares none.
const UndeclaredRate = 10_000_000

// Burst is how many bytes a line of the given rate may send at once after a pause. It is one second's worth, and at
// least 16 KiB so that a slow line can carry a message at all.
func Burst(bytesPerSecond float64) float64 { return max(16<<10, bytesPerSecond) }

// LinkRate is the rate of summaries, in bytes a second, from a line that sends up bit/s to one that receives down
// bit/s. It is the given share of the slower end.
func LinkRate(up, down uint64, share float64) float64 {
	return share * float64(min(cmp.Or(up, UndeclaredRate), cmp.Or(down, UndeclaredRate))) / 8
}

// budget is a token bucket: in any time t at most [Burst] + rate·t bytes are taken, as long as takers ask first.
type budget struct {
	rate   float64 // bytes a second
	tokens float64
	last   time.Duration
}

func newBudget(rate float64, now time.Duration) budget {
	return budget{rate: rate, tokens: Burst(rate), last: now}
}

// refill credits the time since the last call.
func (b *budget) refill(now time.Duration) {
	b.tokens = min(Burst(b.rate), b.tokens+float64(b.rate*(now-b.last).Seconds()))
	b.last = now
}

// reserve is what is kept back of a burst for what is not asked for first: hellos, pubsub's own control messages.
const reserve = 2 << 10

// allows says whether n bytes may go now.
func (b *budget) allows(n int) bool { return b.tokens-reserve >= float64(n) }

// allowsWhole is allows for what cannot be split. Larger than a burst, it would never go, so it goes from a full bucket
// and is paid for afterwards.
func (b *budget) allowsWhole(n int) bool {
	return b.tokens-reserve >= min(float64(n), Burst(b.rate)-reserve)
}

func (b *budget) take(n int) { b.tokens -= float64(n) }

// gathered is the part of a burst that a line which is used up gathers before the next plan. A plan looks at all that
// is wanted. On a slow line it would else come five times a second, mostly to find that nothing fits. It is below what
// spare asks for.
const gathered = 1.0 / 3

// gather is how long it takes until n bytes may go, and some more.
func (b *budget) gather(n int) time.Duration {
	whole := Burst(b.rate)
	want := max(min(float64(n), whole-reserve), float64(gathered*whole)-reserve) + reserve - b.tokens
	return time.Duration(want / b.rate * float64(time.Second))
}

// spare says whether the line has not been used up of late.
func (b *budget) spare() bool { return b.tokens >= Burst(b.rate)/2 }
