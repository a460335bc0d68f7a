package experiment

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// run is all sessions of a call of Run.
type run struct {
	ctx      context.Context
	options  Options
	sessions []*session

	mu    sync.Mutex
	total float64 // cost of all tasks
	done  float64 // cost of those finished
}

// session is one experiment being run.
type session struct {
	*run
	experiment
	todo    []task
	rows    []Row
	curves  map[string]*line // of the figures, by name
	current float64          // cost of the task that runs
}

func newRun(ctx context.Context, o Options, chosen []experiment) *run {
	r := &run{ctx: ctx, options: o}
	for _, e := range chosen {
		s := &session{run: r, experiment: e, curves: map[string]*line{}}
		s.todo = e.tasks(s)
		for _, t := range s.todo {
			r.total += t.cost
		}
		r.sessions = append(r.sessions, s)
	}
	return r
}

// work does the tasks. What one that was interrupted has found is dropped.
func (s *session) work() {
	for _, t := range s.todo {
		rows := len(s.rows)
		s.current = t.cost
		t.do()
		if s.ctx.Err() != nil {
			s.rows = s.rows[:rows]
			return
		}
		s.done += t.cost
		s.progress(0)
	}
}

// progress reports that a part of the current task is done.
func (s *session) progress(part float64) {
	if s.options.Progress == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Progress(Progress{Experiment: s.Name, Done: (s.done + part*s.current) / s.total})
}

// scaled is a number of trials, by Options.Trials percent, at least 2.
func (s *session) scaled(trials int) int { return max(2, trials*s.options.Trials/100) }

// trials runs do n times (scaled) on all processors and returns the results in order. Each trial has a source of its own, that
// follows from the seed, the label and the trial's number.
func trials[T any](s *session, label string, n int, do func(rng *rand.Rand) T) []T {
	n = s.scaled(n)
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s %d", s.Name, label, s.options.Seed)
	stream := h.Sum64()
	results := make([]T, n)
	var next, finished atomic.Int64
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && s.ctx.Err() == nil; i = next.Add(1) - 1 {
				results[i] = do(rand.New(rand.NewPCG(stream, uint64(i))))
				if f := finished.Add(1); f%int64(1+n/100) == 0 {
					s.progress(float64(f) / float64(n))
				}
			}
		})
	}
	workers.Wait()
	return results
}

// formula adds a row for each value of a number printed (bounds have two).
func (s *session) formula(name string, values ...float64) {
	p := printedByName(name)
	for i, v := range values {
		s.rows = append(s.rows, p.row(i, v, p.tolerance(i), ""))
	}
}

// measured adds a row for the mean of trials, whose standard error adds to the tolerance.
func (s *session) measured(name string, x sample) {
	p := printedByName(name)
	s.rows = append(s.rows, p.row(0, x.mean, p.tolerance(0)+3*x.err, "measured"))
}

// size adds a row for the mean of measured sizes.
func (s *session) size(name string, x sample) {
	const besides = 0.005 // checksum and header of a message of about 10 kB, and what the coder loses
	p := printedByName(name)
	s.rows = append(s.rows, p.row(0, x.mean, p.tolerance(0)+3*x.err+besides*p.Printed[0], "measured"))
}

// note adds a row for a number that a theorem or another simulation gives.
func (s *session) note(r Row) {
	r.Experiment = s.Name
	if r.Verdict == "" {
		r.Verdict = Differs
		if math.Abs(r.Measured-r.Printed) <= r.Tolerance {
			r.Verdict = Agrees
		}
	}
	s.rows = append(s.rows, r)
}

// sample is the mean of trials, its standard error, and the standard deviation of one.
type sample struct{ mean, err, deviation float64 }

func sampleOf(xs []float64) sample {
	var sum, squares float64
	for _, x := range xs {
		sum += x
	}
	n := float64(len(xs))
	mean := sum / n
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	deviation := math.Sqrt(squares / (n - 1))
	return sample{mean, deviation / math.Sqrt(n), deviation}
}
