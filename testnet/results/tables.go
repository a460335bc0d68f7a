package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

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
		t.columns = append(t.columns, column(f))
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
		for i, value := range row {
			text, err := json.Marshal(value)
			if err != nil {
				panic(err) // strings and numbers
			}
			b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
			fmt.Fprintf(&b, "%q:%s", t.columns[i], text)
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}
