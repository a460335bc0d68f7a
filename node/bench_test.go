package node

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// BenchmarkFind is the local part of a query on a node that knows 1,000 peers of 10,000 keys each. It ends when the
// peers to ask are chosen. Half of the keys are held by one of them, half by nobody.
func BenchmarkFind(b *testing.B) {
	const peers, keys = 1000, 10_000
	n := knowing(b, peers, keys)
	took := make([]time.Duration, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		i := len(took)
		key := fmt.Appendf(nil, "%d/%d", i%(2*peers), i%keys)
		begun := time.Now()
		q := routing.Query{ID: routing.QueryID(1 + i), Key: key, Want: 1}
		if err := n.view(b.Context(), func(l *loop) { l.core.Step(n.now(), routing.Start{Query: q}) }); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
		if err := n.view(b.Context(), func(l *loop) { l.core.Step(n.now(), routing.Cancel{ID: q.ID}) }); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

// knowing returns a node that holds the summaries of peers that exist only as these.
func knowing(b *testing.B, peers, keys int) *Node {
	b.Helper()
	n := newNode(b, WithBandwidth(1e9, 1e9), WithMemory(256<<20))
	r := newRaw(b, n)
	byGroup := make(map[wire.GroupID]origin)
	var items []wire.Item
	whole := 0
	for i := range peers {
		o := newOrigin(b, fmt.Sprint(i), keys)
		byGroup[o.item().Group] = o
		items = append(items, o.item())
		whole += o.stream.EncodedBytes()
	}
	r.answerWith(func(it wire.Item) *wire.Parts { return byGroup[it.Group].parts(b, it) })
	r.meshed(n)
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(2 * time.Second) {
		for part := range slices.Chunk(items, wire.MaxItems) {
			r.announce(n, part...)
		}
		s, err := n.Status(b.Context())
		if err == nil && s.Origins == peers && s.BytesHeld >= whole/2 {
			b.Logf("%d of %d bytes of summaries held", s.BytesHeld, whole)
			return n
		}
		if time.Now().After(end) {
			b.Fatalf("%d origins and %d of %d bytes after two minutes, %v", s.Origins, s.BytesHeld, whole, err)
		}
	}
}
