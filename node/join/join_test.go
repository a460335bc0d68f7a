package join

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary/bloom"
)

// makeSets makes sets of the given sizes of keys of 8 to 40 bytes. common keys are in all sets, and pairwise keys in
// each two neighbours.
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
			{Hasher: bloom.Hasher{K0: 1, K1: 2}},
			{Blocks: 1, BlockBits: 1, Hashes: 1},
			{Blocks: 6, BlockBits: 1000, Hashes: 1},
			{Blocks: 1, BlockBits: 20_000, Hashes: 3},
		} {
			keys, report, err := Join(t.Context(), sourcesOf(sets), p)
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
		_, report, err := Join(t.Context(), sourcesOf(sets), bloom.Params{Blocks: 4, BlockBits: 20_000, Hashes: 1})
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
		_, chosen, err := Join(t.Context(), sourcesOf(sets), p)
		if err != nil {
			t.Fatal(err)
		}
		least, at := math.MaxInt, 0
		for blocks := 1; blocks <= p.Blocks; blocks++ {
			j := coordinator{ctx: t.Context(), sources: sourcesOf(sets)}
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

func (l liar) Matching(ctx context.Context, p bloom.Params, message []byte, f func([]byte) error) error {
	return errors.Join(l.Set.Matching(ctx, p, message, f), f([]byte("no such key")), f([]byte("no such key")))
}

func TestLiar(t *testing.T) {
	sets := makeSets(rand.New(rand.NewPCG(7, 8)), 10, 0, 100, 100, 100)
	keys, _, err := Join(t.Context(), []Source{liar{sets[0]}, liar{sets[1]}, sets[2]}, bloom.Params{})
	if want := slowJoin(sets); err != nil || !slices.EqualFunc(keys, want, bytes.Equal) {
		t.Errorf("%d keys, want %d, %v", len(keys), len(want), err)
	}
}

// stepped is a source that does something before each step: "size", "filter" and "keys".
type stepped struct {
	Set
	before func(ctx context.Context, step string) error
}

func (s stepped) Size(ctx context.Context) (wire.JoinSize, error) {
	if err := s.before(ctx, "size"); err != nil {
		return wire.JoinSize{}, err
	}
	return s.Set.Size(ctx)
}

func (s stepped) Filter(ctx context.Context, p bloom.Params) ([]byte, error) {
	if err := s.before(ctx, "filter"); err != nil {
		return nil, err
	}
	return s.Set.Filter(ctx, p)
}

func (s stepped) Matching(ctx context.Context, p bloom.Params, message []byte, f func([]byte) error) error {
	if err := s.before(ctx, "keys"); err != nil {
		return err
	}
	return s.Set.Matching(ctx, p, message, f)
}

var errFailing = errors.New("failing")

// failing fails in one step.
func failing(set Set, in string) Source {
	return stepped{set, func(_ context.Context, step string) error {
		if step == in {
			return errFailing
		}
		return nil
	}}
}

// garbled sends a filter that is none.
type garbled struct{ Set }

func (garbled) Filter(context.Context, bloom.Params) ([]byte, error) { return []byte("no filter"), nil }

func TestErrors(t *testing.T) {
	if _, _, err := Join(t.Context(), nil, bloom.Params{}); !errors.Is(err, ErrNoSources) {
		t.Errorf("no sources: %v", err)
	}
	set := makeSets(rand.New(rand.NewPCG(9, 9)), 0, 0, 100)[0]
	if _, _, err := Join(t.Context(), []Source{set}, bloom.Params{Blocks: -1}); err == nil || !strings.Contains(err.Error(), "Blocks -1") {
		t.Errorf("params: %v", err)
	}
	for _, step := range []string{"size", "filter", "keys"} {
		if _, _, err := Join(t.Context(), []Source{set, failing(set, step)}, bloom.Params{}); !errors.Is(err, errFailing) {
			t.Errorf("%s: %v", step, err)
		}
	}
	if _, _, err := Join(t.Context(), []Source{set, garbled{set}}, bloom.Params{}); !errors.Is(err, bloom.ErrMalformed) {
		t.Errorf("a filter that is none: %v", err)
	}
	if err := set.Matching(t.Context(), bloom.Params{Blocks: 1, BlockBits: 8, Hashes: 1}, []byte{9}, nil); !errors.Is(err, bloom.ErrMalformed) {
		t.Errorf("a source's filter: %v", err)
	}
}

// waiting waits, in one step, until all sources are asked.
func waiting(set Set, in string, here chan<- struct{}, all <-chan struct{}) Source {
	return stepped{set, func(ctx context.Context, step string) error {
		if step != in {
			return nil
		}
		select {
		case here <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-all:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
}

// TestSideBySide: in each step all sources are asked before any has answered, but the smallest set first for its keys.
// One that fails ends the wait for the others.
func TestSideBySide(t *testing.T) {
	sets := makeSets(rand.New(rand.NewPCG(3, 4)), 10, 0, 100, 100, 100, 20)
	smallest := sets[3]
	for _, step := range []string{"size", "filter", "keys"} {
		here, all := make(chan struct{}), make(chan struct{})
		var sources []Source
		for _, s := range sets {
			sources = append(sources, waiting(s, step, here, all))
		}
		together := len(sets)
		if step == "keys" {
			sources[3] = smallest
			together--
		}
		go func() {
			for range together {
				<-here
			}
			close(all)
		}()
		if keys, _, err := Join(t.Context(), sources, bloom.Params{}); err != nil || len(keys) != 10 {
			t.Errorf("%s: %d keys, %v", step, len(keys), err)
		}
		never := make(chan struct{})
		stuck := []Source{waiting(sets[0], step, never, never), waiting(sets[1], step, never, never), failing(sets[2], step), smallest}
		if _, _, err := Join(t.Context(), stuck, bloom.Params{}); !errors.Is(err, errFailing) {
			t.Errorf("%s: %v of a join whose last source fails", step, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := Join(ctx, stuck[:2], bloom.Params{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v of a join that was given up", step, err)
		}
	}
}

// flood is a source that sends keys without an end to speak of, and looks at the heap before and after.
type flood struct {
	Set
	claims wire.JoinSize
	grew   *int // bytes
}

func (f flood) Size(context.Context) (wire.JoinSize, error) { return f.claims, nil }

func (f flood) Matching(ctx context.Context, _ bloom.Params, _ []byte, each func([]byte) error) error {
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	for i := range 200_000 {
		if err := each(fmt.Appendf(make([]byte, 0, 1024), "%064d", i)); err != nil {
			return err
		}
	}
	*f.grew = heap() - before
	return f.Set.Matching(ctx, bloom.Params{Blocks: 1, BlockBits: 1, Hashes: 1}, everything, each)
}

// everything is the message of a filter of one bit, which is set.
var everything = func() []byte {
	p := bloom.Params{Blocks: 1, BlockBits: 1, Hashes: 1}
	codec, _ := bloom.NewCodec(p)
	f, _ := bloom.New(p)
	f.Add([]byte("k"))
	message, _ := codec.Append(nil, f, nil)
	return message
}()

// TestFlood: a source that sends more than it should takes no memory, unless it says that it is the smallest set. Then
// it is its claim that bounds what a source over a network may send.
func TestFlood(t *testing.T) {
	set := makeSets(rand.New(rand.NewPCG(3, 4)), 10, 0, 10)[0]
	size, err := set.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, smallest := range []bool{false, true} {
		grew, claims := 0, wire.JoinSize{Keys: 1 << 16, Bytes: 1 << 22}
		if smallest {
			claims = wire.JoinSize{Keys: 1, Bytes: size.Bytes - 1}
		}
		keys, _, err := Join(t.Context(), []Source{set, flood{set, claims, &grew}}, bloom.Params{})
		if err != nil || len(keys) != 10 {
			t.Errorf("%d keys in common, %v", len(keys), err)
		}
		if kept := grew > 8<<20; kept != smallest {
			t.Errorf("the smallest set: %v; the heap grew by %d bytes for %d of keys", smallest, grew, 200_000*64)
		}
	}
}

// TestGivenUp: a listing of keys without end ends with its context.
func TestGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	endless := Listing(func(yield func([]byte, error) bool) {
		for n := 0; yield([]byte("k"), nil); n++ {
			if n == 10*someKeys {
				cancel()
			}
		}
	})
	if _, _, err := Join(ctx, []Source{endless, Set{[]byte("k")}}, bloom.Params{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// numbered is a set of keys of 36 bytes, of the numbers from first to end, that is in no memory.
func numbered(first, end int) Listing {
	return func(yield func([]byte, error) bool) {
		key := make([]byte, 36)
		for i := first; i < end; i++ {
			x := uint64(i)
			for at := 0; at+8 <= len(key); at += 8 {
				x = (x ^ x>>31) * 0x9e3779b97f4a7c15
				binary.LittleEndian.PutUint64(key[at:], x)
			}
			if !yield(bytes.Clone(key), nil) {
				return
			}
		}
	}
}

// TestLargeJoin joins two sets of VENN_JOIN keys that share a tenth, and prints what that takes. Without VENN_JOIN the
// sets are small.
func TestLargeJoin(t *testing.T) {
	n := 200_000
	if s := os.Getenv("VENN_JOIN"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	keys, report, err := Join(t.Context(), []Source{numbered(0, n), numbered(n-n/10, 2*n-n/10)}, bloom.Params{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	t.Logf("two sets of %d keys: %d in common, %d candidates; %d MB moved of %d MB, %.1f s, %d MB from the system",
		n, len(keys), report.Candidates, report.Moved()/1e6, report.Shipping/1e6, time.Since(began).Seconds(), (after.Sys-before.Sys)/1e6)
	if len(keys) != n/10 {
		t.Errorf("%d keys in common, want %d", len(keys), n/10)
	}
	if report.Moved() > report.Shipping/2 {
		t.Errorf("%d of %d bytes moved", report.Moved(), report.Shipping)
	}
}
