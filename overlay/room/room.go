// Package room keeps little room to spare in slices that live for long, and of which there are many: one for each link
// or each origin. It costs copies: a slice that grows to n elements one by one copies some 8n of them, where append
// copies n to 4n.
package room

// Grow returns s with room for one more element. Without any it is copied to a slice with an eighth more room, and one.
func Grow[T any](s []T) []T {
	if n := len(s); n == cap(s) {
		return append(make([]T, 0, n+n/8+1), s...)
	}
	return s
}

// Shrink returns s, from which elements were removed, without most of its room: nil if no element is left, and a copy
// with room for as many again if less than a quarter of the room is used.
func Shrink[T any](s []T) []T {
	switch n := len(s); {
	case n == 0:
		return nil
	case n < cap(s)/4:
		return append(make([]T, 0, 2*n), s...)
	}
	return s
}
