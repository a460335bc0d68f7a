package exchange

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A token bucket lets through what a ledger of all that was taken would: never more than burst + rate × time in any
// span.
func TestBudgetAgainstSlowTwin(t *testing.T) {
	type payment struct {
		at    time.Duration
		bytes int
	}
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 6))
		rate := float64(rng.IntN(100_000))
		b := newBudget(rate, 0)
		var paid []payment
		now := time.Duration(0)
		for range 300 {
			now += time.Duration(rng.IntN(400)) * time.Millisecond
			b.refill(now)
			n := rng.IntN(20_000)
			// The level of a bucket that leaks: each payment since any earlier instant, less what has leaked since.
			allowed := true
			for i := range paid {
				sum := n
				for _, p := range paid[i:] {
					sum += p.bytes
				}
				allowed = allowed && float64(sum) <= Burst(rate)-reserve+rate*(now-paid[i].at).Seconds()+1e-6
			}
			allowed = allowed && float64(n) <= Burst(rate)-reserve
			if got := b.allows(n); got != allowed {
				t.Fatalf("seed %d: %d bytes at %v: allowed %v, want %v", seed, n, now, got, allowed)
			}
			if allowed {
				b.take(n)
				paid = append(paid, payment{now, n})
			}
		}
	}
}
