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
