package visits_test

import (
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/visits"
)

// A table holds what a map does: of successive queries, of scattered ones, and of some that are far apart by powers of
// two.
func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	last := uint32(0)
	for name, next := range map[string]func() uint32{
		"successive": func() uint32 { last++; return last },
		"few":        func() uint32 { return 1 + rng.Uint32N(300) },
		"scattered":  func() uint32 { return max(1, rng.Uint32()) },
		"apart":      func() uint32 { return (1 + rng.Uint32N(1000)) << 22 },
	} {
		var table visits.Table[int]
		if table.At(1) != nil {
			t.Errorf("%s: something in an empty table", name)
		}
		twin := map[strategy.QueryID]int{}
		for i := range 5000 {
			q := strategy.QueryID(next())
			if rng.IntN(3) > 0 {
				if got := table.Put(q, i); *got != i {
					t.Fatalf("%s: %d was put, %d is there", name, i, *got)
				}
				twin[q] = i
			}
			for _, q := range []strategy.QueryID{q, q - 1, q + 1} {
				want, there := twin[q]
				if got := table.At(q); (got != nil) != there || there && *got != want {
					t.Fatalf("%s: query %d: %v, want %d, %v", name, q, got, want, there)
				}
			}
		}
		for q, want := range twin {
			if got := table.At(q); got == nil || *got != want {
				t.Fatalf("%s: at last, query %d: %v, want %d", name, q, got, want)
			}
		}
	}
}

// Query 0 marks an empty slot: a table has nothing about it, and takes nothing.
func TestQueryZero(t *testing.T) {
	var table visits.Table[int]
	table.Put(1, 1)
	if got := table.At(0); got != nil {
		t.Errorf("query 0: %d", *got)
	}
	defer func() {
		if recover() == nil {
			t.Error("Put of query 0 does not panic")
		}
		if got := table.At(0); got != nil {
			t.Errorf("query 0 after Put: %d", *got)
		}
	}()
	table.Put(0, 2)
}
