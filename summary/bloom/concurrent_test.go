package bloom

import (
	"sync"
	"testing"
)

func TestConcurrent(t *testing.T) {
	for _, p := range []Params{
		{Blocks: 1, BlockBits: 100_003, Hashes: 7},
		{Blocks: 7, BlockBits: 10_001, Hashes: 1},
	} {
		s := must(NewConcurrent(p))
		const writers = 4
		var all [writers][][]byte
		var wg sync.WaitGroup
		for i := range writers {
			all[i] = testKeys(500, uint64(i))
			wg.Go(func() {
				for _, k := range all[i] {
					s.Add(k)
					if !s.Contains(k) {
						t.Error("a key just added is not there")
					}
				}
				s.snapshot()
			})
		}
		wg.Wait()
		want := must(New(p))
		for _, keys := range all {
			for _, k := range keys {
				want.Add(k)
			}
		}
		if !s.snapshot().Equal(want) {
			t.Errorf("%+v: not the filter of all keys", p)
		}
		for _, k := range testKeys(500, 99) {
			if s.Contains(k) != want.Contains(k) {
				t.Error("Contains differs")
			}
		}
	}
}
