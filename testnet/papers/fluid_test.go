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
	type state struct {
		load   float64
		steady bool
	}
	limits, checked := map[state][]float64{}, 0
	for _, v := range file.Vectors {
		load, ok := v.Inputs["load"].(float64)
		tail, at := v.Inputs["tail"].(float64)
		if !ok || !at || strings.HasPrefix(v.Name, "T1_sim") {
			continue
		}
		name, _ := v.Inputs["state"].(string)
		s := state{load, !strings.HasPrefix(name, "insertion")}
		if limits[s] == nil {
			limits[s] = FluidLimit(4, 9, s.load, s.steady)
		}
		got := limits[s][int(tail)]
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
