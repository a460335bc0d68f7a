package testnet

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/node/leaktest"
)

// late is the share of the time by which timers are late, above which a run of real hosts need not count. In the
// cross-check of venn, runs that were late by up to .35 were as the simulator says, those late by .52 or more were not.
const late = 0.25

// Judge plays runs of real hosts until one counts, and fails the test if play says that something is wrong with it. A
// run counts unless the machine was late in it: busy with something else, it loses time that no simulator accounts for,
// and answers come later than peers wait for them. The third counts in any case.
func Judge(t *testing.T, play func() (wrong string)) {
	t.Helper()
	for try := 1; ; try++ {
		begun, lost := time.Now(), leaktest.Lateness()
		wrong := play()
		share := lost().Seconds() / time.Since(begun).Seconds()
		t.Logf("run %d: timers were late by %.3f of the time", try, share)
		switch {
		case wrong == "":
			return
		case share <= late || try == 3:
			t.Error(wrong)
			return
		}
		t.Logf("does not count: %s", wrong)
	}
}
