package scenario

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Explain says in words what the scenario does, and what its first trial draws. Errors are those of Plan.
func (s *Scenario) Explain() (string, error) {
	p, err := s.Plan(0)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("%s: %s", s.Name, strings.TrimSpace(s.Question))
	say("")
	say("strategies   %s; %d trials, seeds from %d", strings.Join(s.Strategies, ", "), s.Trials, s.Seed)
	say("peers        %d, with %d keys and %d holdings (%s)", p.Data.Peers(), len(p.Keys)-len(p.extra), p.Data.Holdings(), s.Collections.Data)
	for i, l := range s.Lines {
		n := 0
		for _, c := range p.Class {
			if c == i {
				n++
			}
		}
		say("lines        %d of %s: %v up, %v down", n, l.Name, l.Up, l.Down)
	}
	say("latency      %s", s.Latency.explain())
	say("time         %v before the first query, %v of queries, %v after", s.Warmup, s.Asking, s.Patience)
	want := "one holder"
	if s.All {
		want = "every holder"
	}
	say("queries      %d, each for %s, by %s", len(p.Script.Asks), want, s.Queries.explain())
	if s.Sessions.Median > 0 {
		say("sessions     median %v, absences %v, Weibull of shape %v: %d moves", s.Sessions.Median, s.Sessions.Away, s.Sessions.Shape, len(p.Script.Moves))
	}
	if s.Changes.Share > 0 {
		say("changes      %v of every collection a minute, %v of the keys taken in new: %d changes", s.Changes.Share, s.Changes.New, len(p.Script.Changes))
	}
	if s.Loss > 0 {
		say("loss         %v of the messages", s.Loss)
	}
	if s.Undefended {
		say("defences     all are switched off")
	}
	for _, a := range s.Adversaries {
		say("adversaries  %d of kind %s", a.Number, a.Kind)
	}
	for _, e := range s.Events {
		say("at %-9v %s", time.Duration(e.At), e.explain())
	}
	if len(s.Answers) == 0 {
		say("answers      none are in the file")
	}
	for _, name := range s.Strategies {
		a, said := s.Answers[name]
		if !said {
			continue
		}
		var parts []string
		for _, f := range s.Figures() {
			if i, there := a[f.Name]; there {
				parts = append(parts, fmt.Sprintf("%s %s to %s", f.Name, digits(i[0]), digits(i[1])))
			}
		}
		say("answers      %s: %s", name, strings.Join(parts, ", "))
	}
	return b.String(), nil
}

func (l Latency) explain() string {
	switch {
	case l.Matrix != "":
		return "as measured in " + l.Matrix
	case len(l.Region) > 0:
		var names []string
		for _, r := range l.Region {
			names = append(names, r.Name)
		}
		return "by region: " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%v to %v, by distance in a square", l.Least, l.Most)
}

func (q Queries) explain() string {
	switch {
	case q.Log != "":
		return "the log " + q.Log
	case q.Rule == Zipf:
		return fmt.Sprintf("the rule %s, exponent %v", q.Rule, q.Zipf)
	}
	return "the rule " + q.Rule
}

func (e Event) explain() string {
	of := "peers"
	if e.Of != "" {
		of += " of " + e.Of
	}
	share := fmt.Sprintf("%v of the %s", e.Share, of)
	switch e.Kind {
	case Kill:
		if e.Back > 0 {
			return fmt.Sprintf("%s go, and come back after %v", share, e.Back)
		}
		return share + " go for good"
	case Partition:
		return fmt.Sprintf("the network falls into %d parts", e.Parts)
	case Heal:
		return "the parts are joined again"
	case Crowd:
		return fmt.Sprintf("%d queries for one key, within %v", e.Queries, e.Over)
	case Slow:
		var parts []string
		if e.Up > 0 {
			parts = append(parts, fmt.Sprintf("%v up", e.Up))
		}
		if e.Down > 0 {
			parts = append(parts, fmt.Sprintf("%v down", e.Down))
		}
		s := fmt.Sprintf("the lines of %s carry %s", share, strings.Join(parts, ", "))
		if e.Lasts > 0 {
			s += fmt.Sprintf(", for %v", e.Lasts)
		}
		return s
	case Clock:
		return fmt.Sprintf("the clocks of %s jump %v ahead", share, e.By)
	case Older:
		return share + " are of the version before"
	}
	return e.Kind
}

// AnswersOf are answers in the form of a scenario's file: for each strategy the interval in which the mean of as many other trials
// would lie with 95 % confidence. The figures are those that the file has, or else recall, messages and upkeep.
func AnswersOf(s *Scenario, rows []Row) string {
	var b strings.Builder
	for _, name := range s.Strategies {
		fmt.Fprintf(&b, "\n[answers.%s]\n", name)
		for _, r := range rows {
			if r.Scenario != s.Name || r.Strategy != name || r.Engine != Simulated || r.Mean.N == 0 || !s.answered(name, r.Figure) {
				continue
			}
			low, high := r.Mean.Next()
			low = max(0, low)
			if r.Mean.Half == 0 && strings.HasPrefix(r.Figure, "recall") { // all alike: what 95 % of such samples would still show
				low = max(0, r.Mean.Value-3/s.queriesOf(r.Figure)/float64(r.Mean.N))
			}
			if strings.HasPrefix(r.Figure, "recall") {
				high = min(1, high)
			}
			fmt.Fprintf(&b, "%s = [%s, %s]\n", r.Figure, down(low), up(high))
		}
	}
	return b.String()
}

// queriesOf is about how many queries of a trial a recall is of.
func (s *Scenario) queriesOf(figure string) float64 {
	n := float64(s.Queries.Number)
	w, part := s.Windows[strings.TrimPrefix(figure, recallOf(""))]
	if !part {
		return n
	}
	from, to := max(w[0], s.Warmup), min(w[1], s.Warmup+s.Asking)
	return max(1, n*float64(to-from)/float64(s.Asking))
}

// answered says whether a figure is among the answers for a strategy.
func (s *Scenario) answered(strategy, figure string) bool {
	if a := s.Answers[strategy]; len(a) > 0 {
		_, there := a[figure]
		return there
	}
	return slices.Contains([]string{"recall", "messages", "upkeep"}, figure) || strings.HasPrefix(figure, recallOf(""))
}

// down and up are a bound of an interval to four digits, rounded outwards.
func down(x float64) string { return rounded(x, math.Floor) }

func up(x float64) string { return rounded(x, math.Ceil) }

func rounded(x float64, round func(float64) float64) string {
	if x == 0 {
		return "0.0"
	}
	unit := math.Pow10(3 - int(math.Floor(math.Log10(math.Abs(x)))))
	s := strconv.FormatFloat(round(x*unit)/unit, 'g', 6, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
