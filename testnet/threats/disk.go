package threats

import (
	"context"
	"fmt"
	"sync"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
	dssync "github.com/ipfs/go-datastore/sync"

	"github.com/venn-p2p/venn/node/store"
	"github.com/venn-p2p/venn/summary"
)

// diskAttacks are mishaps of a store: power failures, and a clock that is set back.
var diskAttacks = []attack{
	{
		name: "power fails after a change was acknowledged", where: Disk, measured: "of 200 keys acknowledged, those lost", target: atMost(0),
		defence: "the disk is synced before a change is acknowledged",
		run:     powerFails,
	},
	{
		name: "power fails after a summary was numbered", where: Disk, measured: "numbers given out twice, of 100 runs", target: atMost(0),
		defence: "ranges of numbers are reserved, and synced, before they are used",
		run:     numbersTwice,
	},
	{
		name: "the clock is set back an hour at every second start", where: Disk, measured: "of 100 starts, those that number a summary no later than before", target: atMost(0),
		defence: "numbers follow from the store, not from the clock",
		run:     setBack,
	},
}

// volatile is a datastore that loses all unsynced writes in a crash. If it is deaf, it ignores Sync.
type volatile struct {
	ds.Batching // content as programs see it

	lasting ds.Batching // content after a crash
	deaf    bool

	mu  sync.Mutex
	log []func(context.Context) error // writes that are not in lasting yet
}

func newVolatile(lasting ds.Batching, deaf bool) *volatile {
	v := &volatile{Batching: dssync.MutexWrap(ds.NewMapDatastore()), lasting: lasting, deaf: deaf}
	copyInto(v.Batching, lasting)
	return v
}

func (v *volatile) note(f func(context.Context) error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.log = append(v.log, f)
}

func (v *volatile) Put(ctx context.Context, k ds.Key, b []byte) error {
	v.note(func(ctx context.Context) error { return v.lasting.Put(ctx, k, b) })
	return v.Batching.Put(ctx, k, b)
}

func (v *volatile) Delete(ctx context.Context, k ds.Key) error {
	v.note(func(ctx context.Context) error { return v.lasting.Delete(ctx, k) })
	return v.Batching.Delete(ctx, k)
}

// Sync moves all writes so far to lasting.
func (v *volatile) Sync(ctx context.Context, _ ds.Key) error {
	if v.deaf {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range v.log {
		if err := f(ctx); err != nil {
			return err
		}
	}
	v.log = nil
	return nil
}

func (v *volatile) Batch(context.Context) (ds.Batch, error) { return ds.NewBasicBatch(v), nil }

var testSeed = summary.Seed{Network: "threats"}

// powerFails returns the number of 200 added keys that a power failure loses. The undefended disk ignores Sync.
func powerFails(ctx context.Context, defended bool) float64 {
	disk := dssync.MutexWrap(ds.NewMapDatastore())
	v := newVolatile(disk, !defended)
	s := must(store.Open(ctx, v, testSeed))
	h := testSeed.Hasher()
	for i := range uint64(200) {
		must(s.Add([][]byte{keyOf(i)}, []summary.Fingerprint{h.Fingerprint(keyOf(i))}))
	}
	defer func() { _ = s.Close() }() // the error does not matter: the crash is over
	again := must(store.Open(ctx, disk, testSeed))
	defer func() { _ = again.Close() }()
	return float64(200 - again.Count())
}

// numbersTwice returns the number of epochs that were given before, over 100 starts that a power failure ends.
func numbersTwice(ctx context.Context, defended bool) float64 {
	disk := dssync.MutexWrap(ds.NewMapDatastore())
	given, twice := make(map[string]bool), 0
	for range 100 {
		v := newVolatile(disk, !defended)
		s := must(store.Open(ctx, v, testSeed))
		for range 3 {
			e := must(s.NextEpoch())
			if text := fmt.Sprint(e); given[text] {
				twice++
			} else {
				given[text] = true
			}
		}
		v.deaf = true // the power fails: what is written now is lost
		_ = s.Close()
	}
	return float64(twice)
}

// setBack returns the number of 100 starts whose first number is no later than that of the start before. The
// undefended node numbers by the clock.
func setBack(ctx context.Context, defended bool) float64 {
	disk := dssync.MutexWrap(ds.NewMapDatastore())
	var last summary.Epoch
	back := 0
	for i := range 100 {
		next := summary.Epoch{Generation: uint32(1_000_000 + 60*i - 3600*(i%2)), Sequence: 1}
		if defended {
			s := must(store.Open(ctx, disk, testSeed))
			next = must(s.NextEpoch())
			check(s.Close())
		}
		if !next.After(last) {
			back++
			continue
		}
		last = next
	}
	return float64(back)
}

// copyInto copies the content of a datastore into another.
func copyInto(to ds.Batching, from ds.Batching) {
	ctx := context.Background()
	for _, e := range must(must(from.Query(ctx, query.Query{})).Rest()) {
		check(to.Put(ctx, ds.NewKey(e.Key), e.Value))
	}
}
