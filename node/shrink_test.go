package node

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
)

// TestMapsShrink: of peers that have come and gone, whatever they speak, nothing is kept in the tables of those who are
// here.
func TestMapsShrink(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	add(t, n, []byte("k"))
	var visitors []host.Host
	for i := range 4 {
		m := newNode(t)
		connect(t, m, n)
		find(t, m, []byte("k"), QueryOptions{})
		visitors = append(visitors, m.host, newRaw(t, n).h, newPlain(t, newOrigin(t, fmt.Sprint("plain ", i), 10), n).host)
	}
	eventually(t, "they are all here", func() bool {
		s := statusOf(t, n)
		return s.Links >= 8 && n.mesh.Remembered() >= 12
	})
	for _, h := range visitors {
		_ = h.Close()
	}
	left := map[string]int{}
	defer func() {
		if t.Failed() {
			t.Log(left)
		}
	}()
	eventually(t, "nothing is kept of them", func() bool {
		made, taken := n.links.Counts()
		left = map[string]int{"connections": made + taken, "pubsub": n.mesh.Remembered(), "pipes": n.pipes.Remembered(), "queues": n.in.Remembered()}
		err := n.view(t.Context(), func(l *loop) {
			left["links"], left["asks"], left["replies"], left["queries"] = len(l.links), len(l.asks), len(l.replies), len(l.queries)
		})
		sum := 0
		for _, k := range left {
			sum += k
		}
		return err == nil && sum == 0
	})
}
