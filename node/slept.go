package node

import (
	"time"

	"github.com/venn-p2p/venn/node/core"
)

// leastSleep is the least time that counts as sleep. Corrections of the wall clock are smaller.
const leastSleep = 10 * time.Second

// sleep notices that the machine has slept. The core's clock stands still meanwhile, as the monotonic clocks of most
// systems do. The wall clock goes on. So a wall clock that is set forward counts as sleep, too.
type sleep struct{ ahead time.Duration } // lead of the wall clock over the core's, at the last call

// since returns the time that the machine has slept since the last call; the first call's result means nothing.
func (s *sleep) since(wall time.Time, core time.Duration) time.Duration {
	slept := time.Duration(wall.UnixNano()) - core - s.ahead
	s.ahead += slept
	if slept < leastSleep {
		return 0
	}
	return slept
}

// awake checks whether the machine has slept. Others' clocks went on meanwhile, so others may have dropped this node's
// epoch as too old. They do not accept an epoch that they have dropped.
func (l *loop) awake() {
	slept := l.sleep.since(l.wall(), l.n.now())
	if slept == 0 {
		return
	}
	l.n.log.Debug("slept", "for", slept)
	l.step(core.Slept{Time: slept})
}
