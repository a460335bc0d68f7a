package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/testnet/scenario"
)

// AnswersOf returns rows as answers, in the form of a scenario's file. Each answer is the interval in which the mean
// of as many new trials would lie with 95 % confidence. The figures are those of the file's own answers, or else
// recall, messages and upkeep.
func AnswersOf(s *scenario.Scenario, rows []Row) string {
	var b strings.Builder
	for _, name := range s.Strategies {
		fmt.Fprintf(&b, "\n[answers.%s]\n", name)
		for _, r := range rows {
			if r.Scenario != s.Name || r.Strategy != name || r.Engine != scenario.Simulated || r.Mean.N == 0 || !answered(s, name, r.Figure) {
				continue
			}
			low, high := r.Mean.Next()
			low = max(0, low)
			if strings.HasPrefix(r.Figure, "recall") {
				high = min(1, high)
			}
			fmt.Fprintf(&b, "%s = [%s, %s]\n", r.Figure, rounded(low, math.Floor), rounded(high, math.Ceil))
		}
	}
	return b.String()
}

// answered reports whether a figure is among the answers of a strategy.
func answered(s *scenario.Scenario, strategy, figure string) bool {
	if a := s.Answers[strategy]; len(a) > 0 {
		_, there := a[figure]
		return there
	}
	return slices.Contains([]string{"recall", "messages", "upkeep"}, figure) || strings.HasPrefix(figure, scenario.RecallOf(""))
}

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

// WithAnswers returns the text of a scenario's file with these answers at its end, in place of its own answers.
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
