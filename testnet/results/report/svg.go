package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strconv"
	"unicode/utf8"
)

// The sizes of drawings, in pixels.
const (
	plotWidth   = 520.0 // the area between the axes
	plotHeight  = 340.0
	legendWidth = 320.0 // beside the area, so that the legend hides no point
	rowHeight   = 26.0  // of each dot of a chart
	textSize    = 12.0
	letter      = 7.0  // mean width of a letter
	margin      = 10.0 // around everything
)

// Drawing can be drawn as an SVG file.
type Drawing interface {
	file() string // name of the file, without a suffix
	// SVG returns the drawing as SVG.
	SVG() []byte
}

// sheet is an SVG drawing under way.
type sheet struct{ bytes.Buffer }

// path draws a path with its attributes, such as its stroke.
func (s *sheet) path(attributes, d string, args ...any) {
	fmt.Fprintf(s, "<path %s d=\"%s\"/>\n", attributes, fmt.Sprintf(d, args...))
}

// text writes a text with its attributes, such as its anchor.
func (s *sheet) text(x, y float64, attributes, text string) {
	fmt.Fprintf(s, "<text x=\"%.1f\" y=\"%.1f\" fill=\"#111\" %s>%s</text>\n", x, y, attributes, html.EscapeString(text))
}

// done returns the drawing as a file of a width and a height. Its top left corner is at left and top.
func (s *sheet) done(left, top, width, height float64) []byte {
	head := fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"%.1f %.1f %.1f %.1f\" font-family=\"Arial,Helvetica,sans-serif\" font-size=\"%g\">\n"+
		"<rect x=\"%[3]f\" y=\"%[4]f\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", width, height, left, top, width, height, textSize)
	return append(append([]byte(head), s.Bytes()...), "</svg>\n"...)
}

// axes draws a horizontal axis with its name, and the grid of both axes. The area has its top left corner at 0, 0.
func (s *sheet) axes(x, y axis, name string) {
	for _, t := range x.ticks() {
		at := x.place(t.value)
		s.path(`stroke="#ccc"`, "M%.1f,%.1fV%.1f", at, y.length, 0.0)
		s.text(at, y.length+textSize+4, `text-anchor="middle"`, t.label)
	}
	for _, t := range y.ticks() {
		at := y.length - y.place(t.value)
		s.path(`stroke="#ccc"`, "M%.1f,%.1fH%.1f", 0.0, at, x.length)
		s.text(-6, at+4, `text-anchor="end"`, t.label)
	}
	s.path(`stroke="#111" fill="none"`, "M0,0V%.1fH%.1f", y.length, x.length)
	s.text(x.length/2, y.length+2*textSize+10, `text-anchor="middle"`, name)
}

// interval draws a line with a short bar at both ends.
func (s *sheet) interval(x1, y1, x2, y2 float64, colour string) {
	across, along := 0.0, 4.0
	if x1 == x2 {
		across, along = along, across
	}
	s.path(fmt.Sprintf("stroke=%q", colour), "M%.1f,%.1fL%.1f,%.1fM%.1f,%.1fL%.1f,%.1fM%.1f,%.1fL%.1f,%.1f",
		x1, y1, x2, y2, x1-across, y1-along, x1+across, y1+along, x2-across, y2-along, x2+across, y2+along)
}

// mark draws mark number i. The marks after the first five are hollow.
func (s *sheet) mark(i int, x, y float64, colour string) {
	const circle, box, triangle = "M-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0z", "M-3,-3h6v6h-6z", "M0,-4l4,7h-8z"
	shapes := []string{circle, box, triangle, "M-3,-3l6,6M3,-3l-6,6", "M0,-4v8M-4,0h8", circle, box, triangle}
	fill := colour
	if i%len(shapes) >= 5 {
		fill = "none"
	}
	s.path(fmt.Sprintf("transform=\"translate(%.1f,%.1f)\" stroke=%q fill=%q", x, y, colour, fill), "%s", shapes[i%len(shapes)])
}

