package experiment

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
)

// figure is a figure of a paper, or of an experiment of ours, with its axes.
type figure struct {
	name, title, x, y string
	logX, logY        bool
	marks             bool     // on every point of a line: there are few
	share             bool     // what is drawn is a share, 1 at most
	from, to          float64  // of the vertical axis; both 0: as the points want it
	places            []string // of a horizontal axis that is none of numbers: what stands at 0, 1, …
	lines             []line
}

type line struct {
	Name   string
	Dots   bool // measured points, not a curve
	Points []point
}

type point struct {
	X, Y float64
	Half float64 `json:",omitempty"` // of an interval around Y; 0: none is known
}

// curve returns the session's line of that name, for tasks to add points to.
func (s *session) curve(name string) *line {
	if s.curves[name] == nil {
		s.curves[name] = &line{Name: name}
	}
	return s.curves[name]
}

func (l *line) add(x, y float64) { l.Points = append(l.Points, point{X: x, Y: y}) }

// curveOf computes a curve at steps+1 places.
func curveOf(name string, from, to float64, steps int, f func(float64) float64) line {
	l := line{Name: name}
	for i := range steps + 1 {
		x := from + (to-from)*float64(i)/float64(steps)
		l.add(x, f(x))
	}
	return l
}

func (f figure) records() [][]string {
	records := [][]string{{"line", f.x, f.y, "half_95"}}
	if !f.intervals() {
		records[0] = records[0][:3]
	}
	for _, l := range f.lines {
		for _, at := range l.Points {
			records = append(records, []string{l.Name, number(at.X), number(at.Y), number(at.Half)}[:len(records[0])])
		}
	}
	return records
}

// intervals says whether any point has an interval.
func (f figure) intervals() bool {
	return slices.ContainsFunc(f.lines, func(l line) bool { return slices.ContainsFunc(l.Points, func(p point) bool { return p.Half > 0 }) })
}

func rowRecords(rows []Row) [][]string {
	records := [][]string{{"paper", "table", "row", "quantity", "printed", "measured", "tolerance", "verdict", "reason"}}
	for _, r := range rows {
		records = append(records, []string{
			r.Paper, r.Table, r.Row, r.Quantity, number(r.Printed), number(r.Measured), number(r.Tolerance), string(r.Verdict), r.Reason,
		})
	}
	return records
}

// number has seven digits: more than any table.
func number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 7, 64)
}

func writeCSV(w io.Writer, records [][]string) error {
	return csv.NewWriter(w).WriteAll(records)
}
