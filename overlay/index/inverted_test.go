package index

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/inside"
)

// inverted is the other candidate for an index. For each value of the top bits of a node it lists the peers that have
// such a node, each with the node's other bits. For prefixes of one level, known in full.
type inverted struct {
	level, top int
	lists      [][]uint32 // peer<<8 | the rest of the node
}

func (x *inverted) each(p *summary.Prefix, do func(list *[]uint32, rest uint32)) {
	low := x.level - x.top
	var w inside.Walker
	w.Reset(p, 0, x.level, 0, 1<<32)
	for nodes := w.Next(); nodes != nil; nodes = w.Next() {
		for _, v := range nodes {
			do(&x.lists[v>>low], uint32(v&(1<<low-1)))
		}
	}
}

func (x *inverted) add(peer int, p *summary.Prefix) {
	x.each(p, func(list *[]uint32, rest uint32) { *list = append(*list, uint32(peer)<<8|rest) })
}

func (x *inverted) remove(peer int, p *summary.Prefix) {
	x.each(p, func(list *[]uint32, rest uint32) {
		l := *list
		l[slices.Index(l, uint32(peer)<<8|rest)] = l[len(l)-1]
		*list = l[:len(l)-1]
	})
}

func (x *inverted) candidates(dst []int, f summary.Fingerprint) []int {
	node := inside.Position(f, 0) >> (64 - x.level)
	low := x.level - x.top
	for _, v := range x.lists[node>>low] {
		if uint64(v&0xFF) == node&(1<<low-1) {
			dst = append(dst, int(v>>8))
		}
	}
	return dst
}

// BenchmarkCandidates compares both, on peers of 5,000 keys: the time of a query, of the replacement of one peer,
// and the bytes a peer.
func BenchmarkCandidates(b *testing.B) {
	const peers, n = 1000, 5000
	rng := rand.New(rand.NewPCG(1, 1))
	shape := summary.DefaultShape(n)
	var prefixes []*summary.Prefix
	for range peers + 16 {
		prefixes = append(prefixes, build(b, keys(rng, n), shape))
	}
	queries := keys(rng, 1<<12)
	var x Index
	y := inverted{level: int(shape.Levels[0]), top: int(shape.Levels[0]) - 8}
	y.lists = make([][]uint32, 1<<y.top)
	for i, p := range prefixes[:peers] {
		x.Set(i, p)
		y.add(i, p)
	}
	size := 24 * cap(y.lists)
	for _, l := range y.lists {
		size += 4 * cap(l)
	}
	var dst []int
	b.Run("query/rows", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			dst = x.Candidates(dst[:0], queries[i%len(queries)])
		}
		b.ReportMetric(float64(x.Memory())/peers, "B/peer")
	})
	b.Run("query/inverted", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			dst = y.candidates(dst[:0], queries[i%len(queries)])
		}
		b.ReportMetric(float64(size)/peers, "B/peer")
	})
	at := func(i int) (peer int, old, fresh *summary.Prefix) {
		peer = i * 617 % peers
		old, fresh = prefixes[peer], prefixes[peers+i%16]
		prefixes[peer], prefixes[peers+i%16] = fresh, old
		return peer, old, fresh
	}
	b.Run("replace/rows", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			peer, _, fresh := at(i)
			x.Set(peer, fresh)
		}
	})
	clear(y.lists) // so that both are in step again
	for i, p := range prefixes[:peers] {
		y.add(i, p)
	}
	b.Run("replace/inverted", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			peer, old, fresh := at(i)
			y.remove(peer, old)
			y.add(peer, fresh)
		}
	})
}

// BenchmarkChange is an epoch that differs by one key in a hundred.
func BenchmarkChange(b *testing.B) {
	const n = 5000
	rng := rand.New(rand.NewPCG(2, 2))
	shape := summary.DefaultShape(n)
	held := keys(rng, n)
	var epochs []*summary.Prefix
	for range 8 {
		epochs = append(epochs, build(b, held, shape))
		held = append(held[n/100:], keys(rng, n/100)...)
	}
	var x Index
	for i := range 500 {
		x.Set(i, epochs[0])
	}
	for i := 0; b.Loop(); i++ {
		x.Set(i%500, epochs[1+i/500%7])
	}
}
