//go:build unix

package flooding_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/runs"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
)

func flood(data *sim.Data, queries int) sim.Config {
	return simtest.Draw(sim.Config{Strategy: flooding.Strategy, Data: data, Asking: 60 * time.Second, Patience: 5 * time.Second, Seed: 3}, queries)
}

// processorTime is what this program has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The engine's own cost shows where machines do little: cpu-ns/message is the processor time for everything that the
// simulator does for a message.
func BenchmarkMessage(b *testing.B) {
	data := simtest.Clusters(b, 1000, 100)
	messages, began := 0.0, processorTime(b)
	for b.Loop() {
		r := simtest.Run(b, flood(data, 1000))
		messages += r.Messages * float64(len(r.Queries))
	}
	b.ReportMetric(float64((processorTime(b)-began).Nanoseconds())/messages, "cpu-ns/message")
	b.ReportMetric(messages/float64(b.N), "messages/op")
}

// How many times as fast two processors are as one. It is measured for two trials beside each other, as experiments run
// them, and for one run that has both processors. It wants two processors that do nothing else. What one run gains
// depends on how far these are from each other: ns/exchange is how long it takes them to hand a line of memory over and
// back. A virtual machine's processors may move between cores that are near each other and others that are not.
func BenchmarkTwoProcessors(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("one processor")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	data := simtest.Clusters(b, 1000, 100)
	on := func(processors int, do func()) time.Duration {
		runtime.GOMAXPROCS(processors)
		runtime.GC()
		began := time.Now()
		do()
		return time.Since(began)
	}
	run := func() { simtest.Run(b, flood(data, 500)) }
	shared := flood(data, 500)
	shared.Each = func(n int, do func(int)) { runs.Parallel(n, 2, do) }
	var one, together, spread, exchange time.Duration
	for b.Loop() {
		one += on(1, run)
		together += on(2, func() {
			var both sync.WaitGroup
			both.Go(run)
			both.Go(run)
			both.Wait()
		})
		exchange += on(2, exchanges) / exchanged
		spread += on(2, func() { simtest.Run(b, shared) })
	}
	b.ReportMetric(float64(exchange.Nanoseconds())/float64(b.N), "ns/exchange")
	b.ReportMetric(2*one.Seconds()/together.Seconds(), "×two-trials")
	b.ReportMetric(one.Seconds()/spread.Seconds(), "×one-run")
}

const exchanged = 2000

// exchanges has two goroutines hand a number to each other and back, as often as exchanged says.
func exchanges() {
	var there, back struct {
		atomic.Int64
		_ [120]byte
	}
	go func() {
		for i := int64(1); i <= exchanged; i++ {
			for there.Load() != i {
			}
			back.Store(i)
		}
	}()
	for i := int64(1); i <= exchanged; i++ {
		there.Store(i)
		for back.Load() != i {
		}
	}
}
