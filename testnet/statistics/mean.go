// Package statistics summarizes several trials: means with 95 % confidence intervals by Student's t distribution,
// shares with Wilson's, differences in pairs or with Welch's, and slopes.
package statistics

import (
	"fmt"
	"math"
	"strconv"
)

// Mean is the mean of the values of several trials, with the half width of its 95 % confidence interval by Student's t
// distribution. Trials that have no value are left out.
type Mean struct {
	Value float64
	Half  float64 // 0 for one trial, whose spread is unknown; but see ShareOf
	Least float64
	Most  float64
	N     int
}

// MeanOf returns the mean of the values of the trials. A value of NaN is left out.
func MeanOf(values []float64) Mean {
	m := Mean{Least: math.Inf(1), Most: math.Inf(-1)}
	sum := 0.0
	for _, x := range values {
		if math.IsNaN(x) {
			continue
		}
		m.N++
		sum += x
		m.Least, m.Most = min(m.Least, x), max(m.Most, x)
	}
	m.Value = sum / float64(m.N) // NaN without values
	if m.N < 2 {
		return m
	}
	squares := 0.0
	for _, x := range values {
		if !math.IsNaN(x) {
			squares += float64((x - m.Value) * (x - m.Value))
		}
	}
	n := float64(m.N)
	m.Half = student(m.N-1) * math.Sqrt(squares/(n-1)/n)
	return m
}

// ShareOf returns the mean of shares, such as a recall, that were measured over a number of cases in all trials
// together. Its interval is no narrower than Wilson's score interval for all cases: trials that all show 1 do not
// prove that the share is 1.
func ShareOf(shares []float64, cases int) Mean {
	m := MeanOf(shares)
	if m.N == 0 || cases < 1 || m.Value < 0 || m.Value > 1 {
		return m
	}
	low, high := Wilson(m.Value, cases)
	m.Half = max(m.Half, m.Value-low, high-m.Value)
	return m
}

// Wilson returns the 95 % score interval of a share of at least one case, within 0 and 1.
func Wilson(share float64, cases int) (low, high float64) {
	const z = 1.959964
	n := float64(cases)
	middle := (share + z*z/(2*n)) / (1 + z*z/n)
	half := float64(z / (1 + z*z/n) * math.Sqrt(share*(1-share)/n+z*z/(4*n*n)))
	return max(0, middle-half), min(1, middle+half)
}

// Paired returns the mean of b minus a, by the differences of each trial. Both must have the same trials in the same
// order.
func Paired(a, b []float64) Mean {
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = b[i] - a[i]
	}
	return MeanOf(differences)
}

// Difference returns the mean of b minus the mean of a, for trials with different seeds. Its interval is Welch's, or
// 0 if a or b has a single trial.
func Difference(a, b Mean) Mean {
	d := Mean{Value: b.Value - a.Value, N: min(a.N, b.N)}
	if a.N < 2 || b.N < 2 {
		return d
	}
	squareA, squareB := math.Pow(a.StandardError(), 2), math.Pow(b.StandardError(), 2)
	if squareA+squareB == 0 {
		return d
	}
	// The degrees of freedom of Welch and Satterthwaite, rounded down.
	freedom := (squareA + squareB) * (squareA + squareB) / (squareA*squareA/float64(a.N-1) + squareB*squareB/float64(b.N-1))
	d.Half = student(max(1, int(freedom))) * math.Sqrt(squareA+squareB)
	return d
}

// StandardError returns the standard error of the mean; 0 for one trial.
func (m Mean) StandardError() float64 {
	if m.N < 2 {
		return 0
	}
	return m.Half / student(m.N-1)
}

// student returns the 97.5th percentile of Student's t distribution with the given degrees of freedom. Up to 10
// degrees it uses a table with three decimals. Above, it uses the expansion of Cornish and Fisher, off by less than
// 0.001.
func student(freedom int) float64 {
	printed := []float64{0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228}
	if freedom < len(printed) {
		return printed[freedom]
	}
	const z = 1.959964
	v := float64(freedom)
	const z3, z5, z7 = z * z * z, z * z * z * z * z, z * z * z * z * z * z * z
	return z + (z3+z)/(4*v) + (5*z5+16*z3+3*z)/(96*v*v) + (3*z7+19*z5+17*z3-15*z)/(384*v*v*v)
}

// Next returns the interval in which the mean of as many new trials would lie with 95 % confidence.
func (m Mean) Next() (low, high float64) {
	half := float64(m.Half * math.Sqrt2)
	return m.Value - half, m.Value + half
}

// String returns the mean with up to four decimals, fewer for larger numbers, and the half width with two digits.
func (m Mean) String() string {
	if m.N == 0 {
		return "–"
	}
	decimals := 4 - int(math.Ceil(math.Log10(max(math.Abs(m.Value), 1))))
	if m.Value == math.Trunc(m.Value) && m.Half == 0 {
		decimals = 0
	}
	value := strconv.FormatFloat(m.Value, 'f', max(0, decimals), 64)
	if m.N < 2 && m.Half == 0 {
		return value
	}
	return fmt.Sprintf("%s ± %s", value, strconv.FormatFloat(m.Half, 'g', 2, 64))
}

// MarshalJSON writes the fields as an object. It leaves out infinities and NaN.
func (m Mean) MarshalJSON() ([]byte, error) {
	part := func(name string, x float64) string {
		if s := Digits(x); s != "" {
			return fmt.Sprintf(`%q:%s,`, name, s)
		}
		return ""
	}
	return []byte("{" + part("value", m.Value) + part("half_95", m.Half) + part("least", m.Least) + part("most", m.Most) + fmt.Sprintf(`"trials":%d}`, m.N)), nil
}

// Digits formats a number with six digits, and returns "" for infinities and NaN.
func Digits(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}
