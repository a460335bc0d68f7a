package agenda_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
)

// The slow twin is a list of all times that were named since the task was last done.
func TestAgendaAgainstSlowTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a := agenda.New(3)
	named := [][]time.Duration{{0}, {0}, {0}}
	for now := range time.Duration(3000) {
		task := rng.IntN(len(named))
		if rng.IntN(2) == 0 {
			at := now + time.Duration(rng.IntN(20)-3)
			a.By(task, at)
			named[task] = append(named[task], at)
			continue
		}
		due := false
		for _, at := range named[task] {
			due = due || at <= now
		}
		if got := a.Take(task, now); got != due {
			t.Fatalf("task %d at %d: due %v, want %v", task, now, got, due)
		}
		if due {
			named[task] = nil
		}
		if len(named[task]) == 0 && a.At(task) != agenda.Never {
			t.Fatalf("task %d at %d: at %v", task, now, a.At(task))
		}
	}
}
