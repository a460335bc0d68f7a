package runs

import (
	"sync"
	"sync/atomic"
)

// Parallel calls do(0) to do(n-1) on a number of processors, the caller's among them, and returns when all calls
// have returned.
func Parallel(n, processors int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var others sync.WaitGroup
	for range min(n, processors) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}
