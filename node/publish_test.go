package node

import (
	"reflect"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/node/core"

	"github.com/venn-p2p/venn/summary"
)

// TestShapeStays: epochs keep their shape while the number of keys is within its range, and say exactly what is held.
func TestShapeStays(t *testing.T) {
	n := newNode(t)
	keys := keysOf("k", 3000)
	var h summary.Header
	for _, c := range []struct {
		keys int
		same bool
	}{{2000, false}, {2400, true}, {2828, true}, {2900, false}, {2100, true}, {2000, false}} {
		add(t, n, keys[:c.keys]...)
		if _, err := n.Remove(t.Context(), keys[c.keys:]...); err != nil {
			t.Fatal(err)
		}
		b := n.build(summary.Header{Seed: n.cfg.seed.Tag(), Origin: string(n.ID()), Lifetime: core.Lifetime, Shape: h.Shape}, nil)
		if b.err != nil {
			t.Fatal(b.err)
		}
		if same := reflect.DeepEqual(b.shape, h.Shape); same != c.same {
			t.Errorf("%d keys: same shape: %v, want %v", c.keys, same, c.same)
		}
		h = b.stream.Header()
		if p := b.stream; h.N != c.keys || slices.ContainsFunc(keys[:c.keys], func(k []byte) bool { return !p.Contains(n.hasher.Fingerprint(k)) }) {
			t.Errorf("%d keys: a summary of %d, or of others", c.keys, h.N)
		}
	}
}
