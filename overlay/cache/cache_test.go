package cache

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/summary"
)

func someKeys(seed uint64, n int) []summary.Fingerprint {
	return plain.Keys(rand.New(rand.NewPCG(seed, 1)), n)
}

func build(fps []summary.Fingerprint, sequence uint32) *summary.Prefix {
	s, err := summary.Build(fps, summary.Header{Origin: "origin", Epoch: summary.Epoch{Generation: 1, Sequence: sequence}, Shape: summary.DefaultShape(5000)})
	if err != nil {
		panic(err)
	}
	return s
}

// TestCache: a cache gives what Extend gives, refuses what it refuses, and keeps to its limit, with many at once.
func TestCache(t *testing.T) {
	full := build(someKeys(1, 5000), 1)
	c := New(4 * full.SizeBytes())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			p, _ := summary.NewPrefix(full.Header())
			for p.Parts() < full.Parts() {
				r, _ := full.Run(p.Parts(), p.Parts()+1)
				forged := summary.Run{First: r.First, Parts: [][]byte{append(slices.Clone(r.Parts[0]), 0)}, Next: r.Next}
				if _, err := c.Extend(p, forged); err == nil {
					t.Error("forged part accepted")
				}
				q, err := c.Extend(p, r)
				if err != nil || q.Parts() != p.Parts()+1 || q.FalsePositiveRate() != full.Truncate(q.Parts()).FalsePositiveRate() {
					t.Errorf("part %d: %v", p.Parts(), err)
					return
				}
				p = q
			}
		})
	}
	wg.Wait()
	if c.size > c.limit || c.recent.Len() != len(c.byKey) || c.recent.Len() == 0 {
		t.Errorf("%d of %d bytes in %d prefixes", c.size, c.limit, c.recent.Len())
	}
}

// TestCacheRelatives: a cache gives what RunRelative and ExtendRelative give, refuses what they refuse, and shares what
// was decoded.
func TestCacheRelatives(t *testing.T) {
	keys := someKeys(3, 5010)
	old, next := build(keys[:5000], 1), build(keys[10:], 2)
	c := New(1 << 20)
	for _, parts := range []int{1, 3, old.Parts()} {
		none := next.Truncate(0)
		want, err := next.RunRelative(0, parts, old, parts)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*Cache{nil, c, c} {
			got, err := c.RunRelative(next, 0, parts, old, parts)
			if err != nil || !bytes.Equal(got.Bytes, want.Bytes) {
				t.Fatalf("%d parts: %d bytes, want %d: %v", parts, len(got.Code), len(want.Code), err)
			}
			p, err := c.ExtendRelative(none, old, got)
			if err != nil || p.Parts() != parts || !slices.EqualFunc(run(p).Parts, run(next.Truncate(parts)).Parts, bytes.Equal) {
				t.Fatalf("%d parts: %v", parts, err)
			}
		}
		p, _ := c.ExtendRelative(none, old, want)
		if q, _ := c.ExtendRelative(none, old, want); p != q {
			t.Error("not shared")
		}
		plain := New(1 << 20)
		p, _ = plain.Extend(none, run(next.Truncate(parts)))
		if q, _ := plain.ExtendRelative(none, old, want); p != q {
			t.Error("what came in plain form is not shared")
		}
		spoiled := bytes.Clone(want.Bytes)
		spoiled[len(spoiled)-1] ^= 1
		wrong, err := summary.ParseRelative(spoiled)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ExtendRelative(none, old, wrong); err == nil {
			t.Error("a wrong run was accepted")
		}
		if parts > 1 {
			if _, err := c.ExtendRelative(none, old.Truncate(parts-1), want); !errors.Is(err, summary.ErrLimit) {
				t.Errorf("on too few parts: %v", err)
			}
		}
	}
	if c.relatives.size > c.relatives.limit || c.size > c.limit {
		t.Error("over the limit")
	}
}

// run is all parts of p.
func run(p *summary.Prefix) summary.Run {
	r, err := p.Run(0, p.Parts())
	if err != nil {
		panic(err)
	}
	return r
}

func ExampleCache() {
	origin := build(someKeys(2, 5000), 1)
	none, _ := summary.NewPrefix(origin.Header())
	run, _ := origin.Run(0, 4)
	cache := New(1 << 20)
	first, _ := cache.Extend(none, run)
	second, _ := cache.Extend(none, run) // of another node in the same process
	fmt.Println(first == second)
	// Output: true
}

// TestNewPrefix: one prefix of no parts serves all peers with the same header, and nobody with another.
func TestNewPrefix(t *testing.T) {
	h := build(someKeys(1, 5000), 1).Header()
	c := New(1 << 20)
	first, err := c.NewPrefix(h)
	if err != nil {
		t.Fatal(err)
	}
	same, other := h, h
	other.N++
	if p, err := c.NewPrefix(same); err != nil || p != first {
		t.Errorf("the same header has another prefix (%v)", err)
	}
	if p, err := c.NewPrefix(other); err != nil || p.Header().N != other.N {
		t.Errorf("another header, %v: %v", p, err)
	}
	other.Shape = summary.Shape{}
	if _, err := c.NewPrefix(other); err == nil {
		t.Error("a header that is none has a prefix")
	}
	var none *Cache
	if p, err := none.NewPrefix(h); err != nil || p == first {
		t.Errorf("without a cache: %v", err)
	}
}

// TestLent: a prefix for which the cache has no room is shared as long as somebody holds it, and then forgotten.
func TestLent(t *testing.T) {
	full := build(someKeys(1, 5000), 1)
	empty, err := summary.NewPrefix(full.Header())
	if err != nil {
		t.Fatal(err)
	}
	c := New(1)
	extended := func(parts int) *summary.Prefix {
		r, _ := full.Run(0, parts)
		p, err := c.Extend(empty, r)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	held := extended(3)
	for range 3 {
		runtime.GC()
		if extended(3) != held {
			t.Fatal("a prefix that is held is decoded again")
		}
	}
	for i := range 500 {
		other := full.Header()
		other.Epoch.Sequence += uint32(i) + 1
		if _, err := c.NewPrefix(other); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 {
			runtime.GC()
		}
	}
	if c.recent.Len() > 0 || len(c.lent) > 300 || extended(3) != held {
		t.Errorf("%d prefixes kept, %d remembered", c.recent.Len(), len(c.lent))
	}
}
