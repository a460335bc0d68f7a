package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/venn-p2p/venn/node/leaktest"
	"github.com/venn-p2p/venn/overlay/wire"
)

func TestKeysAreAddedAndRemoved(t *testing.T) {
	ctx := t.Context()
	a := newNode(t)
	add(t, a, []byte("x"), []byte("y"), []byte("x"))
	if a.Len() != 2 || !must(a.Has([]byte("x"))) || must(a.Has([]byte("z"))) {
		t.Errorf("%d keys", a.Len())
	}
	if _, err := a.Remove(ctx, []byte("x"), []byte("z")); err != nil || a.Len() != 1 || must(a.Has([]byte("x"))) {
		t.Errorf("%d keys, %v", a.Len(), err)
	}
	for _, bad := range [][]byte{nil, make([]byte, wire.MaxKey+1)} {
		if _, err := a.Add(ctx, []byte("ok"), bad); !errors.Is(err, ErrKey) {
			t.Errorf("key of %d bytes: %v", len(bad), err)
		}
		if _, err := a.Query(ctx, bad, QueryOptions{}); !errors.Is(err, ErrKey) {
			t.Errorf("query of %d bytes: %v", len(bad), err)
		}
	}
	if must(a.Has([]byte("ok"))) {
		t.Error("keys were added although one of them is refused")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := a.Add(cancelled, []byte("ok")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	a, b := newNode(t), newNode(t)
	shared := keysOf("shared", 2000)
	add(t, a, append(keysOf("a", 2000), shared...)...)
	add(t, b, append(keysOf("b", 2000), shared...)...)
	if _, err := a.Overlap(t.Context(), b.ID()); !errors.Is(err, ErrUnknown) {
		t.Errorf("overlap with a stranger: %v", err)
	}
	connect(t, a, b)
	eventually(t, "a knows all of b", func() bool {
		held, err := a.SummaryOf(t.Context(), b.ID())
		return err == nil && held.Parts() == held.Plan().Parts()
	})
	got, err := a.Overlap(t.Context(), b.ID())
	if err != nil || got.Intersection.Value < 1800 || got.Intersection.Value > 2200 || got.Intersection.Low > 2000 || got.Intersection.High < 2000 {
		t.Errorf("overlap %+v, %v; 2000 keys are shared", got, err)
	}
	for most, want := range map[int]int{-1: 0, 0: 0, 1: 1, math.MaxInt: 1} {
		if got, err := a.Similar(t.Context(), most); err != nil || len(got) > want {
			t.Errorf("at most %d similar peers: %v, %v", most, got, err)
		}
	}
}

func TestQueryEndsWithItsContext(t *testing.T) {
	a := newNode(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := a.Query(ctx, []byte("k"), QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for range r.Providers() {
		t.Error("found something")
	}
	if _, err := r.Stats(); err != nil {
		t.Error(err)
	}
}

func TestClose(t *testing.T) {
	before := goleak.IgnoreCurrent()
	reg := prometheus.NewRegistry()
	ha, hb := newHost(t), newHost(t)
	a, b := nodeOn(t, ha, WithRegisterer(reg)), nodeOn(t, hb)
	add(t, a, keysOf("a", 100)...)
	add(t, b, keysOf("b", 100)...)
	connect(t, a, b)
	eventually(t, "a knows b", func() bool { return knows(a, b) })
	find(t, a, []byte("b/1"), QueryOptions{})
	if got, err := reg.Gather(); err != nil || len(got) < 12 {
		t.Errorf("%d metrics, %v", len(got), err)
	}
	open, err := a.Query(t.Context(), []byte("nobody's"), QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	for range open.Providers() {
		t.Error("found something")
	}
	if _, err := a.Status(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("status after Close: %v", err)
	}
	if _, err := a.Query(t.Context(), []byte("k"), QueryOptions{}); !errors.Is(err, ErrClosed) {
		t.Errorf("query after Close: %v", err)
	}
	if _, err := a.Add(t.Context(), []byte("k")); !errors.Is(err, ErrClosed) {
		t.Errorf("add after Close: %v", err)
	}
	if got, err := reg.Gather(); err != nil || len(got) > 0 {
		t.Errorf("%d metrics after Close, %v", len(got), err)
	}
	_ = b.Close()
	_, _ = ha.Close(), hb.Close()
	leaktest.Check(t, before)
}

func TestOptionsAreChecked(t *testing.T) {
	h := newHost(t)
	_, err := New(h, WithNetwork("", 0), WithSummaryShare(2), WithMaxConnections(1), WithMemory(0), WithNeighbours(-1, 0, 0))
	if err == nil {
		t.Fatal("accepted")
	}
	if got := len(err.(interface{ Unwrap() []error }).Unwrap()); got != 5 {
		t.Errorf("%d faults named, want 5: %v", got, err)
	}
	if _, err := New(h, WithNeighbours(9, 1, 1)); err == nil {
		t.Error("more than half of the neighbours by overlap are accepted")
	}
	for want, option := range map[string]Option{
		"option 0 is nil":                       nil,
		"10, 100 bit/s, must be 0":              WithBandwidth(10, 100), // meant as Mbit/s
		"memory of 64 bytes, must be 65536 or":  WithMemory(64),         // meant as MiB
		"bootstrap peer 0 at []: empty peer ID": WithBootstrap(peer.AddrInfo{}),
		"WithDatastore of nil":                  WithDatastore(nil),
	} {
		if _, err := New(h, option); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := New(nil); err == nil {
		t.Error("a node without a host")
	}
	nodeOn(t, h).Close() // what failed has left nothing behind
}

// TestFewestConnections: connections and neighbours go together by one rule, and the error names the least that would
// do.
func TestFewestConnections(t *testing.T) {
	h := newHost(t)
	for _, c := range []struct{ overlap, near, random, least int }{{0, 0, 0, 13}, {1, 1, 1, 5}, {1, 0, 0, 8}, {4, 2, 3, 15}, {4, 4, 12, 32}} {
		neighbours := WithNeighbours(c.overlap, c.near, c.random)
		_, err := New(h, neighbours, WithMaxConnections(c.least-1))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("must be %d or more", c.least)) {
			t.Errorf("%+v: %d connections: %v", c, c.least-1, err)
		}
		n, err := New(h, neighbours, WithMaxConnections(c.least))
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, n := range []int{-1 << 63, -1, 0, 1} {
		if _, err := New(h, WithMaxConnections(n)); err == nil {
			t.Errorf("%d connections are accepted", n)
		}
	}
	if n, err := New(h, WithMaxConnections(1<<62)); err != nil {
		t.Error(err)
	} else if err := n.Close(); err != nil {
		t.Error(err)
	}
}
