package experiment

import (
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// figure is a figure of a paper, with its axes.
type figure struct {
	name, title, x, y string
	logX, logY        bool
	lines             []line
}

type line struct {
	name   string
	dots   bool // measured points, not a curve
	points []point
}

type point struct{ x, y float64 }

// curve returns the session's line of that name, for tasks to add points to.
func (s *session) curve(name string) *line {
	if s.curves[name] == nil {
		s.curves[name] = &line{name: name}
	}
	return s.curves[name]
}

func (l *line) add(x, y float64) { l.points = append(l.points, point{x, y}) }

// curveOf computes a curve at steps+1 places.
func curveOf(name string, from, to float64, steps int, f func(float64) float64) line {
	l := line{name: name}
	for i := range steps + 1 {
		x := from + (to-from)*float64(i)/float64(steps)
		l.add(x, f(x))
	}
	return l
}

// write writes the session's rows and figures to the folder.
func (s *session) write() (files []string, err error) {
	rows := filepath.Join(s.options.Out, s.Name+".csv")
	if err := writeCSV(rows, rowRecords(s.rows)); err != nil {
		return nil, err
	}
	files = append(files, rows)
	if s.figures == nil || s.ctx.Err() != nil {
		return files, nil
	}
	for _, f := range s.figures(s) {
		base := filepath.Join(s.options.Out, f.name)
		if err := writeCSV(base+".csv", f.records()); err != nil {
			return files, err
		}
		if err := f.writeSVG(base + ".svg"); err != nil {
			return files, err
		}
		files = append(files, base+".csv", base+".svg")
	}
	return files, nil
}

// The size of a figure: the plot, and beside it the legend, so that it never hides a point.
const (
	plotWidth   = 6 * vg.Inch
	plotHeight  = 4.2 * vg.Inch
	legendWidth = 3.4 * vg.Inch
)

func (f figure) writeSVG(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := f.svg(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// svg draws the figure.
func (f figure) svg(w io.Writer) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = f.title, f.x, f.y
	p.Title.Padding = vg.Points(6)
	p.Add(plotter.NewGrid())
	if f.logX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	}
	if f.logY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
	}
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	for i, l := range f.lines {
		if err := addLine(p, &legend, i, l, f.logY); err != nil {
			return err
		}
	}
	canvas := vgsvg.New(plotWidth+legendWidth, plotHeight)
	whole := draw.New(canvas)
	p.Draw(draw.Crop(whole, 0, -legendWidth-vg.Points(8), 0, -vg.Points(4)))
	legend.Draw(draw.Crop(whole, plotWidth, 0, 0, -vg.Points(30)))
	_, err := canvas.WriteTo(w)
	return err
}

// logTicks labels the powers of ten, every third of them when there are many, and 2 and 5 times them when there are few.
func logTicks(low, high float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	many, few := last-first > 9, last-first <= 2
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		for digit := 1.0; digit < 10; digit++ {
			x := digit * math.Pow10(e)
			if x < low*0.999 || x > high*1.001 || many && digit > 1 {
				continue
			}
			t := plot.Tick{Value: x}
			if digit == 1 && (!many || e%3 == 0) || few && (digit == 2 || digit == 5) {
				t.Label = strconv.FormatFloat(x, 'g', 3, 64)
				if x >= 1000 {
					t.Label = strconv.FormatFloat(x, 'f', 0, 64)
				}
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// addLine draws a line or dots. On a logarithmic axis there is no place for 0.
func addLine(p *plot.Plot, legend *plot.Legend, i int, l line, logY bool) error {
	var xys plotter.XYs
	for _, at := range l.points {
		if !logY || at.y > 0 {
			xys = append(xys, plotter.XY{X: at.x, Y: at.y})
		}
	}
	if len(xys) == 0 {
		return nil
	}
	if l.dots {
		scatter, err := plotter.NewScatter(xys)
		if err != nil {
			return err
		}
		scatter.Color, scatter.Shape, scatter.Radius = plotutil.Color(i), plotutil.Shape(i), vg.Points(3)
		p.Add(scatter)
		legend.Add(l.name, scatter)
		return nil
	}
	drawn, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	drawn.Color, drawn.Dashes, drawn.Width = plotutil.Color(i), plotutil.Dashes(i), vg.Points(1.5)
	p.Add(drawn)
	legend.Add(l.name, drawn)
	return nil
}

func (f figure) records() [][]string {
	records := [][]string{{"line", f.x, f.y}}
	for _, l := range f.lines {
		for _, at := range l.points {
			records = append(records, []string{l.name, number(at.x), number(at.y)})
		}
	}
	return records
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

func writeCSV(path string, records [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if err := w.WriteAll(records); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
