package experiment

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"sync/atomic"

	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/runs"
)

// run is all sessions of a call of Run.
type run struct {
	ctx      context.Context
	options  Options
	sessions []*session
	tasks    []sessionTask // tasks of all sessions
	pieces   *runs.Pieces[found]
	now      int // number of the task that is being done
}

// session is one experiment being run.
type session struct {
	*run
	experiment
	found          // of the task that is being done, then of all
	unfinished int // number of tasks that are not done
}

// sessionTask is a task of a session.
type sessionTask struct {
	*session
	task
}

// newRun makes a session for each experiment, and lists the tasks of all sessions.
func newRun(ctx context.Context, names []string, o Options, of *runs.Pieces[found]) (*run, error) {
	r := &run{ctx: ctx, options: o, pieces: of}
	chosen, err := choose(names)
	if err != nil {
		return nil, err
	}
	for _, e := range chosen {
		s := &session{run: r, experiment: e}
		for i, t := range e.tasks(s) {
			id := fmt.Sprintf("%s %d, %d trials, seed %d, by %s", e.Name, i, o.Trials, o.Seed, runs.Program())
			of.Of = append(of.Of, runs.Piece{ID: id, Name: e.Name, Cost: t.cost})
			r.tasks = append(r.tasks, sessionTask{s, t})
			s.unfinished++
		}
		r.sessions = append(r.sessions, s)
	}
	return r, nil
}

// do does a task and returns the rows and curves that it adds.
func (r *run) do(_ context.Context, i int) (found, error) {
	s := r.tasks[i].session
	r.now = i
	r.tasks[i].do()
	f := s.found
	s.found = found{}
	return f, nil
}

// rows adds the tasks' results to their sessions, and returns the rows of all.
func (r *run) rows(of []*found) Rows {
	for i, f := range of {
		if f == nil {
			continue
		}
		s := r.tasks[i].session
		s.unfinished--
		s.Rows = append(s.Rows, f.Rows...)
		for name, l := range f.Curves {
			whole := s.curve(name)
			whole.Dots = l.Dots
			whole.Points = append(whole.Points, l.Points...)
		}
	}
	var all PaperRows
	for _, s := range r.sessions {
		all = append(all, s.Rows...)
	}
	return all
}

// trials runs do n times on Options.Workers processors. If Options.Trials is set, it runs do that often, but at least
// five times. It returns the results in order, zero values if the run was interrupted. Each trial's random source
// follows from the seed, the label and the trial's number.
func trials[T any](s *session, label string, n int, do func(rng *rand.Rand) T) []T {
	const least = 5 // a standard error from fewer means nothing
	if s.options.Trials > 0 {
		n = max(least, s.options.Trials)
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s %d", s.Name, label, s.options.Seed)
	stream := h.Sum64()
	results := make([]T, n)
	var finished atomic.Int64
	runs.Parallel(n, s.options.Workers(), func(i int) {
		if s.ctx.Err() != nil {
			return
		}
		results[i] = do(rand.New(rand.NewPCG(stream, uint64(i))))
		if f := finished.Add(1); f%int64(1+n/100) == 0 {
			s.pieces.At(s.now, float64(f)/float64(n))
		}
	})
	return results
}

// formula adds a row for each value of the printed number with that name; a printed interval has two.
func (s *session) formula(name string, values ...float64) {
	p := printedByName(name)
	for i, v := range values {
		s.Rows = append(s.Rows, p.row(i, v, p.tolerance(i), ""))
	}
}

// measured adds a row for the mean of trials, whose margin adds to the tolerance.
func (s *session) measured(name string, x sample) { s.sampled(name, x, "measured") }

// sampled adds a row for a value from trials, whose margin adds to the tolerance. how says where the value comes from.
func (s *session) sampled(name string, x sample, how string) {
	p := printedByName(name)
	s.Rows = append(s.Rows, p.row(0, x.mean, p.tolerance(0)+x.margin, how))
}

// bitsPerKey adds a row for the mean of measured sizes, in bytes for the given number of keys, as bits a key.
func (s *session) bitsPerKey(name string, bytes sample, keys float64) {
	const (
		besides = 16    // bytes of a message besides the code, as in the paper's simulation
		loss    = 0.002 // the coder's loss against the entropy
	)
	p := printedByName(name)
	tolerance := p.tolerance(0) + 8*(besides+bytes.margin)/keys + loss*p.Printed[0]
	s.Rows = append(s.Rows, p.row(0, 8*bytes.mean/keys, tolerance, "measured"))
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
	s.Rows = append(s.Rows, r)
}

// sample is the mean of trials, the margin within which the true mean lies, and the standard deviation of one trial.
// The margin is four standard errors, more for few trials.
type sample struct {
	mean, margin, deviation float64
	trials                  int
}

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
	return sample{mean, fourErrors(n-1) * deviation / math.Sqrt(n), deviation, len(xs)}
}

// column returns the sample of one figure over all trials.
func column[T any](trials []T, of func(T) float64) sample {
	xs := make([]float64, len(trials))
	for i, t := range trials {
		xs[i] = of(t)
	}
	return sampleOf(xs)
}

// spread returns the sample's standard deviation as a sample. Its standard error is √((kurtosis-1)/4n) of the true
// deviation. The margin is wider than four of them, because only the measured deviation is known.
func (x sample) spread(kurtosis float64) sample {
	n := float64(x.trials)
	off := min(0.9, fourErrors(n-1)*math.Sqrt((kurtosis-1)/(4*n)))
	return sample{mean: x.deviation, margin: x.deviation * off / (1 - off), trials: x.trials}
}

const normalKurtosis = 3

// fourErrors returns the number of estimated standard errors that stand for four true ones, by Student's distribution
// with the given degrees of freedom (the Cornish–Fisher expansion). The standard error itself is only known from the
// trials.
func fourErrors(freedom float64) float64 {
	const z = 4.0
	return z + (z*z*z+z)/(4*freedom) + (5*z*z*z*z*z+16*z*z*z+3*z)/(96*freedom*freedom)
}

// curve returns the session's line of that name, for tasks to add points to.
func (s *session) curve(name string) *report.Line {
	if s.Curves == nil {
		s.Curves = map[string]*report.Line{}
	}
	if s.Curves[name] == nil {
		s.Curves[name] = &report.Line{Name: name}
	}
	return s.Curves[name]
}
