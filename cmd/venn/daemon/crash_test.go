package daemon_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	pebbleds "github.com/ipfs/go-ds-pebble"

	"github.com/venn-p2p/venn/node/leaktest"
	"github.com/venn-p2p/venn/node/store"
	"github.com/venn-p2p/venn/summary"
)

var kills = flag.Int("kills", 20, "how often TestKill kills a process that writes")

// childVariable makes the test program be the process that is killed: it names the folder of its store.
const childVariable = "VENN_TEST_STORE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := writeUntilKilled(dir, os.Getenv(childVariable+"_SEED")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	leaktest.AtOnce(4)
	os.Exit(m.Run())
}

var seed = summary.Seed{Network: "test"}

const (
	keysAround = 2000 // different keys
	mostAtOnce = 300  // keys of one change
)

// writeUntilKilled adds and removes random keys, and tells what it is about to do and what was acknowledged.
func writeUntilKilled(dir, random string) error {
	r, err := strconv.ParseUint(random, 10, 64)
	if err != nil {
		return err
	}
	db, err := pebbleds.NewDatastore(dir)
	if err != nil {
		return err
	}
	s, err := store.Open(context.Background(), db, seed)
	if err != nil {
		return err
	}
	hasher, rng := seed.Hasher(), rand.New(rand.NewPCG(r, 0))
	fmt.Printf("open %d\n", s.Count())
	for {
		first, n := rng.IntN(keysAround), 1+rng.IntN(mostAtOnce)
		var keys [][]byte
		var fps []summary.Fingerprint
		for i := first; i < min(first+n, keysAround); i++ {
			keys = append(keys, fmt.Appendf(nil, "key %d", i))
			fps = append(fps, hasher.Fingerprint(keys[len(keys)-1]))
		}
		what := [...]string{"add", "remove"}[rng.IntN(2)]
		fmt.Printf("%s %d %d\n", what, first, len(keys))
		if what == "add" {
			_, err = s.Add(keys, fps)
		} else {
			_, err = s.Remove(keys)
		}
		if err != nil {
			return err
		}
		fmt.Println("done")
		e, err := s.NextEpoch()
		if err != nil {
			return err
		}
		fmt.Printf("epoch %d %d\n", e.Generation, e.Sequence)
	}
}

// expected is what must be on disk: what was acknowledged, and one change that may have come through, as a whole.
type expected struct {
	keys    [keysAround]bool
	pending func(*[keysAround]bool) // nil: none
	epoch   summary.Epoch
}

// follow takes in what the process says until its end, and says when it has opened its store.
func (x *expected) follow(t *testing.T, out io.Reader, opened func()) {
	x.pending = nil
	for in := bufio.NewScanner(out); in.Scan(); {
		f := strings.Fields(in.Text())
		number := func(i int) int {
			n, err := strconv.Atoi(f[i])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		switch f[0] {
		case "open":
			opened()
		case "add", "remove":
			first, n := number(1), number(2)
			x.pending = func(keys *[keysAround]bool) {
				for i := first; i < first+n; i++ {
					keys[i] = f[0] == "add"
				}
			}
		case "done":
			x.pending(&x.keys)
			x.pending = nil
		case "epoch":
			e := summary.Epoch{Generation: uint32(number(1)), Sequence: uint32(number(2))}
			if !e.After(x.epoch) {
				t.Fatalf("epoch %v was given out after %v", e, x.epoch)
			}
			x.epoch = e
		}
	}
}

// check holds the store to what is expected, and settles what of the pending change is the case.
func (x *expected) check(t *testing.T, dir string) {
	t.Helper()
	db, err := pebbleds.NewDatastore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	s, err := store.Open(t.Context(), db, seed)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var got [keysAround]bool
	n := 0
	for i := range got {
		if got[i], err = s.Has(fmt.Appendf(nil, "key %d", i)); err != nil {
			t.Fatal(err)
		} else if got[i] {
			n++
		}
	}
	if s.Count() != n {
		t.Fatalf("%d keys, of which %d can be found", s.Count(), n)
	}
	if got == x.keys {
		return
	}
	if x.pending != nil {
		if x.pending(&x.keys); got == x.keys {
			return
		}
	}
	for i := range got {
		if got[i] != x.keys[i] {
			t.Fatalf("key %d: held %v, want %v", i, got[i], x.keys[i])
		}
	}
}

// TestKill kills a process that adds and removes keys, again and again, at random points. No acknowledged change may be
// lost, undone or half done, and no number of a summary given out twice.
func TestKill(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var x expected
	for i := range *kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"="+dir, fmt.Sprintf("%s_SEED=%d", childVariable, i))
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after, opens := time.Duration(rng.Int64N(int64(400*time.Millisecond))), i%2 == 1
		timer := time.AfterFunc(map[bool]time.Duration{false: after, true: time.Minute}[opens], func() { _ = cmd.Process.Kill() })
		x.follow(t, out, func() {
			if opens { // on a busy machine, too, some processes get to write
				timer.Reset(after)
			}
		})
		timer.Stop()
		_ = cmd.Wait()
		if cmd.ProcessState.Exited() {
			t.Fatalf("kill %d: the process ended by itself: %v", i, cmd.ProcessState)
		}
		if i%4 == 3 || x.pending != nil { // otherwise the next process is the first to open what was left
			x.check(t, dir)
		}
	}
	if x.epoch.Sequence == 0 {
		t.Fatal("no process got to write")
	}
	t.Logf("%d kills, last number %v", *kills, x.epoch)
}
