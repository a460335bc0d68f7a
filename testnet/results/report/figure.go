package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
)

// Figure is a figure of a paper, or of an experiment of ours, with its axes.
type Figure struct {
	Name, Title, X, Y string
	LogX, LogY        bool
	Marks             bool     // on every point of a line: there are few
	Share             bool     // Y is a share, 1 at most
	From, To          float64  // of the vertical axis; both 0: fitted to the points
	places            []string // the labels at 0, 1, … of a horizontal axis without numbers
	Lines             []Line
}

// Line is a curve of a figure, or a set of points.
type Line struct {
	Name   string
	Dots   bool // measured points, not a curve
	Points []Point
}

// Point is a place on a line.
type Point struct {
	X, Y float64
	Half float64 `json:",omitempty"` // of an interval around Y; 0: none is known
}

// Add adds a point without an interval.
func (l *Line) Add(x, y float64) { l.Points = append(l.Points, Point{X: x, Y: y}) }

// CurveOf computes a curve at steps+1 places.
func CurveOf(name string, from, to float64, steps int, f func(float64) float64) Line {
	l := Line{Name: name}
	for i := range steps + 1 {
		x := from + (to-from)*float64(i)/float64(steps)
		l.Add(x, f(x))
	}
	return l
}

// Records returns the points as a table.
func (f Figure) Records() [][]string {
	records := [][]string{{"line", f.X, f.Y, "half_95"}}
	if !f.intervals() {
		records[0] = records[0][:3]
	}
	for _, l := range f.Lines {
		for _, at := range l.Points {
			records = append(records, []string{l.Name, Number(at.X), Number(at.Y), Number(at.Half)}[:len(records[0])])
		}
	}
	return records
}

// intervals reports whether any point has an interval.
func (f Figure) intervals() bool {
	return slices.ContainsFunc(f.Lines, func(l Line) bool { return slices.ContainsFunc(l.Points, func(p Point) bool { return p.Half > 0 }) })
}

// Number has seven digits: more than any table.
func Number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 7, 64)
}

// Short has at most six digits, and whole numbers whole.
func Short(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e9 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

func writeCSV(w io.Writer, records [][]string) error {
	return csv.NewWriter(w).WriteAll(records)
}

// LayOut makes the figure's horizontal axis one of some values, and returns where a value stands on it. Where 0 may be
// the most of all, as a time between things that never happen, values have places of their own. 0 comes first, then the
// others from the largest to the smallest.
func (f *Figure) LayOut(axis string, zeroIsMost bool, label func(float64) string, values []float64) func(float64) float64 {
	values = slices.Clone(values)
	slices.Sort(values)
	values = slices.Compact(values)
	f.X = axis
	if !zeroIsMost {
		f.LogX = values[0] > 0 && values[len(values)-1] >= 10*values[0]
		return func(x float64) float64 { return x }
	}
	slices.Reverse(values)
	if last := len(values) - 1; values[last] == 0 {
		values = slices.Insert(values[:last], 0, 0)
	}
	for _, x := range values {
		f.places = append(f.places, label(x))
	}
	return func(x float64) float64 { return float64(slices.Index(values, x)) }
}

// Drawable reports whether there is anything to draw: on a logarithmic axis there is no place for 0.
func (f Figure) Drawable() bool {
	return slices.ContainsFunc(f.Lines, func(l Line) bool {
		return slices.ContainsFunc(l.Points, func(p Point) bool { return !f.LogY || p.Y > 0 })
	})
}

// Sort puts the line's points in the order in which they are joined.
func (l Line) Sort() {
	slices.SortFunc(l.Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
}
