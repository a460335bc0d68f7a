package estimate

import (
	"errors"
	"fmt"
	"math"
)

// errRange is in every error of this package; each names the parameter that is out of its range.
var errRange = errors.New("out of range")

// Interval is an estimate: the value, and the bounds within which the truth lies with the stated confidence.
type Interval struct {
	Value, Low, High float64
	Confidence       float64 // between 0 and 1
	Saturated        bool    // an array was full: Value and High are +Inf, Low is a bound that holds with Confidence
}

// around returns the normal interval about value.
func around(value, variance, confidence float64) Interval {
	d := float64(quantile(confidence) * math.Sqrt(max(variance, 0)))
	return Interval{Value: value, Low: value - d, High: value + d, Confidence: confidence}
}

// quantile returns the number of standard deviations within which a normal variable stays with the given confidence.
func quantile(confidence float64) float64 { return math.Sqrt2 * math.Erfinv(confidence) }

// saturated returns an interval of which only a lower bound is known.
func saturated(low, confidence float64) Interval {
	return Interval{Value: math.Inf(1), Low: low, High: math.Inf(1), Confidence: confidence, Saturated: true}
}

// clip moves the interval into [0, top], its value into [0, topValue].
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

// bisect returns the smallest value between low and high for which enough is true. enough(high) must be true, and true
// above every value for which it is.
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
