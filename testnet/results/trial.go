package results

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
)

// trial is a run as a row. CSV has the fields before At, the first list.
type trial struct {
	Strategy   string   `json:"strategy"`
	Peers      int      `json:"peers"`
	Trial      int      `json:"trial"`
	Recall     float64  `json:"recall"`
	Messages   float64  `json:"messages_per_query"`
	Wasted     float64  `json:"wasted_probes_per_query"`
	Upkeep     float64  `json:"upkeep_bytes_per_peer"`
	Startup    float64  `json:"startup_bytes_per_peer"`
	Rate       float64  `json:"upkeep_rate"`
	Connect    float64  `json:"connect_bytes_per_peer"`
	Covered    *float64 `json:"covered"`
	Directory  *float64 `json:"directory_bytes_per_peer"`
	Bytes      float64  `json:"query_bytes"`
	Hops       float64  `json:"hops"`
	P50        float64  `json:"latency_ms_p50"`
	P99        float64  `json:"latency_ms_p99"`
	Trace      string   `json:"trace_hash"`
	Seed       uint64   `json:"seed"`
	Keys       int      `json:"keys_per_peer"`
	Queries    int      `json:"queries"`
	Online     float64  `json:"online"`
	UpkeepP99  float64  `json:"upkeep_bytes_p99"`
	LoadP99    float64  `json:"load_p99_over_mean"`
	LoadMax    float64  `json:"load_max_over_mean"`
	Virtual    float64  `json:"virtual_seconds"`
	Wall       float64  `json:"wall_seconds"`
	State      float64  `json:"state_bytes_per_peer"`
	Components int      `json:"topology_components"`

	At      []scenario.Coordinate `json:"at"`
	Kinds   []sim.Sent            `json:"kinds"`
	Allowed float64               `json:"upkeep_allowed,omitempty"`
	Lines   []sim.Known           `json:"lines,omitempty"`
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
	return trial{
		Strategy: r.Strategy, Peers: r.Peers, Trial: r.Trial,
		Recall: found("recall"), Messages: r.Messages, Wasted: found("wasted"),
		Upkeep: 1000 * v["upkeep"], Startup: 1000 * v["startup"], Rate: found("steady"), Connect: r.Connect,
		Covered: r.Covered, Directory: r.Directory, Bytes: r.Bytes,
		Hops: found("hops"), P50: found("latency_p50"), P99: found("latency_p99"),
		Trace: r.Trace, Seed: r.Seed, Keys: r.Keys, Queries: len(r.Queries), Online: r.Online,
		UpkeepP99: r.UpkeepP99, LoadP99: r.LoadP99, LoadMax: r.LoadMax,
		Virtual: r.Virtual, Wall: r.Wall, State: r.State, Components: r.Components,
		At: append([]scenario.Coordinate{}, s.At...), Kinds: r.Kinds, Allowed: r.Allowed, Lines: r.Lines,
	}
}

// trialRecords returns trials as records for CSV, with a column for each sweep but that of peers, which has one
// already.
func (r Result) trialRecords() (out [][]string) {
	for i, run := range r.Runs {
		row := trialOf(r.scenario(run), run)
		var names, values []string
		for f, x := range reflect.ValueOf(row).Fields() {
			if f.Type.Kind() == reflect.Slice {
				break
			}
			names, values = append(names, column(f)), append(values, cell(x.Interface()))
			for _, c := range row.At {
				if f.Name == "Peers" && c.Name != "peers" {
					names, values = append(names, c.Name), append(values, cell(c.Value))
				}
			}
		}
		if i == 0 {
			out = append(out, names)
		}
		out = append(out, values)
	}
	return out
}

// column returns the name of a field in CSV and JSON.
func column(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
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
