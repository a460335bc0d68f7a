package workload

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func load(t testing.TB, cfg Config) *Data {
	t.Helper()
	if cfg.Rand == nil {
		cfg.Rand = rng(1)
	}
	d, err := Load(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDebianRoles(t *testing.T) {
	d := load(t, Config{})
	var sizes []int
	for p := range d.Peers() {
		sizes = append(sizes, len(d.Collections()[p]))
	}
	slices.Sort(sizes)
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"peers", len(d.Peers()), 121},
		{"keys", d.Keys(), 423_905},
		{"holdings", d.Holdings(), 2_294_084},
		{"smallest collection", sizes[0], 4_451},
		{"median collection", sizes[60], 12_123},
		{"largest collection", sizes[120], 121_643},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
		}
	}
	distinct := map[string]bool{}
	for k := range d.Keys() {
		distinct[string(d.Key(uint32(k)))] = true
	}
	if len(distinct) != d.Keys() {
		t.Errorf("%d of %d keys are distinct", len(distinct), d.Keys())
	}
}

// The key of a chunk never changes: whoever measured on this data before measures on the same now.
func TestChunkKey(t *testing.T) {
	hash, _ := hex.DecodeString("e60c3f659a014fab3afa76fcd9776dbc77bd108f43d1c48b9b66585d7c0d4bc8")
	got := ChunkKey(hash, 46)
	const want = "3083d8418f791ccea072592e47f530cd62a92a1619cccd87062328e8807a6da2"
	if hex.EncodeToString(got[:]) != want {
		t.Errorf("chunk 46 has key %x, want %s", got, want)
	}
}

func TestCollection(t *testing.T) {
	d := load(t, Config{Path: "testdata/folder"})
	var got []string
	for _, k := range sorted(d, 1) {
		got = append(got, string(k))
	}
	if want := []string{"banana", "cherry", "damson"}; !slices.Equal(got, want) {
		t.Errorf("peer %s holds %q, want %q", d.Peers()[1], got, want)
	}
	if d.Keys() != 5 || d.Holdings() != 9 {
		t.Errorf("%d keys and %d holdings, want 5 and 9", d.Keys(), d.Holdings())
	}
}

func TestFewerPeersAreTheFirst(t *testing.T) {
	all, some := load(t, Config{}), load(t, Config{Peers: 7})
	if !slices.Equal(some.Peers(), all.Peers()[:7]) {
		t.Fatalf("peers are %v", some.Peers())
	}
	for p := range some.Peers() {
		if !slices.EqualFunc(sorted(some, p), sorted(all, p), bytes.Equal) {
			t.Errorf("peer %d holds something else than in the whole data", p)
		}
	}
}

func sorted(d *Data, peer int) [][]byte {
	var keys [][]byte
	for _, k := range d.Collections()[peer] {
		keys = append(keys, d.Key(k))
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys
}

func TestMorePeersAreDealtAnew(t *testing.T) {
	const chunk = 1 << 20
	before, after := load(t, Config{Chunk: chunk}), load(t, Config{Chunk: chunk, Peers: 400})
	if len(after.Peers()) != 400 || after.Keys() != before.Keys() {
		t.Fatalf("%d peers and %d keys, want 400 and %d", len(after.Peers()), after.Keys(), before.Keys())
	}
	old, dealt := holders(before), holders(after)
	for k := range old {
		want := max(1, int(math.Round(float64(old[k])/121*400)))
		if dealt[k] != want {
			t.Fatalf("key %d has %d holders of 400, want %d as %d of 121 hold it", k, dealt[k], want, old[k])
		}
	}
}

func holders(d *Data) []int {
	n := make([]int, d.Keys())
	for _, c := range d.Collections() {
		for _, k := range c {
			n[k]++
		}
	}
	return n
}

// Files are not dealt to more peers than their holders fit in memory: 3,000 files that one peer holds would have
// 786,432,000 holders of 262,144 peers.
func TestTooManyToDeal(t *testing.T) {
	text := "# peers: a\n"
	for i := range 3000 {
		text += fmt.Sprintf("%064x\tf\t1\t0\n", i)
	}
	path := filepath.Join(t.TempDir(), "one.tsv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Load(Config{Path: path, Peers: MaxPeers, Rand: rng(1)})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, ErrLimit) || took > 64<<20 {
		t.Errorf("%v after %d bytes", err, took)
	}
}

func TestSameSeedSameData(t *testing.T) {
	cfg := func(seed uint64) Config { return Config{Chunk: 1 << 20, Peers: 150, Rand: rng(seed)} }
	a, b, c := load(t, cfg(5)), load(t, cfg(5)), load(t, cfg(6))
	equal := func(a, b *Data) bool { return slices.EqualFunc(a.Collections(), b.Collections(), slices.Equal) }
	if !equal(a, b) {
		t.Error("one seed gave two deals")
	}
	if equal(a, c) {
		t.Error("two seeds gave one deal")
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		load(b, Config{})
	}
}
