package summary

import (
	"runtime"
	"sync"
	"weak"
)

// plans has the plans in use, by their parameters: headers with the same number of keys and the same shape share a
// plan. An unused plan is garbage-collected, then its entry is deleted. Sharing changes no result: plans are immutable.
var plans sync.Map // planKey → weak.Pointer[Plan]

type planKey struct {
	n, keys, sampleBytes int
	sampleLevel          uint8
	levels               string
}

// plan returns the plan of the stream that h heads.
func (h *Header) plan() (*Plan, error) {
	s := h.Shape.normal(h.N)
	key := planKey{h.N, s.Keys, s.SampleBytes, s.SampleLevel, string(s.Levels)}
	if w, known := plans.Load(key); known {
		if p := w.(weak.Pointer[Plan]).Value(); p != nil {
			return p, nil
		}
	}
	p, err := NewPlan(h.N, s)
	if err != nil {
		return nil, err
	}
	w := weak.Make(p)
	plans.Store(key, w)
	runtime.AddCleanup(p, func(key planKey) { plans.CompareAndDelete(key, w) }, key)
	return p, nil
}
