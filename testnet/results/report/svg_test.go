package report

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// A drawing is well-formed whatever its texts are, has a mark for each point and an interval where one is known, and
// none for what a logarithmic axis cannot hold.
func TestSVG(t *testing.T) {
	points := []Point{{X: 10, Y: 0.5, Half: 0.1}, {X: 100, Y: 1}, {X: 1000, Y: 0}, {X: 0, Y: 1}}
	f := Figure{Name: "f", Title: "a < b & \"c\"", X: "peers", Y: "recall", LogX: true, Share: true, Marks: true, Lines: []Line{{Name: "<venn>", Points: points}}}
	log := f
	log.LogY = true
	empty := Figure{Name: "f", LogX: true, LogY: true, Lines: []Line{{Name: "none", Points: points[2:]}}}
	chart := DotChart{Name: "d", Title: "messages", Log: true, Dots: []Dot{{Name: "<a>", Value: 2, Half: 1}, {Name: "b", Value: 1000, Label: "1,000"}, {Name: "c"}}}
	for _, test := range []struct {
		of               Drawing
		marks, intervals int
		texts            []string
	}{
		{f, 4, 1, []string{"&lt;venn&gt;", "a &lt; b &amp; ", ">1,000<", ">0.6<"}},
		{log, 3, 1, []string{"zeros not drawn"}},
		{empty, 0, 0, nil},
		{chart, 3, 1, []string{"&lt;a&gt;", ">1,000<", ">messages<"}},
	} {
		text := string(test.of.SVG())
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("a place that is none:\n%s", text)
		}
		if n := strings.Count(text, "translate("); n != test.marks {
			t.Errorf("%d marks, want %d:\n%s", n, test.marks, text)
		}
		if n := strings.Count(text, `<path stroke="#c62828" d=`); n != test.intervals {
			t.Errorf("%d intervals, want %d:\n%s", n, test.intervals, text)
		}
		for _, want := range test.texts {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
}

// Ticks are round numbers: about six, on logarithmic axes powers of ten.
func TestTicks(t *testing.T) {
	for _, test := range []struct {
		axis axis
		want string
	}{
		{axis{low: 0, high: 1}, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{axis{low: -3, high: 12_000}, "0 2,000 4,000 6,000 8,000 10,000 12,000"},
		{axis{low: 0.9, high: 110, log: true}, "1 2 5 10 20 50 100"},
		{axis{low: 0.001, high: 1000, log: true}, "0.001 0.01 0.1 1 10 100 1,000"},
		{axis{low: 1e-9, high: 1e6, log: true}, "1e-09 1e-06 0.001 1 1,000 1,000,000"},
		{axis{places: []string{"none", "10m"}}, "none 10m"},
	} {
		var got []string
		for _, x := range test.axis.ticks() {
			got = append(got, x.label)
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%+v: %s, want %s", test.axis, text, test.want)
		}
	}
}
