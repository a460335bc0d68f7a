package scenario

import (
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// latency is that between two of n peers, one way: whole microseconds.
func (p *Plan) latency(n int) (func(a, b strategy.ID) time.Duration, error) {
	l, rng := p.Scenario.Latency, p.random(placing, 0)
	switch {
	case l.Matrix != "":
		matrix, err := p.matrix(l.Matrix)
		if err != nil {
			return nil, err
		}
		order := rng.Perm(len(matrix))
		place := func(p strategy.ID) int { return order[int(p)%len(order)] }
		return func(a, b strategy.ID) time.Duration { return matrix[place(a)][place(b)] }, nil
	case len(l.Region) > 0:
		var mix link.Mix
		for _, r := range l.Region {
			mix = append(mix, link.Class{Name: r.Name, Weight: max(1, int(math.Round(r.Share*1000)))})
		}
		where := mix.Assign(n, rng)
		return func(a, b strategy.ID) time.Duration { return l.between(where[a], where[b]) }, nil
	}
	place := make([][2]float32, n)
	for i := range place {
		place[i] = [2]float32{rng.Float32(), rng.Float32()}
	}
	least, most := time.Duration(l.Least), time.Duration(l.Most)
	return func(a, b strategy.ID) time.Duration {
		far := math.Hypot(float64(place[a][0]-place[b][0]), float64(place[a][1]-place[b][1])) / math.Sqrt2
		return least + time.Duration(far*float64(most-least)).Round(time.Microsecond)
	}, nil
}

// between is the latency between two regions.
func (l Latency) between(a, b int) time.Duration {
	if a == b {
		return time.Duration(l.Region[a].Within)
	}
	if d, said := l.Region[a].To[l.Region[b].Name]; said {
		return time.Duration(d)
	}
	return time.Duration(l.Region[b].To[l.Region[a].Name])
}

const maxPlaces = 10_000 // of a matrix

// matrix reads measured latencies in milliseconds.
func (p *Plan) matrix(path string) ([][]time.Duration, error) {
	const key = "latency.matrix"
	f, err := p.open(path)
	if err != nil {
		return nil, p.source.fault(key, "%w", err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	var out [][]time.Duration
	rows, err := r.ReadAll()
	if err != nil {
		return nil, p.source.fault(key, "%s: %w", path, err)
	}
	if len(rows) == 0 || len(rows) > maxPlaces {
		return nil, p.source.fault(key, "%s: %d places, want 1 to %d", path, len(rows), maxPlaces)
	}
	for i, row := range rows {
		if len(row) != len(rows) {
			return nil, p.source.fault(key, "%s: row %d has %d columns, there are %d rows", path, i+1, len(row), len(rows))
		}
		line := make([]time.Duration, len(row))
		for k, cell := range row {
			ms, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
			if err != nil || !(ms >= 0 && ms <= 10_000) {
				return nil, p.source.fault(key, "%s: row %d, column %d: %q is no latency from 0 to 10000 ms", path, i+1, k+1, cell)
			}
			line[k] = max(time.Duration(p.Scenario.Latency.Least), time.Duration(ms*1000)*time.Microsecond)
		}
		out = append(out, line)
	}
	return out, nil
}
