package runs

import (
	"runtime/debug"
	"testing"
)

// percent is how far the heap grows now.
func percent() int {
	p := debug.SetGCPercent(100)
	debug.SetGCPercent(p)
	return p
}

// TestGrowHeap: a run's percentage counts while it lasts, unless the environment has one.
func TestGrowHeap(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(70))
	t.Setenv("GOGC", "")
	back := GrowHeap(30)
	if got := percent(); got != 30 {
		t.Errorf("the heap grows by %d %%, want 30", got)
	}
	back()
	if got := percent(); got != 70 {
		t.Errorf("afterwards it grows by %d %%, want 70", got)
	}
	t.Setenv("GOGC", "70")
	back = GrowHeap(30)
	if got := percent(); got != 70 {
		t.Errorf("it grows by %d %%, but the environment says 70", got)
	}
	back()
	if got := percent(); got != 70 {
		t.Errorf("afterwards it grows by %d %%, but the environment says 70", got)
	}
}
