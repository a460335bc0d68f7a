package join

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/summary/bloom"
)

// makeSets makes sets of the given sizes of keys of 8 to 40 bytes, with so many keys common to all, and as many
// common to each two neighbours.
func makeSets(r *rand.Rand, common, pairwise int, sizes ...int) []Set {
	key := func() []byte {
		b := make([]byte, 8+r.IntN(33))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	sets := make([]Set, len(sizes))
	for range common {
		k := key()
		for i := range sets {
			sets[i] = append(sets[i], k)
		}
	}
	for i := 1; i < len(sets); i++ {
		for range pairwise {
			k := key()
			sets[i-1], sets[i] = append(sets[i-1], k), append(sets[i], k)
		}
	}
	for i, size := range sizes {
		for len(sets[i]) < size {
			sets[i] = append(sets[i], key())
		}
		r.Shuffle(len(sets[i]), func(a, b int) { sets[i][a], sets[i][b] = sets[i][b], sets[i][a] })
	}
	return sets
}

// slowJoin is the intersection by comparing everything.
func slowJoin(sets []Set) [][]byte {
	var common [][]byte
	for _, key := range sets[0] {
		everywhere := true
		for _, s := range sets[1:] {
			everywhere = everywhere && slices.ContainsFunc(s, func(k []byte) bool { return bytes.Equal(k, key) })
		}
		if everywhere {
			common = append(common, key)
		}
	}
	slices.SortFunc(common, bytes.Compare)
	return slices.CompactFunc(common, bytes.Equal)
}

func sourcesOf(sets []Set) []Source {
	sources := make([]Source, len(sets))
	for i, s := range sets {
		sources[i] = s
	}
	return sources
}

func TestJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		common, pairwise int
		sizes            []int
	}{
		{0, 0, []int{0}},
		{5, 0, []int{5}},
		{0, 0, []int{0, 0, 10}},
		{1, 0, []int{1, 1}},
		{0, 0, []int{1000, 1000}},
		{20, 0, []int{1000, 1000}},
		{20, 100, []int{1000, 500, 2000, 800}},
		{1000, 0, []int{1000, 1000, 1000}},
		{3, 0, []int{5, 4000}},
		{30, 10, []int{300, 300, 300, 300, 300, 300, 300, 300}},
	} {
		sets := makeSets(r, c.common, c.pairwise, c.sizes...)
		if len(sets[0]) > 0 {
			sets[0] = append(sets[0], sets[0][0]) // a key twice
		}
		for _, p := range []bloom.Params{
			{},
			{Seed: bloom.Seed{K0: 1, K1: 2}},
			{Blocks: 1, BlockBits: 1, Hashes: 1},
			{Blocks: 6, BlockBits: 1000, Hashes: 1},
			{Blocks: 1, BlockBits: 20_000, Hashes: 3},
		} {
			keys, report, err := Join(sourcesOf(sets), p)
			if err != nil {
				t.Fatalf("%+v %+v: %v", c, p, err)
			}
			if want := slowJoin(sets); !slices.EqualFunc(keys, want, bytes.Equal) {
				t.Errorf("%+v %+v: %d keys, want %d", c, p, len(keys), len(want))
			}
			// Where all is common the filters move for nothing; else the plan costs at most the messages' heads.
			limit := report.Shipping + 24*len(sets)
			if c.common > 0 && c.common == c.sizes[0] {
				limit += report.Shipping / 10
			}
			if p.Blocks == 0 && report.Moved() > limit {
				t.Errorf("%+v: moved %d bytes, shipping takes %d", c, report.Moved(), report.Shipping)
			}
		}
	}
}

// TestEstimated compares the estimate with the truth where no two sets share what not all share.
func TestEstimated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, common := range []int{100, 1000, 5000} {
		sets := makeSets(r, common, 0, 5000, 6000, 8000)
		_, report, err := Join(sourcesOf(sets), bloom.Params{Blocks: 4, BlockBits: 20_000, Hashes: 1})
		if err != nil || math.Abs(report.Estimated-float64(common)) > 100 {
			t.Errorf("%d in common, estimated %v, %v", common, report.Estimated, err)
		}
	}
}

