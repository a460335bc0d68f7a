package summary

// Interval is an estimate with its bounds.
type Interval struct {
	Value, Low, High float64
	Confidence       float64
	Saturated        bool // nothing can be told: Value is +Inf
}
