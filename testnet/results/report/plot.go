package report

import (
	"bytes"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a figure: the plot, and a legend beside it, so that the legend hides no point.
const (
	plotWidth   = 6 * vg.Inch
	plotHeight  = 4 * vg.Inch
	legendWidth = 3.3 * vg.Inch
	plotMargin  = 6 // margin in points
)

// Drawing can be drawn as an SVG file.
type Drawing interface {
	file() string // name of the file, without a suffix
	// SVG writes the drawing as SVG.
	SVG(w io.Writer) error
}

func (f Figure) file() string { return f.Name }

// SVG writes the figure as SVG.
func (f Figure) SVG(w io.Writer) error {
	p := newPlot(f.Title)
	p.X.Label.Text, p.Y.Label.Text = f.X, f.Y
	if f.LogY && f.zeros() {
		p.Y.Label.Text += " (zeros not drawn)"
	}
	p.Add(lightGrid())
	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.Padding, legend.ThumbnailWidth = true, true, vg.Points(4), vg.Points(28)
	dress(&legend.TextStyle)
	for i, l := range f.Lines {
		if err := f.addLine(p, &legend, i, l); err != nil {
			return err
		}
	}
	scaleAxis(&p.X, f.LogX)
	scaleAxis(&p.Y, f.LogY)
	if f.Share {
		endAtOne(&p.Y)
	}
	if f.places != nil {
		p.NominalX(f.places...)
		p.X.Min, p.X.Max = -0.1, float64(len(f.places))-0.9
	}
	if f.From != f.To {
		p.Y.Min, p.Y.Max = f.From, f.To
	}
	return writePlot(w, p, plotWidth, plotHeight, legendWidth, func(beside draw.Canvas) { legend.Draw(beside) })
}

func (f Figure) zeros() bool {
	return slices.ContainsFunc(f.Lines, func(l Line) bool {
		return slices.ContainsFunc(l.Points, func(at Point) bool { return at.Y <= 0 })
	})
}

// addLine draws a line or dots, and adds it to the legend. It leaves out values of 0 or less on a logarithmic axis.
func (f Figure) addLine(p *plot.Plot, legend *plot.Legend, i int, l Line) error {
	var xys plotter.XYs
	var bars struct {
		plotter.XYs
		plotter.YErrors
	}
	for _, at := range l.Points {
		if (!f.LogX || at.X > 0) && (!f.LogY || at.Y > 0) {
			xys = append(xys, plotter.XY{X: at.X, Y: at.Y})
			if at.Half > 0 && (!f.LogY || at.Half < at.Y) {
				bars.XYs, bars.YErrors = append(bars.XYs, plotter.XY{X: at.X, Y: at.Y}), append(bars.YErrors, struct{ Low, High float64 }{at.Half, at.Half})
			}
		}
	}
	if len(xys) == 0 {
		return nil
	}
	drawn, marks, err := plotter.NewLinePoints(xys)
	if err != nil {
		return err
	}
	drawn.Color, drawn.Dashes, drawn.Width = colour(i), dashes(i), vg.Points(1.5)
	marks.Color, marks.Shape, marks.Radius = colour(i), shape(i), vg.Points(3.5)
	if len(bars.XYs) > 0 {
		whiskers, err := plotter.NewYErrorBars(bars)
		if err != nil {
			return err
		}
		whiskers.Color = colour(i)
		p.Add(whiskers)
	}
	switch {
	case l.Dots:
		p.Add(marks)
		legend.Add(l.Name, marks)
	case f.Marks:
		p.Add(drawn, marks)
		legend.Add(l.Name, drawn, marks)
	default:
		p.Add(drawn)
		legend.Add(l.Name, drawn)
	}
	return nil
}

// newPlot returns an empty plot, dark on white.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.Title.Padding = title, vg.Points(8)
	for _, s := range []*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label,
	} {
		dress(s)
	}
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(6)
	return p
}

func dress(s *text.Style) {
	s.Font.Variant = "Sans"
	s.Color = color.Gray{Y: 0x11}
}

func lightGrid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = color.Gray{Y: 0xcc}, color.Gray{Y: 0xcc}
	return g
}

