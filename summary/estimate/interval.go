package estimate

import (
	"errors"
	"fmt"
	"math"
)

// ErrRange is wrapped by every error about a parameter out of its range.
var ErrRange = errors.New("out of range")

// Interval is an estimate: the value, and the bounds within which the truth lies with the stated confidence.
type Interval struct {
	Value, Low, High float64
	Confidence       float64 // between 0 and 1
	Saturated        bool    // an array was full: Value and High are +Inf, Low is a bound that holds with Confidence
}

// Kind names how the bounds of an interval are found.
type Kind uint8

const (
	Normal  Kind = iota // the estimate's standard deviation by the delta method
	Theorem             // the paper's Theorems 1 to 3, half of the error probability on either side
	Printed             // the rules that the paper's Tables 3 to 6 follow
)

// String returns "normal", "theorem" or "printed".
func (k Kind) String() string {
	switch k {
	case Normal:
		return "normal"
	case Theorem:
		return "theorem"
	case Printed:
		return "printed"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// around is the normal interval about value.
func around(value, variance, confidence float64) Interval {
	d := float64(quantile(confidence) * math.Sqrt(max(variance, 0)))
	return Interval{Value: value, Low: value - d, High: value + d, Confidence: confidence}
}

// quantile is the number of standard deviations within which a normal variable stays with the given confidence.
func quantile(confidence float64) float64 { return math.Sqrt2 * math.Erfinv(confidence) }

// saturated is an interval with only a lower bound known.
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
		return fmt.Errorf("estimate: confidence %v: %w (0, 1)", confidence, ErrRange)
	}
	return nil
}
