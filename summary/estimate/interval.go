package estimate

import (
	"errors"
	"fmt"
	"math"
)

// errRange is wrapped by every error of this package. The message names the parameter that is out of its range.
var errRange = errors.New("out of range")

// Interval is an estimate: its value, and the bounds between which the truth lies with the stated confidence.
type Interval struct {
	Value      float64 `json:"value"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"` // between 0 and 1
	Saturated  bool    `json:"-"`          // an array was full: Value and High are +Inf, Low is a bound that holds with Confidence
}

// around returns the normal interval centred on value.
func around(value, variance, confidence float64) Interval {
	d := float64(quantile(confidence) * math.Sqrt(max(variance, 0)))
	return Interval{Value: value, Low: value - d, High: value + d, Confidence: confidence}
}

// quantile returns the number of standard deviations within which a normal variable lies with the given confidence.
func quantile(confidence float64) float64 { return math.Sqrt2 * math.Erfinv(confidence) }

// saturated returns an interval with a lower bound only.
func saturated(low, confidence float64) Interval {
	return Interval{Value: math.Inf(1), Low: low, High: math.Inf(1), Confidence: confidence, Saturated: true}
}

// clip limits the bounds to [0, top] and the value to [0, topValue].
func (i Interval) clip(topValue, top float64) Interval {
	i.Value = min(max(i.Value, 0), topValue)
	i.High = max(min(i.High, top), i.Value)
	i.Low = min(max(i.Low, 0), i.Value)
	return i
}

func checkConfidence(confidence float64) error {
	if !(confidence > 0 && confidence < 1) {
		return fmt.Errorf("estimate: confidence %v: %w (0, 1)", confidence, errRange)
	}
	return nil
}

// bisect returns the smallest value between low and high for which enough is true. enough(high) must be true. If
// enough is true for a value, it must be true for all higher values.
func bisect(low, high float64, enough func(float64) bool) float64 {
	for range 200 {
		middle := low + float64((high-low)/2)
		if middle <= low || middle >= high {
			break
		}
		if enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
