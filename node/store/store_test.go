package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/query"
	dssync "github.com/ipfs/go-datastore/sync"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/test"
	"pgregory.net/rapid"

	"github.com/venn-p2p/venn/summary"
)

var seed = summary.Seed{Network: "test"}

func memory() ds.Batching { return dssync.MutexWrap(ds.NewMapDatastore()) }

func open(t testing.TB, d ds.Batching) *Store {
	t.Helper()
	s := must(Open(t.Context(), d, seed))
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func closed(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func add(t testing.TB, s *Store, keys ...string) (added int) {
	t.Helper()
	var bs [][]byte
	for _, k := range keys {
		bs = append(bs, []byte(k))
	}
	added, err := s.Add(bs, fingerprints(s, keys...))
	if err != nil {
		t.Fatal(err)
	}
	return added
}

func keysIn(t testing.TB, s *Store) (out []string) {
	t.Helper()
	for k, err := range s.Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(k))
	}
	slices.Sort(out)
	return out
}

// TestModel holds a store, closed, crashed and opened at random, to a map.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := memory()
		s := open(t, d)
		model := make(map[string]bool)
		key := rapid.StringMatching(`[a-d/\x00-\x02]{1,2}`)
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(rt *rapid.T) {
				keys := rapid.SliceOfN(key, 1, 4).Draw(rt, "keys")
				want := 0
				for _, k := range keys {
					if !model[k] {
						want++
					}
					model[k] = true
				}
				if got := add(t, s, keys...); got != want {
					rt.Fatalf("added %d of %q, want %d", got, keys, want)
				}
			},
			"remove": func(rt *rapid.T) {
				k := key.Draw(rt, "key")
				did, err := s.Remove([][]byte{[]byte(k)})
				if err != nil || did > 0 != model[k] {
					rt.Fatalf("remove %q: %v, %v", k, did, err)
				}
				delete(model, k)
			},
			"reopen": func(rt *rapid.T) {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				s = open(t, d)
			},
			"crash": func(*rapid.T) { s = open(t, d) },
			"": func(rt *rapid.T) {
				var want []string
				for k := range model {
					if want = append(want, k); !must(s.Has([]byte(k))) {
						rt.Fatalf("%q is not held", k)
					}
				}
				slices.Sort(want)
				if got := keysIn(t, s); !slices.Equal(got, want) {
					rt.Fatalf("keys %q, want %q", got, want)
				}
				if s.Count() != len(want) || len(slices.Collect(s.Fingerprints())) != len(want) {
					rt.Fatalf("%d keys, %d fingerprints, want %d", s.Count(), len(slices.Collect(s.Fingerprints())), len(want))
				}
			},
		})
	})
}

