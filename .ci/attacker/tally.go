package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The times of a row.
const (
	before = iota // what happens then is no figure
	quiet
	first // half of the attack
	second
	ending // the attack ends; no figure
	after
	phases
)

var figures = []int32{quiet, first, second, after}

// tally has the results of one kind of question, by the phase in which each was asked.
type tally struct {
	phase *atomic.Int32

	mu     sync.Mutex
	asked  [phases]int
	took   [phases][]time.Duration // by those that were answered
	errors [phases]map[string]int
}

// note times a question.
func (t *tally) note(ask func() error) error {
	phase, began := t.phase.Load(), time.Now()
	err := ask()
	took := time.Since(began)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked[phase]++
	switch {
	case err == nil:
		t.took[phase] = append(t.took[phase], took)
	case t.errors[phase] == nil:
		t.errors[phase] = map[string]int{short(err): 1}
	default:
		t.errors[phase][short(err)]++
	}
	return err
}

// short returns the text of an error without its addresses.
func short(err error) string {
	s := err.Error()
	if i, j := strings.Index(s, "tcp"), strings.LastIndex(s, ": "); 0 <= i && i < j {
		s = s[:i] + s[j:]
	}
	return s[:min(len(s), 70)]
}

// print prints the figures, and with errors what went wrong.
func (t *tally) print(name string, errors bool) {
	fmt.Printf("  %-9s", name)
	for _, p := range figures {
		fmt.Printf(" %4d%%", 100*len(t.took[p])/max(1, t.asked[p]))
	}
	for _, c := range []struct {
		name string
		at   float64
	}{{"p50", .5}, {"p99", .99}} {
		fmt.Printf("   %s", c.name)
		for _, p := range figures {
			fmt.Printf(" %6.1f", percentile(t.took[p], c.at).Seconds()*1000)
		}
	}
	fmt.Println(" ms")
	for _, p := range figures {
		if errors && len(t.errors[p]) > 0 {
			fmt.Println("     ", []string{quiet: "quiet", first: "first half", second: "second half", after: "after"}[p], t.errors[p])
		}
	}
}

func percentile(d []time.Duration, at float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[int(at*float64(len(d)))]
}
