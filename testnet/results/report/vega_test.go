package report

import (
	"encoding/json"
	"testing"
)

// A specification holds every point, its axes as the figure has them, and intervals where there are any.
func TestVega(t *testing.T) {
	f := Figure{Name: "f", X: "peers", Y: "bytes", LogY: true, Lines: []Line{{Name: "a", Points: []Point{{X: 1, Y: 2}, {X: 2, Y: 4, Half: 1}}}}}
	type spec struct {
		Data  struct{ Values []map[string]any }
		Layer []struct {
			Encoding map[string]struct {
				Title string
				Scale map[string]string
			}
		}
	}
	read := func(f Figure) (s spec) {
		b, err := f.vega()
		if err == nil {
			err = json.Unmarshal(b, &s)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := read(f)
	if len(s.Data.Values) != 2 || s.Data.Values[1]["high"] != 5.0 || len(s.Layer) != 2 {
		t.Errorf("%+v", s)
	}
	if e := s.Layer[0].Encoding; e["x"].Title != "peers" || e["x"].Scale["type"] != "linear" || e["y"].Scale["type"] != "log" {
		t.Errorf("%+v", e)
	}
	f.Lines[0].Points, f.places = f.Lines[0].Points[:1], []string{"none", "10m"}
	if s := read(f); s.Data.Values[0]["x"] != "10m" || len(s.Layer) != 1 {
		t.Errorf("%+v", s)
	}
}
