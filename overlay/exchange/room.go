package exchange

// What is kept for each link or each origin is kept for long, and there is much of it. Such slices grow by little at a
// time, and give back what they no longer need.

// roomy is a slice with room for one more. It grows by an eighth.
func roomy[T any](s []T) []T {
	if n := len(s); n == cap(s) {
		return append(make([]T, 0, n+n/8+2), s...)
	}
	return s
}

// spared is a slice without most of its room, if more than half of it stands empty.
func spared[T any](s []T) []T {
	switch n := len(s); {
	case n == 0:
		return nil
	case cap(s) > 2*n+8:
		return append(make([]T, 0, n+n/8+2), s...)
	}
	return s
}
