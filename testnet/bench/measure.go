package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"
)

// Row is a row of the report. Less is better for Ours and Theirs; Ratio is theirs to ours.
type Row struct {
	Area   string  `json:"area"`
	Name   string  `json:"name"`
	Ours   float64 `json:"ours"`
	Theirs float64 `json:"theirs"`
	Unit   string  `json:"unit"`
	Ratio  float64 `json:"ratio"`
	Target float64 `json:"target"` // ratio to reach; 0: no target
	OK     bool    `json:"ok"`
}

const (
	rounds  = 11
	atLeast = 30 * time.Millisecond // least time of work of a side in a round; a side repeats its work until then
)

type bench struct {
	area      string
	rows      []Row
	progress  io.Writer
	interrupt <-chan os.Signal
	stopped   bool
}

// side does some work once and returns the time of it, without the time to prepare it.
type side func() time.Duration

// timed returns a side that needs no preparation.
func timed(work func()) side {
	return func() time.Duration {
		start := now()
		work()
		return now() - start
	}
}

// compare measures both sides in turn and adds a row. units is the number of units, such as keys, in the work of one
// call.
func (b *bench) compare(name, unit string, units, target float64, ours, theirs side) {
	fmt.Fprintf(b.progress, "%s: %s\n", b.area, name)
	var us, them, ratios []float64
	for round := range rounds + 1 {
		if b.stopping() {
			return
		}
		runtime.GC() // the garbage of the last round must not cost time in this one
		a, z := ours, theirs
		if round%2 == 1 {
			a, z = z, a
		}
		first, second := repeat(a), repeat(z)
		if round%2 == 1 {
			first, second = second, first
		}
		if round == 0 {
			continue // the first round only warms up caches and processor frequencies
		}
		us, them = append(us, first/units), append(them, second/units)
		ratios = append(ratios, second/first)
	}
	b.add(Row{Name: name, Ours: median(us), Theirs: median(them), Unit: unit, Ratio: median(ratios), Target: target})
}

// stopping reports whether the user has interrupted the program.
func (b *bench) stopping() bool {
	select {
	case <-b.interrupt:
		b.stopped = true
	default:
	}
	return b.stopped
}

// amount adds a row for two amounts, such as sizes, where less is better.
func (b *bench) amount(name, unit string, target, ours, theirs float64) {
	if !b.stopped {
		b.add(Row{Name: name, Ours: ours, Theirs: theirs, Unit: unit, Ratio: theirs / ours, Target: target})
	}
}

// within adds a row for work with a limit of time: the median of the rounds as ours, in seconds, and the limit as
// theirs.
func (b *bench) within(name, unit string, limit float64, work side) {
	fmt.Fprintf(b.progress, "%s: %s\n", b.area, name)
	var all []float64
	for range rounds {
		if b.stopping() {
			return
		}
		runtime.GC()
		all = append(all, repeat(work)/1e9)
	}
	b.amount(name, unit, 1, median(all), limit)
}

func (b *bench) add(r Row) {
	r.Area, r.OK = b.area, r.Ratio >= r.Target
	b.rows = append(b.rows, r)
}

// repeat runs a side until it has worked for atLeast, and returns the nanoseconds of one run.
func repeat(s side) float64 {
	var total time.Duration
	n := 0
	for total < atLeast {
		total += s()
		n++
	}
	return float64(total.Nanoseconds()) / float64(n)
}

func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
}

// randomKeys returns n keys of 20 bytes that follow each other in memory.
func randomKeys(seed uint64, n int) [][]byte {
	const size = 20
	source := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	all := make([]byte, n*size)
	_, _ = source.Read(all) // never fails
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = all[i*size:][:size:size]
	}
	return keys
}

// must returns v, and panics on an error. The parameters are fixed in this program, so there should be none.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// sink receives results, so that the compiler does not drop their computation.
var sink int
