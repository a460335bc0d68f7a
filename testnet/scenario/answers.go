package scenario

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// AnswersOf are answers in the form of a scenario's file. For each strategy they give the interval in which the mean of
// the same number of other trials would lie with 95 % confidence. The figures are those that the file has, or else
// recall, messages and upkeep.
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

// WithAnswers is the text of a scenario's file with other answers in place of those that it has. They stand at the end.
func WithAnswers(text, answers string) string {
	var kept []string
	inside := false
	for line := range strings.Lines(text) {
		if table, is := strings.CutPrefix(strings.TrimSpace(line), "["); is {
			inside = strings.HasPrefix(table, "answers.")
		}
		if !inside {
			kept = append(kept, line)
		}
	}
	return strings.TrimRight(strings.Join(kept, ""), "\n") + "\n" + answers
}
