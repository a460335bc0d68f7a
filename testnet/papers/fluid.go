package papers

// FluidLimit returns the fractions of buckets with at least 0, 1, 2, … up to depth fingerprints, in the limit of
// many buckets of unbounded size. load is the mean number of fingerprints a bucket, d the number of subtables
// (section 2.3 of the paper). The fraction at one more than a bucket's cells is the probability of an overflow. The
// state is that after many random removals and additions at this load (table 1).
//
// The family of differential equations, with s(i,j) the fraction of the buckets of subtable j that hold at least i:
//
//	ds(i,j)/dt = d (s(i-1,j)-s(i,j)) Π(l<j) s(i,l) Π(l>j) s(i-1,l)  -  i (s(i,j)-s(i+1,j)) / load
//
// It takes some tens of milliseconds.
func FluidLimit(d, depth int, load float64) []float64 {
	f := fluid{d: d, levels: depth + 4, load: load} // the fractions beyond depth+4 do not affect those up to depth
	f.integrate(f.start(load), 40*load)
	tails := make([]float64, depth+1)
	for i := range tails {
		for _, s := range f.s[i] {
			tails[i] += s / float64(d)
		}
	}
	return tails
}

type fluid struct {
	d, levels int
	load      float64
	s         [][]float64
}

// start returns the state in which all buckets have the load rounded down, and a fraction of them one more.
func (f *fluid) start(load float64) [][]float64 {
	s := make([][]float64, f.levels+2)
	for i := range s {
		s[i] = make([]float64, f.d)
		for j := range s[i] {
			s[i][j] = min(1, max(0, load-float64(i-1)))
		}
	}
	return s
}

// integrate moves the state s forward by a time, with the classical Runge–Kutta method.
func (f *fluid) integrate(s [][]float64, time float64) {
	steps := int(time*128) + 1
	h := time / float64(steps)
	f.s = s
	at := f.start(0)
	var slopes [4][][]float64
	for i := range slopes {
		slopes[i] = f.start(0)
	}
	for range steps {
		f.slope(slopes[0], s)
		for i, part := range []float64{h / 2, h / 2, h} {
			f.each(func(l, j int) { at[l][j] = s[l][j] + float64(part*slopes[i][l][j]) })
			f.slope(slopes[i+1], at)
		}
		f.each(func(l, j int) {
			s[l][j] += float64(h / 6 * (slopes[0][l][j] + float64(2*slopes[1][l][j]) + float64(2*slopes[2][l][j]) + slopes[3][l][j]))
		})
	}
}

// slope sets out to the derivative ds/dt at the state s, by the equations above FluidLimit.
func (f *fluid) slope(out, s [][]float64) {
	f.each(func(i, j int) {
		v := float64(f.d) * (s[i-1][j] - s[i][j])
		for l := range f.d {
			switch {
			case l < j:
				v *= s[i][l]
			case l > j:
				v *= s[i-1][l]
			}
		}
		out[i][j] = v - float64(i)*(s[i][j]-s[i+1][j])/f.load
	})
}

// each calls do for every level and subtable that changes. Level 0 is always 1, the level after the last always 0.
func (f *fluid) each(do func(level, subtable int)) {
	for i := 1; i <= f.levels; i++ {
		for j := range f.d {
			do(i, j)
		}
	}
}
