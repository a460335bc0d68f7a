package node

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/node/core"

	"github.com/libp2p/go-libp2p/core/peer"
	"go.uber.org/goleak"

	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/node/leaktest"
	"github.com/venn-p2p/venn/summary"
)

// under says whether what n holds of p's summary is under a seed number.
func under(n, p *Node, number uint32) bool {
	held, err := n.SummaryOf(context.Background(), p.ID())
	return err == nil && held.Parts() > 0 && held.Header().Seed.Number == number
}

// matched holds n to finding p, alone, as the holder of key, by the summary of p that it holds.
func matched(t *testing.T, n, p *Node, key string) {
	t.Helper()
	s := queried(t, n, []byte(key), QueryOptions{})
	if s.Found != 1 || len(s.Explain) != 1 || s.Explain[0].Peer != p.ID() || s.Explain[0].Why != Matched {
		t.Errorf("%s of %v: found %d, asked %v", key, p.ID(), s.Found, s.Explain)
	}
}

// again starts a node again, with the same identity and keys, under another seed number.
func again(t *testing.T, n *Node, name string, opts ...Option) *Node {
	t.Helper()
	if err := errors.Join(n.Close(), n.host.Close()); err != nil {
		t.Fatal(err)
	}
	n = nodeOn(t, hostLike(t, n.host), opts...)
	add(t, n, keysOf(name, 1000)...)
	return n
}

// alone waits until a node has noticed that its peer has gone.
func alone(t *testing.T, n *Node) {
	t.Helper()
	eventually(t, "its peer has gone", func() bool { s := statusOf(t, n); return s.Links == 0 && s.Connections == 0 })
}

// TestRotation: two nodes of the old seed number change to a new one, one after the other, and find each other's keys
// all the while. Nobody is blamed.
func TestRotation(t *testing.T) {
	before := goleak.IgnoreCurrent()
	to8 := []Option{WithNetwork("venn", 8), WithPreviousSeed(7, time.Now().Add(time.Hour))}
	a, b := newNode(t, WithNetwork("venn", 7)), newNode(t, WithNetwork("venn", 7))
	add(t, a, keysOf("a", 1000)...)
	add(t, b, keysOf("b", 1000)...)
	connect(t, a, b)
	eventually(t, "they know each other", func() bool { return under(a, b, 7) && under(b, a, 7) })

	b = again(t, b, "b", to8...)
	alone(t, a)
	connect(t, b, a)
	eventually(t, "they know each other's new epochs", func() bool {
		held, err := a.SummaryOf(t.Context(), b.ID())
		s, err2 := b.Status(t.Context())
		return under(b, a, 7) && errors.Join(err, err2) == nil && held.Header().Epoch.Generation == s.Epoch.Generation
	})
	matched(t, a, b, "b/17")
	matched(t, b, a, "a/18")
	if o, err := b.Overlap(t.Context(), a.ID()); err != nil || o.Intersection.Value > 50 {
		t.Errorf("b has %v in common with a, %v", o.Intersection, err)
	}
	status(t, "b, changed first", b, 1, 1)

	a = again(t, a, "a", to8...)
	alone(t, b)
	connect(t, a, b)
	eventually(t, "both know each other under the new seed", func() bool { return under(a, b, 8) && under(b, a, 8) })
	matched(t, a, b, "b/19")
	matched(t, b, a, "a/20")
	status(t, "a, both changed", a, 1, 0)
	status(t, "b, both changed", b, 1, 0)

	_, _, _, _ = a.Close(), b.Close(), a.host.Close(), b.host.Close()
	leaktest.Check(t, before)
}

// status holds a node to knowing origins others, unrotated of them under the previous seed alone, and to having refused
// nothing.
func status(t *testing.T, who string, n *Node, origins, unrotated int) {
	t.Helper()
	if s := statusOf(t, n); s.Origins != origins || s.Unrotated != unrotated || len(s.Refused) > 0 {
		t.Errorf("%s: %d origins, %d not changed, refused %v", who, s.Origins, s.Unrotated, s.Refused)
	}
}

// TestRotationEnds: when its time is over, a node forgets what it knows under the previous seed, and publishes there no
// more.
func TestRotationEnds(t *testing.T) {
	t.Parallel()
	old := newNode(t)
	add(t, old, keysOf("old", 100)...)
	n := newNode(t, WithNetwork("venn", 8), WithPreviousSeed(0, time.Now().Add(3*time.Second)))
	add(t, n, keysOf("n", 100)...)
	connect(t, n, old)
	eventually(t, "they are linked", func() bool { return statusOf(t, n).Links == 1 })
	eventually(t, "the previous seed is gone", func() bool {
		gone := false
		look(t, n, func(l *loop) { gone = l.previous == nil && l.core.Overlay.Unrotated() == 0 })
		return gone && !knows(n, old)
	})
	status(t, "after the end", n, 0, 0)
	if got := find(t, n, []byte("old/1"), QueryOptions{}); !slices.Equal(got, []peer.ID{old.ID()}) {
		t.Errorf("a link of the other seed, asked, says %v", got)
	}
	past := newNode(t, WithNetwork("venn", 8), WithPreviousSeed(0, time.Now()))
	if past.cfg.previous != nil {
		t.Error("a previous seed of which the time is over is kept")
	}
}

// unlisted are keys that cannot be listed.
type unlisted struct{ keystore.Keys }

func TestBadPreviousSeeds(t *testing.T) {
	h := newHost(t)
	later := time.Now().Add(time.Hour)
	if _, err := New(h, WithPreviousSeed(0, later)); err == nil {
		t.Error("the same seed is the previous one")
	}
	if _, err := New(h, WithPreviousSeed(1, later), WithKeys(unlisted{&keystore.Memory{}})); !errors.Is(err, ErrNoList) {
		t.Errorf("keys that cannot be listed: %v", err)
	}
}

// failing are keys that cannot be listed to the end.
type failing struct{ keystore.Memory }

var errDisk = errors.New("disk")

func (f *failing) Keys(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for k := range f.Memory.Keys(ctx) {
			if !yield(k, nil) {
				return
			}
		}
		yield(nil, errDisk)
	}
}

// TestRehash: all keys are hashed under the previous seed, or there is no summary.
func TestRehash(t *testing.T) {
	n := newNode(t, WithPreviousSeed(1, time.Now().Add(time.Hour)))
	keys := keysOf("k", 500)
	add(t, n, keys...)
	h := summary.Header{Seed: n.cfg.previous.Tag(), Origin: string(n.ID()), Lifetime: core.Lifetime}
	b := n.build(h, nil)
	if b.err != nil || b.stream.Header().N != len(keys) {
		t.Fatalf("%v, %v", b.stream, b.err)
	}
	hasher, p := n.cfg.previous.Hasher(), b.stream
	for _, k := range keys {
		if !p.Contains(hasher.Fingerprint(k)) {
			t.Fatalf("%s is denied", k)
		}
	}
	bad := newNode(t, WithPreviousSeed(1, time.Now().Add(time.Hour)), WithKeys(&failing{}))
	add(t, bad, keys...)
	h.Origin = string(bad.ID())
	if b := bad.build(h, nil); !errors.Is(b.err, errDisk) {
		t.Errorf("keys that cannot be read: %v", b.err)
	}
	if b := bad.build(summary.Header{Seed: bad.cfg.seed.Tag(), Origin: h.Origin, Lifetime: core.Lifetime}, nil); b.err != nil {
		t.Error(fmt.Errorf("under the seed of the key store: %w", b.err))
	}
}
