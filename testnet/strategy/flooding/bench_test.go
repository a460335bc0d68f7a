package flooding_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
)

// The engine's own cost shows where machines do little: ns/message is for everything that the simulator does for a
// message.
func BenchmarkMessage(b *testing.B) {
	data := simtest.Clusters(b, 1000, 100)
	messages := 0.0
	for b.Loop() {
		r := simtest.Run(b, sim.Config{Strategy: flooding.Strategy, Data: data, Queries: 1000, Asking: 60 * time.Second, Patience: 5 * time.Second, Seed: 3})
		messages += r.MessagesPerQuery * float64(r.Queries)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/messages, "ns/message")
	b.ReportMetric(messages/float64(b.N), "messages/op")
}
