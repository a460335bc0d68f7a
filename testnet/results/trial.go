package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/venn-p2p/venn/testnet/scenario"
)

// trial is a run as a row: columns with their values, in order.
type trial []column

type column struct {
	name  string
	value any
}

// trialOf returns a run's row. Without a value, covered and directory_bytes_per_peer are null, and other figures are
// 0.
func trialOf(s *scenario.Scenario, r *scenario.Run) trial {
	v := s.Values(r)
	found := func(name string) float64 {
		if math.IsNaN(v[name]) {
			return 0
		}
		return v[name]
	}
	at := s.At
	if at == nil {
		at = []scenario.Coordinate{}
	}
	out := trial{
		{"strategy", r.Strategy},
		{"peers", r.Peers},
		{"trial", r.Trial},
		{"recall", found("recall")},
		{"messages_per_query", r.Messages},
		{"wasted_probes_per_query", found("wasted")},
		{"upkeep_bytes_per_peer", 1000 * v["upkeep"]},
		{"startup_bytes_per_peer", 1000 * v["startup"]},
		{"upkeep_rate", found("steady")},
		{"connect_bytes_per_peer", r.Connect},
		{"covered", r.Covered},
		{"directory_bytes_per_peer", r.Directory},
		{"query_bytes", r.Bytes},
		{"hops", found("hops")},
		{"latency_ms_p50", found("latency_p50")},
		{"latency_ms_p99", found("latency_p99")},
		{"trace_hash", r.Trace},
		{"seed", r.Seed},
		{"keys_per_peer", r.Keys},
		{"queries", len(r.Queries)},
		{"online", r.Online},
		{"upkeep_bytes_p99", r.UpkeepP99},
		{"load_p99_over_mean", r.LoadP99},
		{"load_max_over_mean", r.LoadMax},
		{"virtual_seconds", r.Virtual},
		{"wall_seconds", r.Wall},
		{"state_bytes_per_peer", r.State},
		{"topology_components", r.Parts},
		{"at", at},
		{"kinds", r.Kinds},
	}
	if r.Allowed > 0 {
		out = append(out, column{"upkeep_allowed", r.Allowed})
	}
	if len(r.Lines) > 0 {
		out = append(out, column{"lines", r.Lines})
	}
	return out
}

// single is the number of columns, from the first on, that are in the CSV. The others are in tables of their own, or
// not in all rows.
const single = 28

// MarshalJSON writes an object with the columns in their order.
func (t trial) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, c := range t {
		value, err := json.Marshal(c.value)
		if err != nil {
			return nil, err
		}
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		fmt.Fprintf(&b, "%q:%s", c.name, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// trialRecords returns trials as records for CSV, with a column for each sweep but that of peers, which has one
// already.
func (r Result) trialRecords() (out [][]string) {
	for i, run := range r.Runs {
		s := r.scenario(run)
		var names, values []string
		for _, c := range s.At {
			if c.Name != "peers" {
				names, values = append(names, c.Name), append(values, cell(c.Value))
			}
		}
		var record []string
		row := trialOf(s, run)
		for k, c := range row[:single] {
			if k == 2 {
				record = append(record, values...)
			}
			record = append(record, cell(c.value))
		}
		if i == 0 {
			out = append(out, head(row, names))
		}
		out = append(out, record)
	}
	return out
}

func head(t trial, swept []string) (out []string) {
	for k, c := range t[:single] {
		if k == 2 {
			out = append(out, swept...)
		}
		out = append(out, c.name)
	}
	return out
}

// cell formats a value for CSV; an unknown value is empty.
func cell(value any) string {
	switch x := value.(type) {
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case *float64:
		if x == nil {
			return ""
		}
		return cell(*x)
	}
	return fmt.Sprint(value)
}
