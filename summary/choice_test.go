package summary

import (
	"crypto/sha256"
	"slices"
	"testing"

	"lukechampine.com/blake3"

	"github.com/venn-p2p/venn/summary/internal/trie"
)

// BenchmarkHash is what the choice of hashes rests on: of keys (keyed), and of parts.
func BenchmarkHash(b *testing.B) {
	key, part := make([]byte, 36), make([]byte, 1600)
	secret := make([]byte, 32)
	h := Seed{Network: "test"}.Hasher()
	b.Run("key/siphash", func(b *testing.B) {
		for b.Loop() {
			h.Fingerprint(key)
		}
	})
	b.Run("key/blake3", func(b *testing.B) {
		k := blake3.New(16, secret)
		var sum [16]byte
		for b.Loop() {
			k.Reset()
			k.Write(key)
			k.Sum(sum[:0])
		}
	})
	b.Run("part/sha256", func(b *testing.B) {
		b.SetBytes(int64(len(part)))
		for b.Loop() {
			sha256.Sum256(part)
		}
	})
	b.Run("part/blake3", func(b *testing.B) {
		b.SetBytes(int64(len(part)))
		for b.Loop() {
			blake3.Sum256(part)
		}
	})
}

// BenchmarkForm compares the form that prefixes have in memory with others: time of one look-up, and bytes a key.
func BenchmarkForm(b *testing.B) {
	const n, level = 100_000, 28
	positions, _ := sortedPositions(nil, someKeys(1, n), 0)
	nodes := fold(positions, 64-level)
	queries, _ := sortedPositions(nil, someKeys(2, 1<<12), 0)
	slices.Reverse(queries[:1<<11])
	look := func(b *testing.B, bytes int, contains func(v uint64) bool) {
		i := 0
		for b.Loop() {
			contains(queries[i&(1<<12-1)] >> (64 - level))
			i += 1237
		}
		b.ReportMetric(float64(bytes)/n, "B/key")
	}
	s := trie.NewSet(nodes, 0, 1<<16, level-16)
	b.Run("set", func(b *testing.B) { look(b, s.SizeBytes(), func(v uint64) bool { return s.Has(v, 0) }) })
	b.Run("sorted", func(b *testing.B) {
		look(b, 4*n, func(v uint64) bool { _, ok := slices.BinarySearch(nodes, v); return ok })
	})
}

func fold(nodes []uint64, levels int) []uint64 {
	out := slices.Clone(nodes)
	for i := range out {
		out[i] >>= levels
	}
	return slices.Compact(out)
}

// TestMemory holds a whole prefix to 2.5 times its bytes on the wire.
func TestMemory(t *testing.T) {
	for _, n := range []int{12_000, 100_000} {
		p := mustBuild(t, someKeys(1, n), Shape{})
		ratio := float64(p.SizeBytes()) / float64(p.EncodedBytes())
		t.Logf("%d keys: %d bytes for %d on the wire, %.2f", n, p.SizeBytes(), p.EncodedBytes(), ratio)
		if ratio > 2.5 {
			t.Errorf("%d keys: %.2f times the wire's bytes", n, ratio)
		}
	}
}
