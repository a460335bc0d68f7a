package node

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/counters"
	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// mesh returns nodes that are all linked with each other, hold keys, and know each other's summaries.
func meshOf(t testing.TB, n, keys int, opts ...Option) []*Node {
	t.Helper()
	nodes := make([]*Node, n)
	for i := range nodes {
		nodes[i] = newNode(t, opts...)
		if keys > 0 {
			add(t, nodes[i], keysOf(fmt.Sprint("old ", i), keys)...)
		}
		for _, m := range nodes[:i] {
			connect(t, nodes[i], m)
		}
	}
	eventually(t, "all know all", func() bool {
		for _, a := range nodes {
			for _, b := range nodes {
				if a != b && !knows(a, b) {
					return false
				}
			}
		}
		return true
	})
	return nodes
}

// says is what n's tails say of a key at p: "added", "removed", or nothing.
func says(t testing.TB, n, p *Node, key []byte) (out string) {
	t.Helper()
	f, id := n.hasher.Fingerprint(key), wire.PeerID(p.ID())
	look(t, n, func(l *loop) {
		if l.core.Tails.Removed(id, f) {
			out = "removed"
		} else if slices.Contains(l.core.Tails.Added(f), id) {
			out = "added"
		}
	})
	return out
}

func epochOf(t testing.TB, n *Node) summary.Epoch { return statusOf(t, n).Epoch }

// TestTailsTell adds and removes keys after the summaries went round: others hear of it, without a new summary.
func TestTailsTell(t *testing.T) {
	t.Parallel()
	nodes := meshOf(t, 3, 300)
	a, b := nodes[0], nodes[1]
	epochs := epochOf(t, a)
	events := map[*Node]<-chan any{}
	for _, n := range []*Node{a, b} {
		events[n] = subscribe(t, n, new(EvtTailLearned))
	}
	add(t, a, []byte("new"))
	eventually(t, "b hears of a new key", func() bool { return says(t, b, a, []byte("new")) == "added" })
	for _, n := range []*Node{a, b} {
		eventually(t, "an event of the tail", func() bool { return slices.Contains(waiting(events[n]), any(EvtTailLearned{a.ID(), epochs, 1, 1, 0})) })
	}
	if s := queried(t, b, []byte("new"), QueryOptions{}); s.Found != 1 || s.Explain[0].Why != Matched || s.Messages != 2 {
		t.Errorf("%+v", s)
	}
	if _, err := a.Remove(t.Context(), []byte("new"), keysOf("old 0", 1)[0]); err != nil {
		t.Fatal(err)
	}
	for _, key := range [][]byte{[]byte("new"), keysOf("old 0", 1)[0]} {
		eventually(t, "b hears of a key that is gone", func() bool { return says(t, b, a, key) == "removed" })
		if got := find(t, b, key, QueryOptions{}); got != nil {
			t.Errorf("found %v, which has it no longer", got)
		}
	}
	if now := epochOf(t, a); now != epochs {
		t.Errorf("epoch %v came, after %v", now, epochs)
	}
}

// waiting returns the events that have come and not been read.
func waiting(events <-chan any) (all []any) {
	for {
		select {
		case e := <-events:
			all = append(all, e)
		default:
			return all
		}
	}
}

// TestTailsAndEpochsAgree adds and removes keys at random sizes, so that tails and epochs take turns: in the end others
// know exactly what is held.
func TestTailsAndEpochsAgree(t *testing.T) {
	t.Parallel()
	nodes := meshOf(t, 2, 100)
	a, b := nodes[0], nodes[1]
	held := map[string]bool{}
	for i, n := range []int{1, 200, 3, 50, 120, 1, 400, 7} {
		keys := keysOf(fmt.Sprint("batch ", i), n)
		add(t, a, keys...)
		for _, k := range keys {
			held[string(k)] = true
		}
		if _, err := a.Remove(t.Context(), keys[:n/2]...); err != nil {
			t.Fatal(err)
		}
		for _, k := range keys[:n/2] {
			held[string(k)] = false
		}
	}
	eventually(t, "b knows what a holds", func() bool {
		for k, has := range held {
			matched := false
			err := b.view(t.Context(), func(l *loop) {
				for _, c := range l.core.Candidates([]byte(k), b.hasher.Fingerprint([]byte(k))) {
					matched = matched || c.Peer == wire.PeerID(a.ID())
				}
			})
			if err != nil || has && !matched {
				return false
			}
		}
		return true
	})
}