// writePlot writes a plot as SVG. beside, if not nil, draws on the space to its right.
func writePlot(w io.Writer, p *plot.Plot, width, height, besideWidth vg.Length, beside func(draw.Canvas)) error {
	canvas := vgsvg.New(width+besideWidth, height)
	whole := draw.New(canvas)
	below := vg.Length(plotMargin)
	if p.Title.Text != "" {
		below += p.Title.TextStyle.Height(p.Title.Text) + p.Title.Padding
	}
	whole.SetColor(color.White)
	whole.Fill(whole.Path())
	p.Draw(draw.Crop(whole, plotMargin, -besideWidth-plotMargin, plotMargin, -plotMargin))
	if beside != nil {
		beside(draw.Crop(whole, width, 0, 0, -below))
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	// The library writes only the font's own name. The fonts added here have the same widths.
	_, err := io.WriteString(w, strings.ReplaceAll(b.String(), "font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	return err
}

// colour returns the colour of line i, dark enough on white. After eleven lines the colours repeat.
func colour(i int) color.Color {
	of := []uint32{
		0xc62828, 0x1565c0, 0x2e7d32, 0x6a1b9a, 0xd86600, 0x00838f, 0x8d4a2f, 0xad1457, 0x424242, 0x827717, 0x000000,
	}
	c := of[i%len(of)]
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 0xff}
}

// dashes returns the dashes of line i.
func dashes(i int) []vg.Length {
	of := [][]vg.Length{nil, {6, 3}, {2, 2}, {9, 3, 2, 3}}
	return of[i%len(of)]
}

// shape returns the shape of the marks of line i.
func shape(i int) draw.GlyphDrawer {
	of := []draw.GlyphDrawer{
		draw.CircleGlyph{},
		draw.BoxGlyph{},
		draw.PyramidGlyph{},
		draw.CrossGlyph{},
		draw.PlusGlyph{},
		draw.RingGlyph{},
		draw.SquareGlyph{},
		draw.TriangleGlyph{},
	}
	return of[i%len(of)]
}

// scaleAxis leaves some room at both ends of the values, and puts ticks at round numbers.
func scaleAxis(a *plot.Axis, log bool) {
	const room = 0.03 // share of the axis
	if log {
		a.Scale, a.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
		wide := max(a.Max/a.Min, 4)
		middle := math.Sqrt(a.Min * a.Max)
		a.Min = min(a.Min, middle/math.Sqrt(wide)) / math.Pow(wide, room)
		a.Max = max(a.Max, middle*math.Sqrt(wide)) * math.Pow(wide, room)
		return
	}
	a.Tick.Marker = plot.TickerFunc(ticks)
	wide := a.Max - a.Min
	if wide == 0 {
		wide = max(math.Abs(a.Max)/10, 0.01)
	}
	if a.Min < 0 || a.Min > wide/4 {
		a.Min -= room * wide
	} else {
		a.Min = 0
	}
	a.Max += room * wide
}

// endAtOne ends an axis of shares at 1.
func endAtOne(a *plot.Axis) {
	a.Max = 1
	a.Min = min(a.Min, 0.99)
}

// ticks returns ticks with labels at about six round numbers, and ticks without labels between them.
func ticks(low, high float64) []plot.Tick {
	const wanted = 6
	unit := math.Pow10(int(math.Floor(math.Log10((high - low) / wanted))))
	step, between := 10.0, 5.0
	for _, s := range []float64{1, 2, 5} {
		if (high-low)/(s*unit) <= wanted*1.3 {
			step, between = s, map[float64]float64{1: 5, 2: 4, 5: 5}[s]
			break
		}
	}
	fine := step * unit / between
	var out []plot.Tick
	for i := math.Ceil(low/fine - 1e-9); i*fine <= high+fine*1e-9; i++ {
		t := plot.Tick{Value: i*fine + 0} // adding 0 turns -0 into 0
		if math.Mod(i, between) == 0 {
			t.Label = tickLabel(t.Value, step*unit)
		}
		out = append(out, t)
	}
	return out
}

// tickLabel formats a label with as many decimals as the step between labels needs, and commas between thousands.
func tickLabel(x, step float64) string {
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if x >= 1000 && decimals == 0 {
		for i := len(s) - 3; i > 0; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
	}
	return s
}

// logTicks labels the powers of ten: every third of them if there are many, and 2 and 5 times them, too, if there
// are few.
func logTicks(low, high float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	many, few := last-first > 9, high/low < 300
	var out []plot.Tick
	for e := first; e <= last; e++ {
		for digit := 1.0; digit < 10; digit++ {
			x := digit * math.Pow10(e)
			if x < low*0.999 || x > high*1.001 || many && digit > 1 {
				continue
			}
			t := plot.Tick{Value: x}
			if digit == 1 && (!many || e%3 == 0) || few && slices.Contains([]float64{2, 5}, digit) {
				t.Label = tickLabel(x, x)
				if x < 1e-4 {
					t.Label = strconv.FormatFloat(x, 'g', 1, 64)
				}
			}
			out = append(out, t)
		}
	}
	return out
}