// TestReduces runs the last step with every number of blocks: the one chosen has to be nearly the best.
func TestReduces(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, common := range []int{0, 300, 2900} {
		sets := makeSets(r, common, 0, 3000, 3000, 3000)
		p := bloom.Params{Blocks: 8, BlockBits: 9000, Hashes: 1}
		_, chosen, err := Join(sourcesOf(sets), p)
		if err != nil {
			t.Fatal(err)
		}
		least, at := math.MaxInt, 0
		for blocks := 1; blocks <= p.Blocks; blocks++ {
			j := coordinator{sources: sourcesOf(sets)}
			if err := errors.Join(j.measure(), j.collect(p)); err != nil {
				t.Fatal(err)
			}
			j.and.Truncate(blocks)
			if _, err := j.gather(); err != nil {
				t.Fatal(err)
			}
			if bytes := j.report.Returned + j.report.KeysMoved; bytes < least {
				least, at = bytes, blocks
			}
		}
		if got := chosen.Returned + chosen.KeysMoved; float64(got) > 1.05*float64(least) {
			t.Errorf("%d in common: %d bytes with %d blocks, %d with %d", common, got, chosen.Blocks, least, at)
		}
	}
}

// liar sends keys that it does not have, twice.
type liar struct{ Set }

func (l liar) Matching(p bloom.Params, message []byte) ([][]byte, error) {
	keys, err := l.Set.Matching(p, message)
	return append(keys, []byte("no such key"), []byte("no such key")), err
}

func TestLiar(t *testing.T) {
	sets := makeSets(rand.New(rand.NewPCG(7, 8)), 10, 0, 100, 100, 100)
	keys, _, err := Join([]Source{liar{sets[0]}, liar{sets[1]}, sets[2]}, bloom.Params{})
	if want := slowJoin(sets); err != nil || !slices.EqualFunc(keys, want, bytes.Equal) {
		t.Errorf("%d keys, want %d, %v", len(keys), len(want), err)
	}
}

// failing fails in one step.
type failing struct {
	Set
	step string
}

var errFailing = errors.New("failing")

func (f failing) Size() (Size, error) {
	if f.step == "size" {
		return Size{}, errFailing
	}
	return f.Set.Size()
}

func (f failing) Filter(p bloom.Params) ([]byte, error) {
	switch f.step {
	case "filter":
		return nil, errFailing
	case "bytes":
		return []byte("no filter"), nil
	}
	return f.Set.Filter(p)
}

func (f failing) Matching(p bloom.Params, message []byte) ([][]byte, error) {
	if f.step == "keys" {
		return nil, errFailing
	}
	return f.Set.Matching(p, message)
}

func TestErrors(t *testing.T) {
	if _, _, err := Join(nil, bloom.Params{}); !errors.Is(err, ErrNoSources) {
		t.Errorf("no sources: %v", err)
	}
	set := makeSets(rand.New(rand.NewPCG(9, 9)), 0, 0, 100)[0]
	if _, _, err := Join([]Source{set}, bloom.Params{Blocks: -1}); !errors.Is(err, bloom.ErrParams) {
		t.Errorf("params: %v", err)
	}
	for step, want := range map[string]error{
		"size": errFailing, "filter": errFailing, "keys": errFailing, "bytes": bloom.ErrMalformed,
	} {
		if _, _, err := Join([]Source{set, failing{set, step}}, bloom.Params{}); !errors.Is(err, want) {
			t.Errorf("%s: %v", step, err)
		}
	}
	if _, err := set.Matching(bloom.Params{Blocks: 1, BlockBits: 8, Hashes: 1}, []byte{9}); !errors.Is(err, bloom.ErrMalformed) {
		t.Errorf("a source's filter: %v", err)
	}
}

func BenchmarkJoin(b *testing.B) {
	for _, sets := range []int{2, 8} {
		b.Run(fmt.Sprint(sets), func(b *testing.B) {
			sources := sourcesOf(makeSets(rand.New(rand.NewPCG(1, 1)), 100, 0, slices.Repeat([]int{10_000}, sets)...))
			b.ReportAllocs()
			var report Report
			for b.Loop() {
				_, report, _ = Join(sources, bloom.Params{})
			}
			b.ReportMetric(float64(report.Moved())/float64(report.Shipping), "moved/shipped")
		})
	}
}
