package report

import (
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// DotChart shows numbers as dots, one below the other, each with its name and a text beside it. On a logarithmic
// axis a 0 is at the left edge.
type DotChart struct {
	Name, Title string
	Log         bool
	Share       bool // the numbers are shares: the axis ends at 1
	Dots        []Dot
}

// Dot is a number of a chart, with its name at the left and a label beside the dot.
type Dot struct {
	Name, Label string
	Value       float64
	Half        float64 // half width of an interval around the value; 0: not known
	Colour      int
}

const (
	dotWidth  = 4.7 * vg.Inch
	dotHeight = 0.27 * vg.Inch // height of each dot's row
)

func (d DotChart) file() string { return d.Name }

// SVG writes the chart as SVG.
func (d DotChart) SVG(w io.Writer) error {
	p := newPlot("")
	p.X.Label.Text = d.Title
	n := len(d.Dots)
	names := make([]string, n)
	at := make(plotter.XYs, n)
	low, high := d.span()
	for i, x := range d.Dots {
		y := n - 1 - i
		names[y] = x.Name
		at[i] = plotter.XY{X: max(x.Value, low), Y: float64(y)}
	}
	marks, err := plotter.NewScatter(at)
	if err != nil {
		return err
	}
	marks.Shape, marks.Radius = draw.CircleGlyph{}, vg.Points(3.5)
	marks.GlyphStyleFunc = func(i int) draw.GlyphStyle {
		return draw.GlyphStyle{Color: colour(d.Dots[i].Colour), Shape: marks.Shape, Radius: marks.Radius}
	}
	labels, err := d.labels(at)
	if err != nil {
		return err
	}
	grid := lightGrid()
	p.Add(grid)
	if err := d.addIntervals(p, at); err != nil {
		return err
	}
	p.Add(marks, labels)
	p.NominalY(names...)
	p.X.Min, p.X.Max = low, high
	p.Y.Min, p.Y.Max = -0.6, float64(n)-0.4
	scaleAxis(&p.X, d.Log)
	if d.Share {
		endAtOne(&p.X)
	}
	return writePlot(w, p, dotWidth, dotHeight*vg.Length(n)+0.7*vg.Inch, 0, nil)
}

// addIntervals draws the intervals of dots, in their colours. On a logarithmic axis it leaves out intervals that
// reach 0.
func (d DotChart) addIntervals(p *plot.Plot, at plotter.XYs) error {
	for i, x := range d.Dots {
		if x.Half <= 0 || d.Log && x.Half >= x.Value {
			continue
		}
		bars, err := plotter.NewXErrorBars(struct {
			plotter.XYs
			plotter.XErrors
		}{at[i : i+1], plotter.XErrors{{Low: x.Half, High: x.Half}}})
		if err != nil {
			return err
		}
		bars.Color = colour(x.Colour)
		p.Add(bars)
	}
	return nil
}

// labels returns the dots' labels, beside the dots.
func (d DotChart) labels(at plotter.XYs) (*plotter.Labels, error) {
	labels := make([]string, len(at))
	for i, x := range d.Dots {
		labels[i] = x.Label
	}
	l, err := plotter.NewLabels(plotter.XYLabels{XYs: at, Labels: labels})
	if err != nil {
		return nil, err
	}
	for i := range l.TextStyle {
		dress(&l.TextStyle[i])
		l.TextStyle[i].YAlign = text.YCenter
	}
	// the text is centred by its capitals, not by the height of the line
	l.Offset = vg.Point{X: vg.Points(7), Y: vg.Points(1.5)}
	return l, nil
}

// span returns the range of the numbers and their intervals. If a logarithmic axis has zeros, the range begins at a
// quarter of the least value above 0.
func (d DotChart) span() (low, high float64) {
	zero := false
	low, high = math.Inf(1), math.Inf(-1)
	for _, x := range d.Dots {
		if d.Log && x.Value <= 0 {
			zero = true
			continue
		}
		left := x.Value - x.Half
		if d.Log && left <= 0 {
			left = x.Value
		}
		low, high = min(low, left), max(high, x.Value+x.Half)
	}
	switch {
	case math.IsInf(low, 1):
		return 0.1, 1
	case zero:
		low /= 4
	}
	return low, high
}