func TestManyAtOnce(t *testing.T) {
	s := open(t, memory())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 500 {
				k := fmt.Appendf(nil, "%d", (i*250+j)%1000)
				if _, err := s.Add([][]byte{k}, fingerprints(s, string(k))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if s.Count() != 1000 {
		t.Errorf("%d keys, want 1000", s.Count())
	}
}

func TestAnotherSeed(t *testing.T) {
	d := memory()
	s := open(t, d)
	add(t, s, "a", "b")
	closed(t, s)
	rotated := must(Open(t.Context(), d, summary.Seed{Network: "test", Number: 1}))
	defer closed(t, rotated)
	if !must(rotated.Has([]byte("a"))) || !must(rotated.Has([]byte("b"))) || rotated.Count() != 2 {
		t.Error("keys are lost under another seed")
	}
}

func TestDamagedFilterIsMadeAnew(t *testing.T) {
	d := memory()
	s := open(t, d)
	add(t, s, "a", "b")
	closed(t, s)
	b, err := d.Get(t.Context(), chunkName(0))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Put(t.Context(), chunkName(0), b[:len(b)/2]); err != nil {
		t.Fatal(err)
	}
	if s = open(t, d); s.Count() != 2 || !must(s.Has([]byte("a"))) {
		t.Errorf("%d keys", s.Count())
	}
}

func TestEpochsOverflow(t *testing.T) {
	d := memory()
	closed(t, open(t, d))
	if err := d.Put(t.Context(), epochName, encodeEpoch(7, ^uint32(0))); err != nil {
		t.Fatal(err)
	}
	if e, err := open(t, d).NextEpoch(); err != nil || e != (summary.Epoch{Generation: 8, Sequence: 1}) {
		t.Errorf("%v, %v", e, err)
	}
	if e, err := open(t, d).NextEpoch(); err != nil || !e.After(summary.Epoch{Generation: 8, Sequence: 1}) {
		t.Errorf("%v, %v", e, err)
	}
}

// broken is a datastore that refuses to write while err is set. If it is late, it writes, and says only then that it
// fails.
type broken struct {
	ds.Batching
	mu   sync.Mutex
	err  error
	late bool
}

func (b *broken) set(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *broken) fails() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *broken) Sync(ctx context.Context, k ds.Key) error {
	return errors.Join(b.fails(), b.Batching.Sync(ctx, k))
}

func (b *broken) Put(ctx context.Context, k ds.Key, v []byte) error {
	if err := b.fails(); err != nil && !b.late {
		return err
	}
	return b.Batching.Put(ctx, k, v)
}

func (b *broken) Batch(ctx context.Context) (ds.Batch, error) {
	if err := b.fails(); err != nil && !b.late {
		return nil, err
	}
	return b.Batching.Batch(ctx)
}

// TestFailedWritesAreTriedAgain: a store whose disk fails says so, and works again when that does, whatever the write
// that failed has left on the disk.
func TestFailedWritesAreTriedAgain(t *testing.T) {
	full := errors.New("no space")
	for _, late := range []bool{false, true} { // the writes are there, and only fail to last
		for _, idle := range []bool{false, true} { // nothing else is changed after that
			d := &broken{Batching: memory(), late: late}
			s := open(t, d)
			add(t, s, "a", "c")
			d.set(full)
			if _, err := s.Add([][]byte{[]byte("b"), []byte("a")}, fingerprints(s, "b", "a")); !errors.Is(err, ErrFailed) || !errors.Is(err, full) {
				t.Errorf("add: %v", err)
			}
			if _, err := s.NextEpoch(); !errors.Is(err, full) {
				t.Errorf("epoch: %v", err)
			}
			if err := s.Fault(); !errors.Is(err, full) {
				t.Errorf("the fault is %v", err)
			}
			if _, err := s.Remove([][]byte{[]byte("c")}); !errors.Is(err, full) {
				t.Errorf("remove: %v", err)
			}
			d.set(nil)
			if !idle && add(t, s, "d") != 1 {
				t.Error("nothing can be added")
			}
			for end := time.Now().Add(10 * time.Second); s.Fault() != nil && time.Now().Before(end); {
				time.Sleep(10 * time.Millisecond)
			}
			if err := s.Fault(); err != nil {
				t.Errorf("late %v, idle %v: it still fails: %v", late, idle, err)
			}
			held := keysIn(t, s)
			if !slices.Contains(held, "a") || !slices.Contains(held, "c") {
				t.Errorf("late %v, idle %v: of what was acknowledged %q is held", late, idle, held)
			}
			if got := slices.Sorted(s.Fingerprints()); s.Count() != len(held) || !slices.Equal(got, slices.Sorted(slices.Values(fingerprints(s, held...)))) {
				t.Errorf("late %v, idle %v: keys %q, counted %d, with %d fingerprints", late, idle, held, s.Count(), len(got))
			}
			closed(t, s)
			if s = open(t, d); !slices.Equal(keysIn(t, s), held) || s.Count() != len(held) {
				t.Errorf("late %v, idle %v: after another start %q, before %q", late, idle, keysIn(t, s), held)
			}
			closed(t, s)
		}
	}
}

func fingerprints(s *Store, keys ...string) (out []summary.Fingerprint) {
	for _, k := range keys {
		out = append(out, s.hasher.Fingerprint([]byte(k)))
	}
	return out
}

func TestNoRoom(t *testing.T) {
	full, asked := errors.New("no space"), 0
	var room error
	s := must(Open(t.Context(), memory(), seed, WithRoom(func(bytes int) error { asked = bytes; return room })))
	defer closed(t, s)
	add(t, s, "a")
	room = full
	if _, err := s.Add([][]byte{[]byte("a longer key")}, fingerprints(s, "a longer key")); !errors.Is(err, full) || errors.Is(err, ErrFailed) {
		t.Errorf("add: %v", err)
	}
	if asked < len("a longer key") {
		t.Errorf("asked for %d bytes", asked)
	}
	if err := s.SavePeers(t.Context(), make([]Peer, 1)); !errors.Is(err, full) {
		t.Errorf("peers: %v", err)
	}
	room = nil
	if got := keysIn(t, s); !slices.Equal(got, []string{"a"}) {
		t.Errorf("keys %q", got)
	}
	if add(t, s, "b") != 1 {
		t.Error("nothing can be added when there is room again")
	}
}

func TestClosed(t *testing.T) {
	s := open(t, memory())
	closed(t, s)
	closed(t, s)
	if _, err := s.Add([][]byte{[]byte("a")}, fingerprints(s, "a")); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestBadStores(t *testing.T) {
	for name, damage := range map[string]struct {
		key   ds.Key
		value string
		want  error
	}{
		"version": {versionName, "2", ErrVersion},
		"epoch":   {epochName, "short", ErrDamaged},
		"key":     {ds.RawKey("/keys/*"), "", ErrDamaged},
	} {
		d := memory()
		if err := d.Put(t.Context(), damage.key, []byte(damage.value)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), d, seed); !errors.Is(err, damage.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPeers(t *testing.T) {
	d := memory()
	s := open(t, d)
	var peers []Peer
	for i := range 3 {
		id := must(test.RandPeerID())
		peers = append(peers, Peer{ID: id, Neighbour: i == 1, Record: []byte{byte(i)}})
	}
	for _, save := range [][]Peer{peers[:2], peers[1:], peers, nil} {
		if err := s.SavePeers(t.Context(), save); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Store{s, open(t, d)} {
			if got := s.Peers(); !samePeers(got, save) {
				t.Errorf("%v, want %v", got, save)
			}
		}
	}
}

func samePeers(a, b []Peer) bool {
	index := func(in []Peer) map[peer.ID]string {
		out := make(map[peer.ID]string)
		for _, p := range in {
			out[p.ID] = fmt.Sprintf("%v %s", p.Neighbour, p.Record)
		}
		return out
	}
	x, y := index(a), index(b)
	for id, v := range x {
		if y[id] != v {
			return false
		}
	}
	return len(x) == len(y)
}

// TestVersions opens a store as version 1 wrote it, pinned here byte for byte. It opens one of an older version by a
// step made for the test, twice, as after a crash in between.
func TestVersions(t *testing.T) {
	pinned := map[string]string{
		"/version": "1", "/epoch": "\x00\x00\x00\x07\x00\x00\x00\x40",
		"/keys/YQ": "", "/keys/Yg": "", "/private/version": "1", "/private/keys/Yw": "",
		"/peers/EiABAgM": "\x01record",
	}
	put := func(d ds.Batching, all map[string]string) {
		for k, v := range all {
			if err := d.Put(t.Context(), ds.RawKey(k), []byte(v)); err != nil {
				t.Fatal(err)
			}
		}
	}
	d := memory()
	put(d, pinned)
	s := open(t, d)
	if got := keysIn(t, s); !slices.Equal(got, []string{"a", "b"}) || !must(s.Private().Has([]byte("c"))) {
		t.Errorf("keys %q", got)
	}
	if e, err := s.NextEpoch(); err != nil || e != (summary.Epoch{Generation: 7, Sequence: 65}) {
		t.Errorf("%v, %v", e, err)
	}

	upgrades["0"] = struct {
		to string
		do func(context.Context, ds.Batching) error
	}{"1", func(ctx context.Context, d ds.Batching) error {
		return d.Put(ctx, name(keysPrefix, []byte("of the step")), nil)
	}}
	defer delete(upgrades, "0")
	for range 2 {
		put(d, map[string]string{"/version": "0"})
		s = open(t, d)
		if v, err := d.Get(t.Context(), versionName); err != nil || string(v) != layoutVersion {
			t.Errorf("version %q, %v", v, err)
		}
		if got := keysIn(t, s); !slices.Contains(got, "of the step") {
			t.Errorf("keys %q", got)
		}
	}
}

// TestRestarts starts a store a thousand times, ended well or not, and restored from a backup now and then. In half of
// the runs the clock is an hour back. No number is given out twice, and none is before an earlier one.
func TestRestarts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	d := memory()
	var last summary.Epoch
	var backup bytes.Buffer
	for i := range 1000 {
		s, err := openOne(t.Context(), d, seed, []Option{func(s *Store) {
			if back := rng.IntN(2) == 0; back {
				s.now = func() time.Time { return time.Now().Add(-time.Hour) }
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		s.private = s                                     // enough for a backup
		for range rng.IntN(4) + rng.IntN(20)/19*reserve { // now and then more than are reserved at a time
			e, err := s.NextEpoch()
			if err != nil || !e.After(last) {
				t.Fatalf("run %d: %v after %v, %v", i, e, last, err)
			}
			last = e
		}
		if rng.IntN(10) == 0 {
			backup.Reset()
			if err := s.Backup(t.Context(), &backup); err != nil {
				t.Fatal(err)
			}
		}
		s.private = nil
		if rng.IntN(2) == 0 {
			closed(t, s)
		}
		if backup.Len() > 0 && rng.IntN(10) == 0 {
			d = memory()
			if err := Restore(t.Context(), d, bytes.NewReader(backup.Bytes())); err != nil {
				t.Fatal(err)
			}
			backup.Reset()
		}
	}
	if fresh := open(t, memory()); fresh.epochs.last.Generation == 0 {
		t.Error("a new store begins at generation 0")
	}
}

// unlisted lists nothing.
type unlisted struct{ ds.Batching }

func (unlisted) Query(context.Context, query.Query) (query.Results, error) {
	return nil, context.Canceled
}

// TestProgress: Open reports progress after a crash, but not for a new store or one that was closed, also if an earlier
// start was interrupted.
func TestProgress(t *testing.T) {
	d := memory()
	for i, want := range []int{0, 1, 0, 0, 1} {
		told := 0
		if i == 3 {
			if _, err := Open(t.Context(), unlisted{d}, seed); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		s, err := Open(t.Context(), d, seed, WithProgress(func(_, about int) {
			told++
			if known := 2 * (i / 4); about != known {
				t.Errorf("start %d: about %d keys, want %d", i, about, known)
			}
		}))
		if err != nil {
			t.Fatal(err)
		}
		switch i {
		case 0:
			add(t, s, "a") // and a crash
		case 2:
			add(t, s, "b")
			closed(t, s)
		case 3: // a crash
		default:
			closed(t, s)
		}
		if i == 0 && told != want || i > 0 && (told > 0) != (want > 0) {
			t.Errorf("start %d: told %d times", i, told)
		}
	}
}

// TestKeysEndWithContext: who lists keys and gives up waits for no more of them.
func TestKeysEndWithContext(t *testing.T) {
	s := open(t, memory())
	add(t, s, "a", "b", "c")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, last := 0, error(nil)
	for _, err := range s.Keys(ctx) {
		cancel()
		if last = err; err == nil {
			n++
		}
	}
	if n != 1 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d keys after the end, %v", n, last)
	}
}

// must returns v of what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
