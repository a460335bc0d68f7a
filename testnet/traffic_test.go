package testnet

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"pgregory.net/rapid"

	"github.com/venn-p2p/venn/node"
)

// A line is checked against sums over all windows of all that was ever sent.
func TestLineAgainstPlainSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l line
		var sent []uint64 // by bucket
		worst, bucket := uint64(0), 0
		for range rapid.IntRange(1, 60).Draw(t, "sends") {
			bucket += rapid.IntRange(0, buckets+3).Draw(t, "step")
			n := rapid.Uint64Range(0, 1000).Draw(t, "bytes")
			l.add(bucket, n)
			for len(sent) <= bucket {
				sent = append(sent, 0)
			}
			sent[bucket] += n
			sum := uint64(0)
			for b := max(0, bucket-buckets+1); b <= bucket; b++ {
				sum += sent[b]
			}
			worst = max(worst, sum)
			if l.sum != sum || l.worst != worst {
				t.Fatalf("after bucket %d: window %d, worst %d; want %d, %d", bucket, l.sum, l.worst, sum, worst)
			}
		}
	})
}

func TestMeterCountsSummariesApart(t *testing.T) {
	m := newMeter(time.Now())
	for id, n := range map[protocol.ID]int64{"/venn/meshsub/1.3.0": 100, node.PartsID: 20, node.HaveID: 3} {
		m.LogSentMessageStream(n, id, peer.ID("b"))
	}
	m.LogSentMessageStream(3, node.PartsID, peer.ID("c"))
	m.LogSentMessageStream(4, node.TailsID, peer.ID("c"))
	if w := m.worst(); w["b"] != 120 || w["c"] != 7 {
		t.Errorf("summaries by receiver %v", w)
	}
	m.mark()
	m.LogSentMessageStream(5, node.PartsID, peer.ID("c"))
	m.LogSentMessageStream(4, node.HaveID, peer.ID("c"))
	m.LogSentMessageStream(2, node.PartsID, peer.ID("d"))
	if s := m.marked(); s["b"] != (marked{}) || s["c"].bytes != 5 || s["d"] != (marked{2, 2}) {
		t.Errorf("since the mark %v", s)
	}
	if s := m.sent(); s[node.PartsID] != (volume{4, 30}) || s[node.HaveID] != (volume{2, 7}) {
		t.Errorf("sent by protocol %v", s)
	}
}
