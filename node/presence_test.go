package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/internal/limits"
	"github.com/venn-p2p/venn/overlay/wire"
)

// matches says whether n's directory and tails name p for a key.
func matches(t testing.TB, n, p *Node, key []byte) (out bool) {
	t.Helper()
	look(t, n, func(l *loop) {
		for _, c := range l.core.Candidates(key, n.hasher.Fingerprint(key)) {
			out = out || c.Peer == wire.PeerID(p.ID())
		}
	})
	return out
}

// TestGoodbye closes a node: the others no longer name it, though its summary is still held. Close gives the goodbye
// only moments to go out, so on a busy machine one of a few is heard.
func TestGoodbye(t *testing.T) {
	t.Parallel()
	for range 5 {
		nodes := meshOf(t, 3, 100)
		a, b := nodes[0], nodes[1]
		key := keysOf("old 0", 1)[0]
		if !matches(t, b, a, key) {
			t.Fatal("b does not match a's key")
		}
		_ = a.Close()
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if matches(t, b, a, key) {
				continue
			}
			if !knows(b, a) {
				t.Error("a's summary is gone, too: this shows nothing")
			}
			return
		}
	}
	t.Error("b still names a")
}

// TestNobody looks for what nobody has: that costs nothing once all is known of all, though nothing is said while nobody
// looks. Who waits hears of it when it is added.
func TestNobody(t *testing.T) {
	t.Parallel()
	nodes := meshOf(t, 10, 100)
	a, b := nodes[0], nodes[9]
	key := []byte("nobody's")
	var s QueryStats
	time.Sleep(5 * time.Second) // what was said by then is too old
	eventually(t, "a knows what all hold", func() bool {
		s = queried(t, a, key, QueryOptions{})
		return s.Messages == 0 && s.AsOf > 0
	})
	t.Logf("nobody, by %d messages, as of %v ago", s.Messages, s.AsOf)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	added := make(chan time.Time, 1)
	go func() {
		time.Sleep(300 * time.Millisecond)
		added <- time.Now()
		_, _ = b.Add(context.Background(), key)
	}()
	found := 0
	for k, p := range a.Watch(ctx, key) {
		if found++; string(k) != string(key) || p.ID != b.ID() {
			t.Errorf("%s is at %v", k, p)
		}
	}
	took := time.Since(<-added)
	t.Logf("found %v after it was added", took)
	if found != 1 || os.Getenv("VENN_FRESH") != "" && took > time.Second {
		t.Errorf("found %d times, after %v", found, took)
	}
	for range a.Watch(ctx, keysOf("old 0", 1)[0], key) {
		found++
	}
	if found != 3 {
		t.Errorf("of two keys that are there, one its own, %d were found", found-1)
	}
}

