package report

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

func (d DotChart) file() string { return d.Name }

// SVG returns the chart as SVG.
func (d DotChart) SVG() []byte {
	x, y := newAxis(d.Log, plotWidth), newAxis(false, rowHeight*float64(len(d.Dots)))
	for _, dot := range d.Dots {
		x.hold(dot.Value)
		x.hold(dot.Value - dot.Half)
		x.hold(dot.Value + dot.Half)
		y.places = append([]string{dot.Name}, y.places...)
	}
	x.widen()
	if d.Share {
		x.endAtOne()
	}
	y.low, y.high = -0.5, float64(len(d.Dots))-0.5
	var s sheet
	s.axes(x, y, d.Title)
	for i, dot := range d.Dots {
		at, row, of := x.place(dot.Value), rowHeight*(float64(i)+0.5), colour(dot.Colour)
		if dot.Half > 0 && (!d.Log || dot.Half < dot.Value) {
			s.interval(x.place(dot.Value-dot.Half), row, x.place(dot.Value+dot.Half), row, of)
		}
		s.mark(0, at, row, of)
		s.text(at+8, row-5, "", dot.Label)
	}
	left := width(d.Dots, func(dot Dot) string { return dot.Name }) + 6 + margin
	right := width(d.Dots, func(dot Dot) string { return dot.Label }) + 8 + margin
	return s.done(-left, -margin, left+plotWidth+right, margin+y.length+2*textSize+14+margin)
}
