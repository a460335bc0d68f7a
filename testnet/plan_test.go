package testnet

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/testnet/holdings"
)

// Queries are drawn by the rule that the configuration names, or come from a log: each for a key that its asker lacks.
func TestQueriesLike(t *testing.T) {
	first := drawn(t, Config{Peers: 8, Chunk: 1 << 20})
	log := filepath.Join(t.TempDir(), "log.csv")
	key := first.Data.Collection(0)[slices.IndexFunc(first.Data.Collection(0), func(k uint32) bool { return !first.Data.Holds(1, k) })]
	name := string(first.Keys[key])
	if err := os.WriteFile(log, []byte("1e9,1,"+name+"\n3,0,"+name+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	mean := map[string]float64{} // holders of what is asked for
	for _, like := range append(slices.Clone(holdings.Rules), log) {
		plan := drawn(t, Config{Peers: 8, Chunk: 1 << 20, Queries: 200, QueriesLike: like})
		asked, all := queries(plan), 0
		if want := map[bool]int{true: 2, false: 400}[like == log]; len(asked) != want { // of both kinds; the second line's asker holds the key
			t.Errorf("%s: %d queries, want %d", like, len(asked), want)
		}
		for _, q := range asked {
			if plan.Data.Holds(q.Peer, q.Key) || plan.Data.Others(q.Peer, q.Key) == 0 || like == log && (q.Peer != 1 || q.Key != key) {
				t.Fatalf("%s: %+v", like, q)
			}
			mean[like] += float64(plan.Data.Others(q.Peer, q.Key)) / float64(len(asked))
			if q.all {
				all++
			}
		}
		if all != len(asked)/2 {
			t.Errorf("%s: %d of %d queries are for all holders", like, all, len(asked))
		}
	}
	if mean[holdings.Popular] <= mean[holdings.Uniform] {
		t.Errorf("holders of what is asked for: %v", mean)
	}
}
