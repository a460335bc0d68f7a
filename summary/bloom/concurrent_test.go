package bloom

import (
	"errors"
	"sync"
	"testing"
)

func TestConcurrent(t *testing.T) {
	for _, p := range []Params{
		{Blocks: 1, BlockBits: 100_003, Hashes: 7},
		{Blocks: 7, BlockBits: 10_001, Hashes: 1, Scheme: Double},
	} {
		s, err := NewConcurrent(p)
		if err != nil {
			t.Fatal(err)
		}
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
				s.Snapshot()
			})
		}
		wg.Wait()
		want := mustNew(t, p)
		for _, keys := range all {
			for _, k := range keys {
				want.Add(k)
			}
		}
		if !s.Snapshot().Equal(want) {
			t.Errorf("%+v: not the filter of all keys", p)
		}
		for _, k := range testKeys(500, 99) {
			if s.Contains(k) != want.Contains(k) {
				t.Error("Contains differs")
			}
		}
	}
}

func TestConcurrentMerge(t *testing.T) {
	p := Params{Blocks: 3, BlockBits: 1000, Hashes: 2}
	one, two := testKeys(50, 1), testKeys(50, 2)
	s := ConcurrentOf(filled(t, p, one))
	if err := s.Merge(filled(t, p, two)); err != nil {
		t.Fatal(err)
	}
	if !s.Snapshot().Equal(filled(t, p, append(one, two...))) {
		t.Error("Or is not the union")
	}
	p.Blocks = 2
	if err := s.Merge(mustNew(t, p)); !errors.Is(err, ErrMismatch) || s.Params().Blocks != 3 {
		t.Error(err)
	}
	if _, err := NewConcurrent(Params{}); !errors.Is(err, ErrParams) {
		t.Error(err)
	}
}
