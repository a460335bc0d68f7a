package report

import (
	"encoding/json"
	"math"
)

// vega returns the figure as a Vega-Lite specification with its points, so that readers can change its style.
func (f Figure) vega() ([]byte, error) {
	type value struct {
		Line string  `json:"line"`
		X    any     `json:"x"`
		Y    float64 `json:"y"`
		Low  float64 `json:"low"`
		High float64 `json:"high"`
	}
	var values []value
	for _, l := range f.Lines {
		for _, p := range l.Points {
			var x any = p.X
			if i := int(p.X); f.places != nil && i < len(f.places) {
				x = f.places[i]
			}
			if !math.IsNaN(p.Y) && !math.IsInf(p.Y, 0) {
				values = append(values, value{l.Name, x, p.Y, p.Y - p.Half, p.Y + p.Half})
			}
		}
	}
	kind := map[bool]string{true: "ordinal", false: "quantitative"}[f.places != nil]
	x := map[string]any{"field": "x", "type": kind, "title": f.X}
	if f.places != nil {
		x["sort"] = f.places
	} else {
		x["scale"] = scaleOf(f.LogX)
	}
	y := map[string]any{"field": "y", "type": "quantitative", "title": f.Y, "scale": scaleOf(f.LogY)}
	colour := map[string]any{"field": "line", "type": "nominal", "title": nil}
	layers := []any{map[string]any{
		"mark": map[string]any{"type": "line", "point": f.Marks}, "encoding": map[string]any{"x": x, "y": y, "color": colour},
	}}
	if f.intervals() {
		layers = append(layers, map[string]any{
			"mark": "rule", "encoding": map[string]any{"x": x, "y": map[string]any{"field": "low", "type": "quantitative"}, "y2": map[string]any{"field": "high"}, "color": colour},
		})
	}
	return json.MarshalIndent(map[string]any{
		"$schema": "https://vega.github.io/schema/vega-lite/v5.json", "title": f.Title, "width": 500, "height": 320,
		"data": map[string]any{"values": values}, "layer": layers,
	}, "", " ")
}

func scaleOf(log bool) map[string]any {
	return map[string]any{"type": map[bool]string{true: "log", false: "linear"}[log]}
}
