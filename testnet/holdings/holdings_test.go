package holdings_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/testnet/holdings"
)

// collections draws sets of keys for some peers.
func collections(rng *rand.Rand, peers, keys int) [][]uint32 {
	out := make([][]uint32, peers)
	for p := range out {
		for k := range uint32(keys) {
			if rng.IntN(p+2) == 0 {
				out[p] = append(out[p], k)
			}
		}
	}
	return out
}

// While collections change, table and changes are as a plain set of pairs.
func TestNow(t *testing.T) {
	const peers, keys, more = 7, 40, 5
	rng := rand.New(rand.NewPCG(1, 2))
	lists := collections(rng, peers, keys)
	table, err := holdings.New[int32](keys, lists)
	if err != nil {
		t.Fatal(err)
	}
	table = table.WithKeys(keys + more)
	now, plain := holdings.NewNow(table), map[[2]int]bool{}
	for p, c := range lists {
		for _, k := range c {
			plain[[2]int{p, int(k)}] = true
		}
	}
	if table.Holdings() != len(plain) || table.Keys() != keys+more || table.Peers() != peers {
		t.Fatalf("%d holdings of %d keys, %d peers", table.Holdings(), table.Keys(), table.Peers())
	}
	if table.Holds(0, keys+more) || now.Holds(0, 1<<31) {
		t.Error("a key that there is not is held")
	}
	for range 2000 {
		p, k, held := rng.IntN(peers), rng.IntN(keys+more), rng.IntN(2) == 0
		if got, want := now.Change(int32(p), uint32(k), held), plain[[2]int{p, k}] != held; got != want {
			t.Fatalf("change of %d, %d to %v: %v", p, k, held, got)
		}
		plain[[2]int{p, k}] = held
		var holders []int32
		for q := range peers {
			if plain[[2]int{q, k}] {
				holders = append(holders, int32(q))
			}
			if now.Holds(int32(q), uint32(k)) != plain[[2]int{q, k}] {
				t.Fatalf("%d holds %d", q, k)
			}
		}
		if !slices.Equal(now.Holders(uint32(k)), holders) {
			t.Fatalf("holders of %d: %v, want %v", k, now.Holders(uint32(k)), holders)
		}
		if own := now.Collection(int32(p)); slices.Contains(own, uint32(k)) != held || !slices.IsSorted(own) {
			t.Fatalf("collection of %d: %v", p, own)
		}
	}
	if !slices.Equal(table.Collection(0), lists[0]) {
		t.Error("the start has changed")
	}
	for _, bad := range [][][]uint32{{{1, 1}}, {{2, 1}}, {{keys}}} {
		if _, err := holdings.New[int32](keys, bad); !errors.Is(err, holdings.ErrHoldings) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// Every query is valid: the asker may ask and lacks the key, and a peer that counts holds it. The rules weigh keys as
// they say.
func TestDraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	lists := collections(rng, 30, 200)
	table, err := holdings.New[int32](200, lists)
	if err != nil {
		t.Fatal(err)
	}
	mean := map[string]float64{} // holders of what is asked for
	for _, rule := range holdings.Rules {
		d := holdings.Drawer[int32]{Rule: rule, Exponent: 1.2, Held: holdings.NewNow(table), Alike: func(p int32) []int32 { return []int32{p, (p + 1) % 30} }}
		asks, counts := func(p int32) bool { return p%2 == 0 }, func(p int32) bool { return p%3 == 0 }
		for range 500 {
			p, k, drawn := d.Query(200, rng, asks, counts)
			if !drawn || !asks(p) || table.Holds(p, k) || !slices.ContainsFunc(table.Holders(k), counts) {
				t.Fatalf("%s: %d asks for %d, %v", rule, p, k, drawn)
			}
			mean[rule] += float64(len(table.Holders(k))) / 500
		}
	}
	if mean[holdings.Popular] <= mean[holdings.Uniform] || mean[holdings.Zipf] <= mean[holdings.Uniform] {
		t.Errorf("holders of what is asked for: %v", mean)
	}
	if holdings.CheckRule("often") == nil || holdings.CheckRule(holdings.Zipf) != nil {
		t.Error("rules are not checked")
	}
}

// TestInterest: nine queries of ten are for keys of peers with the same interest, where nothing else is said.
func TestInterest(t *testing.T) {
	var lists [][]uint32
	for k := range uint32(200) {
		lists = append(lists, []uint32{k})
	}
	table, err := holdings.New[int32](200, lists)
	if err != nil {
		t.Fatal(err)
	}
	d := holdings.Drawer[int32]{Rule: holdings.Interest, Held: holdings.NewNow(table), Alike: func(int32) []int32 { return []int32{0, 1} }}
	rng, alike := rand.New(rand.NewPCG(5, 6)), 0
	for range 2000 {
		if d.Key(0, 200, rng) < 2 {
			alike++
		}
	}
	if alike < 1750 || alike > 1850 { // four standard deviations
		t.Errorf("%d of 2000 are alike, want about 1800", alike)
	}
}