// TestFreshness has nodes add and remove keys, and others look for each at once: every new key is found, and none that
// is removed. VENN_FRESH=60s does it for that long with ten nodes of ten keys a second, and checks the times, too, on a
// quiet machine.
func TestFreshness(t *testing.T) {
	t.Parallel()
	peers, each, keep := 4, 5, 5 // keys a second; keys that a node keeps
	long, err := time.ParseDuration(os.Getenv("VENN_FRESH"))
	timed := err == nil
	if timed {
		peers, each, keep = 10, 10, 50
	} else {
		long = 2 * time.Second
	}
	nodes := meshOf(t, peers, 200)
	var mu sync.Mutex
	var found, gone []time.Duration
	var wg sync.WaitGroup
	defer wg.Wait()
	watch := func(n *Node, key []byte, holder peer.ID, want bool, out *[]time.Duration) {
		defer wg.Done()
		since := time.Now()
		for time.Since(since) < 2*time.Minute {
			got, err := holdersOf(t, n, key)
			if err == nil && slices.Contains(got, holder) == want {
				mu.Lock()
				defer mu.Unlock()
				*out = append(*out, time.Since(since))
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("%s, held by %s: %v, is not found so within two minutes", key, holder, want)
	}
	for i := range int(long.Seconds() * float64(each)) {
		at := time.Now()
		for k, n := range nodes {
			key := fmt.Appendf(nil, "%d/%d", k, i)
			add(t, n, key)
			other := nodes[(k+1+i%(peers-1))%peers]
			wg.Add(1)
			go watch(other, key, n.ID(), true, &found)
			if i >= keep {
				old := fmt.Appendf(nil, "%d/%d", k, i-keep)
				if _, err := n.Remove(t.Context(), old); err != nil {
					t.Fatal(err)
				}
				wg.Add(1)
				go watch(other, old, n.ID(), false, &gone)
			}
		}
		time.Sleep(time.Until(at.Add(time.Second / time.Duration(each))))
	}
	wg.Wait()
	for name, all := range map[string][]time.Duration{"found": found, "gone": gone} {
		if slices.Sort(all); len(all) == 0 {
			t.Fatalf("%s: no keys", name)
		}
		p50, p99 := all[len(all)/2], all[len(all)*99/100]
		t.Logf("%s: %d keys, p50 %v, p99 %v, most %v", name, len(all), p50, p99, all[len(all)-1])
		if timed && (p50 > 150*time.Millisecond || p99 > time.Second) {
			t.Errorf("%s: want p50 of 150 ms and p99 of 1 s at most", name)
		}
	}
}

// holdersOf finds the holders of a key, in any goroutine.
func holdersOf(t *testing.T, n *Node, key []byte) (holders []peer.ID, err error) {
	r, err := n.Query(t.Context(), key, QueryOptions{Timeout: 5 * time.Second})
	if err != nil {
		return nil, err
	}
	for p := range r.Providers() {
		holders = append(holders, p.ID)
	}
	return holders, nil
}

// TestOneTurn: a message of tails comes whole, in order, and no turn of the loop has more than mostInTurn tails, unless a
// single item does.
func TestOneTurn(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var items []wire.TailItem
		for i := range rng.IntN(40) {
			it := wire.TailItem{Number: uint32(i)}
			for range rng.IntN(wire.MaxItemTails + 1) {
				it.Tails = append(it.Tails, make([]byte, 100))
			}
			items = append(items, it)
		}
		next := uint32(0)
		for len(items) > 0 {
			some, count := oneTurn(items), 0
			for _, it := range items[:some] {
				if it.Number != next {
					t.Fatalf("item %d for %d", it.Number, next)
				}
				next++
				count += len(it.Tails)
			}
			if some == 0 || count > mostInTurn && some > 1 {
				t.Fatalf("%d items with %d tails in a turn", some, count)
			}
			items = items[some:]
		}
	}
}

// TestTailsAreVerifiedOutside: the loop takes no tail whose signature was not verified outside, and leaves it to be.
func TestTailsAreVerifiedOutside(t *testing.T) {
	n := newNode(t)
	message := []byte("a tail")
	signature := must(n.key.Sign(message))
	for _, known := range []bool{false, true} {
		look(t, n, func(l *loop) {
			if err := l.verified(string(n.ID()), message, signature); errors.Is(err, tails.ErrUnverified) == known {
				t.Errorf("known to be good: %v: %v", known, err)
			}
			if known != (len(l.unverified.Signatures) == 0) {
				t.Errorf("known to be good: %v: %d left to be verified", known, len(l.unverified.Signatures))
			}
			l.unverified = inbox.Unverified{}
		})
		if err := n.openTails(inbox.Unverified{Signatures: []inbox.Signature{{Origin: string(n.ID()), Message: message, Signature: signature}}}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWaitForRoom: tails that find no room in the loop's queue are late from when they do. What they waited before is
// the doing of their sender, and says nothing of this node's lag.
func TestWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &Node{ctx: t.Context(), start: time.Now(), in: inbox.New(), counters: counters.New(1)}
		waiting := 0
		for n.in.OfferMessage(inbox.Message{From: "p"}) {
			waiting++
		}
		offered := make(chan error, 1)
		go func() { offered <- n.offerTails("p", []wire.TailItem{{}}, nil) }()
		time.Sleep(time.Second)
		for range waiting {
			n.in.Next()
		}
		if err := <-offered; err != nil {
			t.Fatal(err)
		}
		if m, ok := n.in.Next(); !ok || m.Came < time.Second {
			t.Errorf("%+v, %v; want one that came after a second", m, ok)
		}
	})
}
