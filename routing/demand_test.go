package routing

import (
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestDemandFades: what a peer cost is halved every ten seconds, however long nobody looked.
func TestDemandFades(t *testing.T) {
	var d demand
	d.fade(time.Second)
	d.charge("p", 1000)
	if !d.over("p", 50) || d.over("p", 51) || d.over("q", 1) {
		t.Error("1000 messages are 50 a second, and others have cost nothing")
	}
	d.fade(11*time.Second - 1)
	if d.over("p", 51) || !d.over("p", 50) {
		t.Error("halved too early")
	}
	d.fade(25 * time.Second)
	d.fade(31 * time.Second)
	if !d.over("p", 6) || d.over("p", 7) {
		t.Error("not an eighth after 30 s")
	}
	d.fade(time.Hour)
	if d.over("p", 1) {
		t.Error("not forgotten after an hour")
	}
}

// TestDemandOfMany: thousands of peers that cost little don't make another seem to have cost too much.
func TestDemandOfMany(t *testing.T) {
	d := demand{seed: 1}
	d.fade(0)
	for i := range 10_000 {
		d.charge(wire.PeerID(fmt.Sprint(i)), 10)
	}
	over := 0
	for i := range 10_000 {
		if d.over(wire.PeerID(fmt.Sprint(i)), 100) { // 2000 messages: 2 % of all
			over++
		}
	}
	if over > 2*10_000*demandDelta {
		t.Errorf("%d of 10000 peers seem to have cost too much", over)
	}
}

// TestDemandOfFreshKeys: however many keys are asked for once, hardly one seems to be in demand, and one that is wanted
// does.
func TestDemandOfFreshKeys(t *testing.T) {
	for _, perSecond := range []int{20, 100, 500} {
		d := demand{seed: 1}
		wrong, hot := 0, 0
		for i := range 30 * perSecond {
			d.fade(time.Duration(i) * time.Second / time.Duration(perSecond))
			if d.asked(summary.Fingerprint(i)) {
				wrong++
			}
			if i%5 == 4 && d.asked(1<<40) && i > 10*perSecond {
				hot++
			}
		}
		if wrong > 30*perSecond/50 || hot != 30*perSecond/5-10*perSecond/5 {
			t.Errorf("%d keys a second: %d of %d fresh ones seem wanted, and a wanted one %d times of %d", perSecond, wrong, 30*perSecond, hot, 4*perSecond)
		}
	}
}
