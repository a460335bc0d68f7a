package statistics

import "math"

// Slope returns the slope of the line through the logarithms of points, by least squares: the exponent a of y =
// c·x^a. half is the half width of its 95 % interval by Student's t distribution, NaN with two points. Points with a
// coordinate of 0 or less have no logarithm and are left out. ok is false if fewer than two values of x are left.
func Slope(xs, ys []float64) (slope, half float64, ok bool) {
	var n, sumX, sumY float64
	each := func(do func(x, y float64)) {
		for i, x := range xs {
			if x > 0 && ys[i] > 0 && !math.IsInf(x, 0) && !math.IsInf(ys[i], 0) {
				do(math.Log(x), math.Log(ys[i]))
			}
		}
	}
	each(func(x, y float64) { n, sumX, sumY = n+1, sumX+x, sumY+y })
	var squares, products, residues float64
	each(func(x, y float64) {
		dx := x - sumX/n
		squares, products = squares+float64(dx*dx), products+float64(dx*(y-sumY/n))
	})
	const apart = 1e-12 // in place of 0: equal logarithms may differ from their mean in the last bits
	if n < 2 || squares < apart {
		return 0, 0, false
	}
	slope = products / squares
	if n < 3 {
		return slope, math.NaN(), true
	}
	each(func(x, y float64) {
		off := y - sumY/n - float64(slope*(x-sumX/n))
		residues += float64(off * off)
	})
	return slope, student(int(n)-2) * math.Sqrt(residues/(n-2)/squares), true
}
