package testnet

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// digest sums up what a seed decides: identities, collections, link classes and queries.
func digest(t *testing.T, cfg Config) [sha256.Size]byte {
	t.Helper()
	r, err := newRun(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h, rng := sha256.New(), r.cfg.random(identifying)
	for i, name := range r.plan.Names {
		c := r.data.Collection(strategy.ID(i))
		id := must(peer.IDFromPrivateKey(must(identity(rng))))
		fmt.Fprintln(h, name, id, r.plan.Class[i], len(c))
		for _, k := range c {
			fmt.Fprintf(h, "%x\n", r.key(k))
		}
	}
	for _, q := range queries(r.plan) {
		fmt.Fprintln(h, q)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Two runs with one seed have the same identities, collections, link classes and queries, also when the data is dealt
// again. With another seed they have not.
func TestDigestOfASeed(t *testing.T) {
	for _, peers := range []int{0, 130} {
		cfg := Config{Chunk: 1 << 22, Peers: peers, Seed: 3}
		first := digest(t, cfg)
		if digest(t, cfg) != first {
			t.Errorf("%d peers: one seed gave two runs", peers)
		}
		if cfg.Seed = 4; digest(t, cfg) == first {
			t.Errorf("%d peers: two seeds gave one run", peers)
		}
	}
}
