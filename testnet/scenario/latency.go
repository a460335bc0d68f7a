package scenario

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// latency returns a function for the one-way latency between two of n peers, in whole microseconds.
func (p *Plan) latency(n int) (func(a, b strategy.ID) time.Duration, error) {
	l, rng := p.Scenario.Latency, p.random(placing, 0)
	p.least = time.Duration(l.Least)
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

// between returns the latency between two regions.
func (l Latency) between(a, b int) time.Duration {
	if a == b {
		return time.Duration(l.Region[a].Within)
	}
	if d, said := l.Region[a].To[l.Region[b].Name]; said {
		return time.Duration(d)
	}
	return time.Duration(l.Region[b].To[l.Region[a].Name])
}

const maxPlaces = 10_000 // most places of a matrix

// matrix reads measured latencies in milliseconds. It raises latencies below the least to it, and counts them.
func (p *Plan) matrix(path string) ([][]time.Duration, error) {
	const key = "latency.matrix"
	var out [][]time.Duration
	least := time.Duration(math.MaxInt64) // least latency between two places
	err := p.table(key, path, 0, func(row []string) error {
		if len(out) == maxPlaces {
			return fmt.Errorf("more than %d places", maxPlaces)
		}
		line := make([]time.Duration, len(row))
		for k, cell := range row {
			ms, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
			if err != nil || !(ms >= 0 && ms <= 10_000) {
				return fmt.Errorf("column %d: %q is no latency from 0 to 10000 ms", k+1, cell)
			}
			line[k] = time.Duration(ms*1000) * time.Microsecond
			if k != len(out) {
				least = min(least, line[k])
			}
		}
		out = append(out, line)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 || len(out[0]) != len(out) {
		return nil, p.source.fault(key, "%s: %d rows, want one for each column", path, len(out))
	}
	if p.least == 0 {
		p.least = max(time.Millisecond, min(least, 10*time.Second))
	}
	for i, line := range out {
		for k, d := range line {
			if d < p.least && i != k {
				p.raised++
			}
			line[k] = max(p.least, d)
		}
	}
	return out, nil
}