// TestChangesThatWait has a node add more keys than a tail takes, while it is too soon for a summary. Its links ask it,
// because they do not know all of its keys. It is tried again where the summary came before anybody had time to ask.
func TestChangesThatWait(t *testing.T) {
	t.Parallel()
	nodes := meshOf(t, 2, 100, spaced(20*time.Second))
	a, b := nodes[0], nodes[1]
	for try := range 3 {
		eventually(t, "a goes by what it knows", func() bool {
			s := queried(t, a, []byte("nobody's"), QueryOptions{})
			return s.Messages == 0 && s.AsOf > 0
		})
		many := keysOf(fmt.Sprint("many ", try), 500)
		before := epochOf(t, b)
		add(t, b, many...)
		for epochOf(t, b) == before {
			if got := find(t, a, many[0], QueryOptions{}); len(got) == 1 && epochOf(t, b) == before {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	t.Error("found only once there was a summary")
}

// TestDeath ends a host without a word: who is linked with it notices, and tells the others, who ask it last from then
// on.
func TestDeath(t *testing.T) {
	t.Parallel()
	a, b, c := newNode(t), newNode(t), newNode(t)
	for i, n := range []*Node{a, b, c} {
		add(t, n, keysOf(fmt.Sprint(i), 100)...)
	}
	connect(t, a, b)
	connect(t, b, c)
	eventually(t, "c knows a", func() bool { return knows(c, a) && knows(b, a) })
	_ = a.host.Close()
	for _, n := range []*Node{b, c} {
		eventually(t, "a is in doubt", func() bool {
			return inLoop(t, n, func(l *loop) bool { return l.core.Routing.Suspected(wire.PeerID(a.ID())) })
		})
	}
	eventually(t, "nobody but a is asked", func() bool { // b, until it has said what it holds
		s := queried(t, c, keysOf("0", 1)[0], QueryOptions{})
		return s.Probes <= 1
	})
}

// TestWatchEnds: once all keys are found, nothing is waited for. On a busy machine one of a few tries is quick.
func TestWatchEnds(t *testing.T) {
	n := newNode(t)
	key := []byte("own")
	add(t, n, key)
	for range 10 {
		found := 0
		begun := time.Now()
		for range n.Watch(t.Context(), key) {
			found++
		}
		if found != 1 {
			t.Fatalf("found %d times", found)
		}
		if time.Since(begun) < watchAsk {
			return
		}
	}
	t.Error("it waits for the next question although all is found")
}

// TestWatchBesideSilent: a holder that does not answer delays no other key, be it there already or added later.
func TestWatchBesideSilent(t *testing.T) {
	t.Parallel()
	a, b, silent := newNode(t), newNode(t), newNode(t)
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	silent.host.SetStreamHandler(wire.ProtocolIn("venn", HaveID), func(s network.Stream) { <-over; _ = s.Reset() })
	lacking, there, later := []byte("silent's"), []byte("there"), []byte("later")
	add(t, silent, lacking)
	add(t, b, there)
	connect(t, a, silent)
	connect(t, a, b)
	eventually(t, "a knows both", func() bool { return knows(a, b) && knows(a, silent) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var found []string
	begun := time.Now()
	for k := range a.Watch(ctx, lacking, there, later) {
		if took := time.Since(begun); took > 4*time.Second {
			t.Errorf("%s took %v", k, took)
		}
		if found = append(found, string(k)); len(found) == 2 {
			break
		}
		add(t, b, later)
		begun = time.Now()
	}
	if len(found) != 2 || found[0] != string(there) || found[1] != string(later) {
		t.Errorf("found %q", found)
	}
}

// TestWatchOfNoKey: keys that no peer can hold are not waited for.
func TestWatchOfNoKey(t *testing.T) {
	n := newNode(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for k := range n.Watch(ctx, nil, make([]byte, wire.MaxKey+1)) {
		t.Errorf("found %q", k)
	}
	if ctx.Err() != nil {
		t.Error("waited for ever")
	}
}

// TestWatchHearsOfEpochs waits for keys that come with many others, so that a summary announces them, not a tail. They
// are more than a turn of the loop looks at.
func TestWatchHearsOfEpochs(t *testing.T) {
	t.Parallel()
	nodes := meshOf(t, 2, 100)
	a, b := nodes[0], nodes[1]
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	many := keysOf("many", 2000)
	epochs := epochOf(t, b)
	w := newWatcher(a, many[:2*mostLooks+1])
	eventually(t, "who knows everybody asks nobody", func() bool {
		if err := a.view(ctx, w.begin); err != nil {
			t.Fatal(err)
		}
		return w.budget > 0
	})
	add(t, b, many...)
	told := map[string]bool{}
	for len(told) < 2*mostLooks+1 {
		got := w.await(ctx)
		if got == nil {
			t.Fatalf("told of %d of %d", len(told), 2*mostLooks+1)
		}
		for _, k := range got {
			if told[string(k)] {
				t.Errorf("told twice of %q by one peer's summaries", k)
			}
			told[string(k)] = true
		}
	}
	if epochOf(t, b) == epochs {
		t.Error("no new epoch: this shows nothing")
	}
}

// TestGone: looks after a lost peer end, in whatever order it takes connections and does not.
func TestGone(t *testing.T) {
	for name, c := range map[string]struct {
		fails int   // looks that fail
		with  error // how
		gone  bool
		looks int // at most
	}{
		"there":               {0, nil, false, lostLooks + 1},
		"refuses":             {1, syscall.ECONNREFUSED, true, 1},
		"back late":           {lostLooks + 1, errors.New("no route"), false, lostLooks + 3},
		"never there":         {1000, errors.New("no route"), true, lostLooks + 4},
		"no room for a dial":  {1000, errFull, false, lostLooks + 4},
		"back as it is given": {lostLooks + 2, errors.New("no route"), false, lostLooks + 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), lostTime)
			defer cancel()
			looks := 0
			got := gone(ctx, func() error {
				if looks++; looks > 100 {
					panic(name + ": looks for ever")
				}
				if looks <= c.fails {
					return c.with
				}
				return nil
			})
			if got != c.gone || looks > c.looks {
				t.Errorf("%s: gone %v after %d looks, want %v after %d", name, got, looks, c.gone, c.looks)
			}
		})
	}
}

// spaced sets the least time between two summaries of a node.
func spaced(least time.Duration) Option {
	return WithLimits(limits.Limits{Core: func(c *core.Config) { c.Spacing = least }})
}