// colour returns the colour of line i, dark enough on white. After eleven lines the colours repeat.
func colour(i int) string {
	of := []string{"#c62828", "#1565c0", "#2e7d32", "#6a1b9a", "#d86600", "#00838f", "#8d4a2f", "#ad1457", "#424242", "#827717", "#000"}
	return of[i%len(of)]
}

// axis places values along a length in pixels.
type axis struct {
	low, high float64
	log       bool
	length    float64
	places    []string // labels at 0, 1, …; nil: the axis has numbers
}

func newAxis(log bool, length float64) axis {
	return axis{low: math.Inf(1), high: math.Inf(-1), log: log, length: length}
}

// hold makes the axis hold a value; on a logarithmic axis not one of 0 or less.
func (a *axis) hold(x float64) {
	if !a.log || x > 0 {
		a.low, a.high = min(a.low, x), max(a.high, x)
	}
}

// place returns the place of a value. What is beyond an end of the axis is at that end.
func (a *axis) place(x float64) float64 {
	low, high := a.low, a.high
	if x = min(max(x, low), high); a.log {
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	return (x - low) / (high - low) * a.length
}

// widen leaves some room at both ends of the values.
func (a *axis) widen() {
	const room = 0.03 // share of the axis
	if a.low > a.high {
		a.low, a.high = 0.1, 1 // there are no values
	}
	if a.log {
		wide, middle := max(a.high/a.low, 4), math.Sqrt(a.low*a.high)
		a.low = min(a.low, middle/math.Sqrt(wide)) / math.Pow(wide, room)
		a.high = max(a.high, middle*math.Sqrt(wide)) * math.Pow(wide, room)
		return
	}
	wide := a.high - a.low
	if wide == 0 {
		wide = max(math.Abs(a.high)/10, 0.01)
	}
	if a.low < 0 || a.low > wide/4 {
		a.low -= room * wide
	} else {
		a.low = 0
	}
	a.high += room * wide
}

// endAtOne ends an axis of shares at 1.
func (a *axis) endAtOne() { a.low, a.high = min(a.low, 0.99), 1 }

// tick is a value of an axis with its label.
type tick struct {
	value float64
	label string
}

// ticks returns about six round numbers, or the places of an axis without numbers.
func (a *axis) ticks() (out []tick) {
	for i, label := range a.places {
		out = append(out, tick{float64(i), label})
	}
	if a.places != nil {
		return out
	}
	if a.log {
		return logTicks(a.low, a.high)
	}
	const wanted = 6
	unit := math.Pow10(int(math.Floor(math.Log10((a.high - a.low) / wanted))))
	step := 10 * unit
	for _, s := range []float64{5, 2, 1} {
		if (a.high-a.low)/(s*unit) <= wanted*1.3 {
			step = s * unit
		}
	}
	for i := math.Ceil(a.low/step - 1e-9); i*step <= a.high+step*1e-9; i++ {
		out = append(out, tick{i * step, tickLabel(i*step+0, step)}) // adding 0 turns -0 into 0
	}
	return out
}

// logTicks returns the powers of ten: every third of them if there are many, and 2 and 5 times them, too, if there are
// few.
func logTicks(low, high float64) (out []tick) {
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	digits, every := []float64{1}, 1
	switch {
	case last-first > 9:
		every = 3
	case high/low < 300:
		digits = []float64{1, 2, 5}
	}
	for e := first; e <= last; e++ {
		for _, digit := range digits {
			if x := digit * math.Pow10(e); e%every == 0 && x >= low*0.999 && x <= high*1.001 {
				out = append(out, tick{x, tickLabel(x, x)})
			}
		}
	}
	return out
}

// tickLabel formats a number with as many decimals as the step between labels needs, and commas between thousands.
func tickLabel(x, step float64) string {
	if x > 0 && x < 1e-4 {
		return strconv.FormatFloat(x, 'g', 1, 64)
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if x >= 1000 && decimals == 0 {
		for i := len(s) - 3; i > 0; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
	}
	return s
}

// width returns the width of the longest label.
func width[T any](of []T, label func(T) string) (most float64) {
	for _, x := range of {
		most = max(most, letter*float64(utf8.RuneCountInString(label(x))))
	}
	return most
}
