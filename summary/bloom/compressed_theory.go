package bloom

import "math"

// Entropy is the binary entropy H(p) in bits, 0 <= p <= 1.
func Entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return (-p*math.Log(p) - (1-p)*math.Log1p(-p)) / math.Ln2
}
