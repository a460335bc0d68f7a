package strategy_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// A visit is remembered for a minute, and forgotten after two.
func TestVisits(t *testing.T) {
	var v strategy.Visits[int]
	for i := range 600 {
		now := time.Duration(i) * time.Second
		v.Put(now, strategy.QueryID(i+1), i)
		for ago := range i + 1 {
			got, known := v.Get(strategy.QueryID(i - ago + 1))
			if ago < 60 && !known || ago >= 120 && known || known && got != i-ago {
				t.Fatalf("%v: a visit %d s ago: %d, %v", now, ago, got, known)
			}
		}
	}
}
