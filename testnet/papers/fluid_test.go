package papers

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
)

func TestFluidLimit(t *testing.T) {
	data, err := os.ReadFile("../../summary/counting/testdata/dlcbf.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name       string
			Inputs     map[string]any
			Expected   float64
			Tolerance  struct{ Abs, Rel float64 }
			Reproduces *bool
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	limits, checked := map[float64][]float64{}, 0 // by load
	for _, v := range file.Vectors {
		load, ok := v.Inputs["load"].(float64)
		tail, at := v.Inputs["tail"].(float64)
		state, _ := v.Inputs["state"].(string)
		if !ok || !at || strings.HasPrefix(v.Name, "T1_sim") || strings.HasPrefix(state, "insertion") {
			continue
		}
		if limits[load] == nil {
			limits[load] = FluidLimit(4, 9, load)
		}
		got := limits[load][int(tail)]
		agrees := math.Abs(got-v.Expected) <= max(v.Tolerance.Abs, v.Tolerance.Rel*math.Abs(v.Expected))
		if want := v.Reproduces == nil || *v.Reproduces; agrees != want {
			t.Errorf("%s: %v, expected %v, reproduces: %v", v.Name, got, v.Expected, want)
		}
		checked++
	}
	if checked < 10 {
		t.Errorf("only %d vectors checked", checked)
	}
}
