package runs

import (
	"os"
	"runtime/debug"
)

// GrowHeap lets the heap grow by a percentage of the live memory, until the function that it returns is called. The
// environment's GOGC wins: then neither does anything.
func GrowHeap(percent int) (back func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(percent)
	return func() { debug.SetGCPercent(before) }
}
