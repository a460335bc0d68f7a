package node

import (
	"math"
	"testing"

	"github.com/venn-p2p/venn/routing"
)

// TestNoTimeLimit: the longest time limit that there is ends no query at once.
func TestNoTimeLimit(t *testing.T) {
	n := newNode(t)
	if s := queried(t, n, []byte("k"), QueryOptions{Timeout: math.MaxInt64}); s.End != Exhausted {
		t.Errorf("%+v", s)
	}
}

// TestKeyOfCaller: a caller may use the memory of a key for something else once Query has returned, as those do who read
// keys line by line.
func TestKeyOfCaller(t *testing.T) {
	nodes := meshOf(t, 2, 1)
	add(t, nodes[1], []byte("here"))
	eventually(t, "it is found", func() bool { return len(find(t, nodes[0], []byte("here"), QueryOptions{})) == 1 })
	for range 20 {
		key := []byte("here")
		r := must(nodes[0].Query(t.Context(), key, QueryOptions{}))
		copy(key, "lost")
		if s := must(r.Stats()); s.Found != 1 {
			t.Fatalf("%+v", s)
		}
	}
}

// TestNamesOfConstants: the constants are what routing says.
func TestNamesOfConstants(t *testing.T) {
	for i, want := range []string{Enough, Exhausted, OutOfBudget, OutOfTime, Cancelled, Refused} {
		if got := routing.End(i).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for i, want := range []string{Matched, Named, Returned, Forwarded, Linked, Contact} {
		if got := routing.Why(i).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for i, want := range []string{Pending, Holds, Lacks, Failed, Answered} {
		if got := routing.Result(i).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
