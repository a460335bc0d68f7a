package results

import (
	"bytes"
	"reflect"
	"strings"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
)

// Table is one of the three tables with the details of runs. As CSV and as NDJSON it has the same columns. The first
// columns name the run: scenario, strategy, engine, trial, seed.
type Table struct {
	Name    string // queries, seconds or kinds
	columns []string
	rows    [][]any
}

// Tables returns three tables of the runs: with a row for every query, every second, and every kind of message.
func Tables(runs []*scenario.Run) []Table {
	queries, seconds, kinds := newTable[sim.Query]("queries"), newTable[sim.Second]("seconds"), newTable[sim.Sent]("kinds")
	for _, r := range runs {
		for _, q := range r.Queries {
			queries.add(r, q)
		}
		for _, s := range r.Seconds {
			seconds.add(r, s)
		}
		for _, k := range r.Kinds {
			kinds.add(r, k)
		}
	}
	return []Table{queries, seconds, kinds}
}

func newTable[T any](name string) Table {
	t := Table{Name: name, columns: []string{"scenario", "strategy", "engine", "trial", "seed"}}
	for f := range reflect.TypeFor[T]().Fields() {
		column, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		t.columns = append(t.columns, column)
	}
	return t
}

func (t *Table) add(r *scenario.Run, of any) {
	row := []any{r.Scenario, r.Strategy, r.Engine, r.Trial + 1, r.Seed}
	for _, v := range reflect.ValueOf(of).Fields() {
		row = append(row, v.Interface())
	}
	t.rows = append(t.rows, row)
}

// Records returns the rows for CSV, the names of the columns first.
func (t Table) Records() [][]string {
	out := [][]string{t.columns}
	for _, row := range t.rows {
		record := make([]string, len(row))
		for i, value := range row {
			record[i] = cell(value)
		}
		out = append(out, record)
	}
	return out
}

// Lines returns the rows as NDJSON.
func (t Table) Lines() []byte {
	var b bytes.Buffer
	for _, row := range t.rows {
		columns := make(trial, len(row))
		for i, value := range row {
			columns[i] = column{t.columns[i], value}
		}
		line, err := columns.MarshalJSON()
		if err != nil {
			panic(err) // cannot be: values are strings and numbers
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}
