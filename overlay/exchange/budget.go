package exchange

import (
	"cmp"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// UndeclaredRate is the assumed rate, in bit/s, of a line whose owner declares none.
const UndeclaredRate = 10_000_000

// Burst returns the number of bytes that a line of the given rate may send at once after a pause: one second's worth,
// and at least 16 KiB so that a slow line can carry a message at all.
func Burst(bytesPerSecond float64) float64 { return max(leastBurst, bytesPerSecond) }

const leastBurst = 16 << 10

// LinkRate returns the rate of summaries, in bytes a second, from a line that sends up bit/s to one that receives down
// bit/s: the given share of the slower end. 0 stands for UndeclaredRate.
func LinkRate(up, down uint64, share float64) float64 {
	return share * float64(min(cmp.Or(up, UndeclaredRate), cmp.Or(down, UndeclaredRate))) / 8
}

// budget is a token bucket: in any time t at most burst + rate·t bytes are taken, as long as takers ask first.
type budget struct {
	rate   float64 // bytes a second
	least  float64 // least burst, in bytes
	tokens float64
	last   time.Duration
}

// newBudget returns a full budget whose burst is [Burst] of its rate.
func newBudget(rate float64, now time.Duration) budget {
	return budget{rate: rate, least: leastBurst, tokens: Burst(rate), last: now}
}

// burst returns the number of bytes that may go at once after a pause.
func (b *budget) burst() float64 { return max(b.least, b.rate) }

// refill adds the tokens of the time since the last call.
func (b *budget) refill(now time.Duration) {
	b.tokens = min(b.burst(), b.tokens+float64(b.rate*(now-b.last).Seconds()))
	b.last = now
}

// refillAt sets the rate, and then adds the tokens of the time since the last call.
func (b *budget) refillAt(now time.Duration, rate float64) {
	b.rate = rate
	b.refill(now)
}

// reserve is the number of bytes of a burst kept back for messages that do not ask first: a hello with a record, and
// pubsub's own control messages.
const reserve = wire.MaxRecord

// allows reports whether n bytes may go now.
func (b *budget) allows(n int) bool { return b.tokens-reserve >= float64(n) }

// allowsWhole reports whether a message of n bytes that cannot be split may go now. A message larger than a burst goes
// from a full bucket, and is paid for afterwards.
func (b *budget) allowsWhole(n int) bool {
	return b.tokens-reserve >= min(float64(n), b.burst()-reserve)
}

func (b *budget) take(n int) { b.tokens -= float64(n) }

// spare reports whether at least half of a burst is left.
func (b *budget) spare() bool { return b.tokens >= b.burst()/2 }

// gather returns the time until n bytes may go and at least half of a burst is left. A plan looks at all that is wanted.
// On a slow line it would otherwise run five times a second, mostly to find that nothing fits.
func (b *budget) gather(n int) time.Duration {
	want := max(min(float64(n)+reserve, b.burst()), b.burst()/2) - b.tokens
	return time.Duration(want / b.rate * float64(time.Second))
}
