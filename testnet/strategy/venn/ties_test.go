package venn

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Ties are as plain maps have them, and none is left that says nothing.
func TestTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const peers = 20
	var own ties
	var keeps, mesh, closing [peers]bool
	made := map[strategy.ID]time.Duration{}
	for now := range time.Duration(5000) {
		p, set := strategy.ID(rng.IntN(peers)), rng.IntN(3) == 0
		switch rng.IntN(5) {
		case 0:
			own.change(p, func(x *tie) { x.keeps = set })
			keeps[p] = set
		case 1:
			own.change(p, func(x *tie) { x.mesh = set })
			mesh[p] = set
		case 2:
			own.change(p, func(x *tie) { x.closing = set })
			closing[p] = set
		case 3:
			if set {
				own.change(p, func(x *tie) { x.made, x.used = true, now })
				made[p] = now
			} else {
				own.change(p, func(x *tie) { x.made = false })
				delete(made, p)
			}
		case 4:
			own.use(p, now)
			if _, there := made[p]; there {
				made[p] = now
			}
		}
		used, is := made[p]
		got := own.of(p)
		if got.peer != p || got.keeps != keeps[p] || got.mesh != mesh[p] || got.closing != closing[p] || got.made != is || is && got.used != used {
			t.Fatalf("at %d: %+v, want %v %v %v %v %v", now, got, keeps[p], mesh[p], closing[p], is, used)
		}
		said, meshed := 0, 0
		for q := range strategy.ID(peers) {
			if _, is := made[q]; is || keeps[q] || mesh[q] || closing[q] {
				said++
			}
			if mesh[q] {
				meshed++
			}
		}
		if len(own) != said || own.meshed() != meshed || !slices.IsSortedFunc(own, func(a, b tie) int { return int(a.peer - b.peer) }) {
			t.Fatalf("at %d: %d ties, %d in the mesh, want %d and %d: %+v", now, len(own), own.meshed(), said, meshed, own)
		}
	}
}
