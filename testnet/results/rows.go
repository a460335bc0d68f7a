package results

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/statistics"
)

// Row is one figure of a strategy in a scenario: the mean of the trials, and the answer in the scenario's file.
type Row struct {
	Scenario string          `json:"scenario"`
	Strategy string          `json:"strategy"`
	Engine   string          `json:"engine"`
	Figure   string          `json:"figure"`
	Unit     string          `json:"unit,omitempty"`
	Mean     statistics.Mean `json:"mean"`
	Answer   *[2]float64     `json:"answer,omitempty"` // lowest and highest mean that the scenario's file expects
	Holds    bool            `json:"holds"`            // the mean is in that interval, or there is no answer
	Seeds    []uint64        `json:"-"`                // seeds of the trials
	Values   []float64       `json:"-"`                // values of the trials
}

// Rows computes the rows of runs, in the order of the scenarios, engines, strategies and figures.
func Rows(scenarios []*scenario.Scenario, runs []*scenario.Run) []Row {
	var out []Row
	for _, s := range scenarios {
		for _, engine := range []string{scenario.Simulated, scenario.Real} {
			for _, name := range s.Strategies {
				out = append(out, rowsOf(s, name, engine, runs)...)
			}
		}
	}
	return out
}

// rowsOf returns the rows of a strategy on an engine. Only simulated figures are compared with the answers.
func rowsOf(s *scenario.Scenario, strategy, engine string, runs []*scenario.Run) (out []Row) {
	values := map[string][]float64{}
	var seeds []uint64
	for _, r := range runs {
		if r.Scenario == s.Name && r.Strategy == strategy && r.Engine == engine {
			seeds = append(seeds, r.Seed)
			for name, x := range s.Values(r) {
				values[name] = append(values[name], x)
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	for _, f := range s.Figures() {
		row := Row{Scenario: s.Name, Strategy: strategy, Engine: engine, Figure: f.Name, Unit: f.Unit, Mean: statistics.MeanOf(values[f.Name]), Holds: true, Seeds: seeds, Values: values[f.Name]}
		if f.Maybe && row.Mean.N == 0 {
			continue
		}
		if strings.HasPrefix(f.Name, "recall") {
			row.Mean = statistics.ShareOf(values[f.Name], int(s.QueriesOf(f.Name))*len(seeds))
		}
		if want, said := s.Answers[strategy][f.Name]; said && engine == scenario.Simulated {
			row.Answer, row.Holds = &want, row.Mean.Value >= want[0] && row.Mean.Value <= want[1]
		}
		out = append(out, row)
	}
	return out
}

// RowRecords returns rows as records for CSV, the names of the columns first.
func RowRecords(rows []Row) [][]string {
	out := [][]string{{"scenario", "strategy", "engine", "figure", "unit", "mean", "half_95", "least", "most", "trials", "answer_low", "answer_high", "holds"}}
	for _, r := range rows {
		low, high := "", ""
		if r.Answer != nil {
			low, high = statistics.Digits(r.Answer[0]), statistics.Digits(r.Answer[1])
		}
		out = append(out, []string{
			r.Scenario, r.Strategy, r.Engine, r.Figure, r.Unit, statistics.Digits(r.Mean.Value), statistics.Digits(r.Mean.Half), statistics.Digits(r.Mean.Least), statistics.Digits(r.Mean.Most),
			strconv.Itoa(r.Mean.N), low, high, strconv.FormatBool(r.Holds),
		})
	}
	return out
}

// RecallAt is the recall of the queries that began in some seconds of the run.
type RecallAt struct {
	At   float64         // middle of these seconds, in seconds from the start
	Mean statistics.Mean // mean over the trials
}

// RecallOverTime returns the recall by the time at which queries began, in at most about 40 steps of 5 s or more.
func RecallOverTime(runs []*scenario.Run) []RecallAt {
	end := 0.0
	for _, r := range runs {
		for _, q := range r.Queries {
			end = max(end, q.At)
		}
	}
	step := max(5, math.Ceil(end/40))
	var out []RecallAt
	for from := 0.0; from <= end; from += step {
		var values []float64
		for _, r := range runs {
			in := slices.DeleteFunc(slices.Clone(r.Queries), func(q sim.Query) bool { return q.At < from || q.At >= from+step })
			values = append(values, scenario.Recall(in))
		}
		if m := statistics.MeanOf(values); m.N > 0 {
			out = append(out, RecallAt{from + step/2, m})
		}
	}
	return out
}
