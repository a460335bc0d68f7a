package experiment

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
)

//go:embed printed.json
var printedJSON []byte

// printed is a number that a paper prints, or the two bounds of an interval.
type printed struct {
	Experiment, Name            string
	Paper, Table, Row, Quantity string
	Printed                     []float64
	Tolerance                   struct{ Abs, Rel float64 }
	Inputs                      map[string]float64
	Right                       []float64 // the right numbers, where the printed ones are wrong
	Reason                      string
}

var printedNumbers = sync.OnceValue(func() []printed {
	var all []printed
	if err := json.Unmarshal(printedJSON, &all); err != nil {
		panic(err) // part of the program
	}
	return all
})

func printedByName(name string) printed {
	for _, p := range printedNumbers() {
		if p.Name == name {
			return p
		}
	}
	panic("experiment: no number printed is called " + name)
}

// printedOf returns an experiment's numbers, in the order of the paper.
func printedOf(experiment string) []printed {
	return slices.DeleteFunc(slices.Clone(printedNumbers()), func(p printed) bool { return p.Experiment != experiment })
}

func (p printed) in(name string) float64 { return p.Inputs[name] }
func (p printed) int(name string) int    { return int(math.Round(p.Inputs[name])) }

// tolerance returns the tolerance for number i: the larger, if an absolute and a relative one are given.
func (p printed) tolerance(i int) float64 {
	return max(p.Tolerance.Abs, p.Tolerance.Rel*math.Abs(p.Printed[i]))
}

// row compares number i with a value.
func (p printed) row(i int, value, tolerance float64, how string) Row {
	r := Row{
		Experiment: p.Experiment, Paper: p.Paper, Table: p.Table, Row: p.Row, Quantity: p.Quantity,
		Printed: p.Printed[i], Measured: value, Tolerance: tolerance, Verdict: Differs,
	}
	if len(p.Printed) == 2 {
		r.Quantity += [...]string{", low", ", high"}[i]
	}
	if how != "" {
		r.Quantity += ", " + how
	}
	switch {
	case p.Right != nil && math.Abs(value-p.Right[i]) <= tolerance*scale(p.Right[i], p.Printed[i]):
		r.Verdict, r.Reason = Misprints, p.Reason
	case p.Right == nil && math.Abs(value-p.Printed[i]) <= tolerance:
		r.Verdict = Agrees
	}
	return r
}

// scale returns the factor by which a tolerance for the number from grows for a greater number to, in proportion.
func scale(to, from float64) float64 { return max(1, math.Abs(to/from)) }

func isPrinted(name string) bool {
	return slices.ContainsFunc(printedNumbers(), func(p printed) bool { return p.Name == name })
}

// rule computes or measures the numbers whose names contain a word.
type rule struct {
	word string
	cost float64 // cost of each number's task, see task
	find func(s *session, p printed)
}

// byRules returns a task for each number of an experiment to which a rule applies, by the first that does.
func byRules(rules ...rule) func(*session) []task {
	return func(s *session) (tasks []task) {
		for _, p := range printedOf(s.Name) {
			i := slices.IndexFunc(rules, func(r rule) bool { return strings.Contains(p.Name, r.word) })
			if i >= 0 {
				tasks = append(tasks, task{rules[i].cost, func() { rules[i].find(s, p) }})
			}
		}
		return tasks
	}
}
