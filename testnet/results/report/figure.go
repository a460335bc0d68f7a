package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Figure is a figure of a paper or an experiment: lines over two axes.
type Figure struct {
	Name, Title, X, Y string
	LogX, LogY        bool
	Marks             bool     // every point of a line has a mark, because there are few
	Share             bool     // Y is a share: its axis ends at 1
	From, To          float64  // range of the vertical axis; both 0: fitted to the points
	places            []string // labels at 0, 1, … of a horizontal axis without numbers; nil: the axis has numbers
	Lines             []Line
}

// Line is a curve of a figure, or a set of points.
type Line struct {
	Name   string
	Dots   bool // the points are measured, and not joined to a curve
	Points []Point
}

// Point is a place on a line.
type Point struct {
	X, Y float64
	Half float64 `json:",omitempty"` // half width of an interval around Y; 0: not known
}

// Add adds a point without an interval.
func (l *Line) Add(x, y float64) { l.Points = append(l.Points, Point{X: x, Y: y}) }

// CurveOf returns the curve of f at steps+1 places, evenly spread over [from, to].
func CurveOf(name string, from, to float64, steps int, f func(float64) float64) Line {
	l := Line{Name: name}
	for i := range steps + 1 {
		x := from + (to-from)*float64(i)/float64(steps)
		l.Add(x, f(x))
	}
	return l
}

// Records returns the points as records for CSV, the names of the columns first.
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

// Number formats a number with up to seven digits, more than any table has; a whole number with all its digits.
func Number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 7, 64)
}

// Short formats a number with up to six digits; a whole number below 1e9 with all its digits.
func Short(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e9 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// LayOut sets the figure's horizontal axis, and returns a function from a value to its place on it. zeroIsMost means
// that 0 is the largest value, as a time between things that never happen. Then the values have places without a
// scale: first 0, then the others from the largest to the smallest.
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

// Drawable reports whether any point can be drawn: a 0 cannot on a logarithmic axis.
func (f Figure) Drawable() bool {
	return slices.ContainsFunc(f.Lines, func(l Line) bool { return slices.ContainsFunc(l.Points, f.drawn) })
}

// Sort sorts the line's points by X, the order in which they are joined.
func (l Line) Sort() {
	slices.SortFunc(l.Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
}

func (f Figure) file() string { return f.Name }

// SVG returns the figure as SVG, with a legend beside it.
func (f Figure) SVG() []byte {
	x, y := newAxis(f.LogX, plotWidth), newAxis(f.LogY, plotHeight)
	name, zeros := f.Y, false
	for _, l := range f.Lines {
		for _, p := range l.Points {
			zeros = zeros || p.Y <= 0
			if f.drawn(p) {
				x.hold(p.X)
				y.hold(p.Y)
				y.hold(p.Y - p.Half)
				y.hold(p.Y + p.Half)
			}
		}
	}
	if f.LogY && zeros {
		name += " (zeros not drawn)"
	}
	x.widen()
	y.widen()
	if f.Share {
		y.endAtOne()
	}
	if f.places != nil {
		x.places, x.low, x.high = f.places, -0.1, float64(len(f.places))-0.9
	}
	if f.From != f.To {
		y.low, y.high = f.From, f.To
	}
	var s sheet
	s.axes(x, y, f.X)
	row := 0.0
	for i, l := range f.Lines {
		if slices.ContainsFunc(l.Points, f.drawn) {
			f.line(&s, x, y, i, row)
			row += textSize + 8
		}
	}
	left := width(y.ticks(), func(t tick) string { return t.label }) + 12 + textSize + margin
	s.text(-plotHeight/2, textSize-left+margin, `text-anchor="middle" transform="rotate(-90)"`, name)
	s.text(plotWidth/2, -2*margin, fmt.Sprintf(`text-anchor="middle" font-size="%g"`, textSize+2), f.Title)
	const top = textSize + 3*margin
	return s.done(-left, -top, left+plotWidth+legendWidth, top+max(plotHeight+2*textSize+14, row)+margin)
}

// drawn reports whether a point has a place on the axes: a 0 has none on a logarithmic one.
func (f Figure) drawn(p Point) bool { return (!f.LogX || p.X > 0) && (!f.LogY || p.Y > 0) }

// line draws line i, and its row of the legend. It leaves out what is above or below the axis.
func (f Figure) line(s *sheet, x, y axis, i int, row float64) {
	l, of, path := f.Lines[i], colour(i), ""
	stroke := fmt.Sprintf(`fill="none" stroke=%q stroke-width="2" stroke-dasharray=%q`, of, []string{"", "8,4", "3,3", "12,4,3,4"}[i%4])
	for _, p := range l.Points {
		if !f.drawn(p) || p.Y < y.low || p.Y > y.high {
			continue
		}
		at, up := x.place(p.X), plotHeight-y.place(p.Y)
		if p.Half > 0 && (!f.LogY || p.Half < p.Y) {
			s.interval(at, plotHeight-y.place(p.Y-p.Half), at, plotHeight-y.place(p.Y+p.Half), of)
		}
		path += fmt.Sprintf("%c%.1f,%.1f", map[bool]rune{true: 'M', false: 'L'}[path == ""], at, up)
		if f.Marks || l.Dots {
			s.mark(i, at, up, of)
		}
	}
	if !l.Dots {
		s.path(stroke, "%s", path)
		s.path(stroke, "M%.1f,%.1fh36", plotWidth+2*margin, row+4)
	}
	if f.Marks || l.Dots {
		s.mark(i, plotWidth+2*margin+18, row+4, of)
	}
	s.text(plotWidth+2*margin+44, row+8, "", l.Name)
}
